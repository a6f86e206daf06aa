/**
 * All processes are killed (-9) during a bulk retry: each execution is retried exactly once, even if it fails
 * again. `npm run bench:bulk` does the same with 10,000.
 */

import { retryInBulk } from '../../bench/parts/bulk-run.ts';

/** Every tenth of these is declined for ever. */
const EXECUTIONS = 60;

it('a bulk retry survives kill -9 of every process, and retries each once (S15)', async () => {
  const run = await retryInBulk({ executions: EXECUTIONS, kills: 2, killEveryMs: 3_000 });
  expect(run.killed).toBeGreaterThan(2);
  expect(run.bulk).toMatchObject({
    status: 'done',
    count: EXECUTIONS,
    progress: { acted: EXECUTIONS, applied: EXECUTIONS, refused: [] },
  });
  expect(run.ends).toEqual({ '1 × succeeded': (EXECUTIONS * 9) / 10, '1 × failed': EXECUTIONS / 10 });
});
