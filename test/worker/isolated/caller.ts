/** Calls an agent in its own process that starts programs and reports progress until it is killed. */

import { join } from 'node:path';
import * as z from 'zod/mini';
import { declareAgent } from '../../../lib/core/plan/agent.ts';
import { performedIn, ProcessPool } from '../../../lib/worker/isolated.ts';

const agent = declareAgent('alone', { input: z.any(), output: z.any(), effect: 'probed', lease: '20s' });
const program = { entry: join(import.meta.dirname, 'agent.ts'), execArgv: ['--import', 'tsx'] };
const pool = new ProcessPool(program, { isShared: true, now: Date.now });
const quiet = (): void => undefined;
const ctx = {
  executionId: 'e',
  step: 's',
  attempt: 1,
  idempotencyKey: 'e.s',
  timeLeftMs: () => 60_000,
  signal: new AbortController().signal as never,
  progress: () => process.stdout.write('progress\n'),
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
};
void performedIn(agent, () => pool).execute(ctx, { way: 'goes on' });
