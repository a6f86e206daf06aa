/** Lines of the execution 'e1', as functions write them. */

import type { ExecutionView } from '../../../lib/api/answers.ts';
import type { Wanted } from '../../../lib/view/log-line.ts';

export const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
export const WANTED: Wanted = { executionId: 'e1', children: false, level: 'trace' };
export const entry = (afterMs: number, message: unknown, more: object = {}): string =>
  JSON.stringify({
    level: 'INFO',
    message,
    timestamp: new Date(AT + afterMs).toISOString(),
    service: 'steadfast',
    function_request_id: 'r1',
    role: 'agent',
    agent: 'charge-card',
    executionId: 'e1',
    correlation_id: 'e1',
    ...more,
  });

export const execution = (more: Partial<ExecutionView> = {}): ExecutionView => ({
  executionId: 'e1',
  workflow: 'order',
  status: 'running',
  startedAt: AT,
  plan: 'p1',
  deadlineAt: AT + 60_000,
  input: {},
  incidents: [],
  steps: [],
  ...more,
});

/** The messages that `--json` prints. */
export const messages = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => String((JSON.parse(line) as { entry: { message: string } }).entry.message));
