/**
 * With many more messages than an agent's processes can handle, no message that still waits in the queue
 * counts as lost.
 */

import { FREE_SENDS, FULL_QUEUE } from '../../../lib/supervisor/admission.ts';
import { SWEEP_EVERY_MS } from '../../../lib/supervisor/sweep.ts';
import { runCrowd } from './dead-service.ts';

const PROCESSES = 10;
/** `CROWD=8000 npm test -- …` runs as many as docs/PROOF.md says. */
const EXECUTIONS = Number(process.env['CROWD'] ?? 4_000);
/** The time to work off all messages, at 200 ms each. */
const WORKED_OFF_MS = (EXECUTIONS / PROCESSES) * 200;

it('few second copies of waiting messages are put into a long queue', async () => {
  const crowd = await runCrowd({
    executions: EXECUTIONS,
    arrivalMs: 10_000,
    processes: PROCESSES,
    deadFromMs: 0,
    deadForMs: 0,
  });
  expect(crowd.ends).toEqual({ succeeded: EXECUTIONS });
  // Nearly all wait longer than a pickup time; every sweep sends a few without asking, and in the end the
  // queue is no longer full for long.
  const few = FREE_SENDS * Math.ceil(WORKED_OFF_MS / SWEEP_EVERY_MS);
  expect(crowd.dispatched).toBeLessThanOrEqual(few + FULL_QUEUE / 3);
  expect(crowd.longestQueue).toBeLessThanOrEqual(EXECUTIONS);
});
