/** The context of an attempt, for author code that a test calls directly. */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';

const quiet = (): void => undefined;
export const ctx: AttemptContext = {
  executionId: 'e',
  step: 's',
  attempt: 1,
  idempotencyKey: 'e.s',
  timeLeftMs: () => 1_000,
  signal: new AbortController().signal,
  progress: quiet,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};
