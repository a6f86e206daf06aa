/** P8: a service is down for ten minutes while thousands of executions need it. */

import { THRESHOLD } from '../../../lib/core/step/breaker.ts';
import { SENDS_PER_SWEEP } from '../../../lib/supervisor/admission.ts';
import { runCrowd } from './dead-service.ts';

const PROCESSES = 50;
/** `CROWD=10000 npm test -- …` runs as many as the numbers in docs/PROOF.md. */
const EXECUTIONS = Number(process.env['CROWD'] ?? 2_500);

it('a dependency dead for ten minutes is called by no more than its probes, and no execution fails by it', async () => {
  const startedAt = performance.now();
  const crowd = await runCrowd({
    executions: EXECUTIONS,
    // The rate decides how soon the breaker opens: a recovery of 3 s must outlast that.
    arrivalMs: 6 * EXECUTIONS,
    processes: PROCESSES,
    deadFromMs: 10_000,
    deadForMs: 600_000,
  });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`${JSON.stringify({ ...crowd, seconds })}\n`);
  expect(crowd.ends).toEqual({ succeeded: EXECUTIONS });
  // Calls until it opens, calls then under way or from processes that did not know yet, and the trials.
  const budget = THRESHOLD + PROCESSES + crowd.trials;
  expect(crowd.callsWhileDead).toBeLessThanOrEqual(budget);
  expect(crowd.trials).toBeLessThanOrEqual(12);
  // Failures before it opened are charged; each process had one call under way when the service died.
  expect(crowd.charged).toBeLessThanOrEqual(THRESHOLD + 2 * PROCESSES);
  // When it comes back, a crowd waits for its turn.
  expect(crowd.mostSendsInASweep).toBeLessThanOrEqual(SENDS_PER_SWEEP);
  expect(crowd.mostCallsInASecond).toBeLessThanOrEqual(5 * PROCESSES);
  expect(crowd.drainedAfterMs).toBeLessThan(900_000);
});
