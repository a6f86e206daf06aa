/**
 * Runs one execution at a time in an otherwise idle system: its agent is killed, and no supervisor runs
 * unless it is called.
 *
 * Owns: several deployments in parallel, each idle before each start, and spreading the starts over the
 * minute between two ticks. Does not own: striking and following an execution (`../recover.ts`).
 *
 * Nothing is scaled: ticks come once a minute, and a supervisor that stays has its whole minute. Most of the
 * time goes into waiting until all supervisors have exited. So several deployments run at once; they share
 * only the machine.
 */

import { setStage, type Stage } from './stage.ts';

const SIDE_BY_SIDE = 6;
/** The longest random pause before a start, so that starts fall anywhere in the minute between two ticks. */
const SPREAD_MS = 10_000;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** @param strikeOne begins one execution, kills it at its work, and follows it to its end */
export async function inQuiet<Found>(
  n: number,
  warmUp: (stage: Stage) => Promise<unknown>,
  strikeOne: (stage: Stage) => Promise<Found>,
  say: (text: string) => void,
): Promise<Found[]> {
  const found: Found[] = [];
  let begun = 0;
  const lane = async (stage: Stage): Promise<void> => {
    await warmUp(stage);
    let struck = 0;
    while (begun < n) {
      begun += 1;
      await stage.quiet(struck);
      await pause(Math.random() * SPREAD_MS);
      // A tick may have just arrived; a supervisor that stayed for another execution must be gone.
      await stage.quiet(struck);
      struck += 1;
      found.push(await strikeOne(stage));
      if (found.length % 10 === 0) say(`  ${found.length} of ${n}`);
    }
  };
  const stages: Stage[] = [];
  try {
    for (let at = 0; at < Math.min(SIDE_BY_SIDE, n); at += 1)
      stages.push(await setStage({ batchSize: 1, processes: 3, schedules: true, capacity: false }));
    await Promise.all(stages.map(lane));
  } finally {
    for (const stage of stages) await stage.strike();
  }
  return found;
}
