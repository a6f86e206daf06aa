/**
 * Measures how long work in progress takes to complete after an outage of the table.
 *
 * Owns: the outage, and the same work without one. Does not own: single faults (`../recover.ts`).
 *
 * The table is killed and returns after a minute: meanwhile agents cannot claim, report or renew leases,
 * messages return to their queues, and supervisors cannot read. Nothing is started during the outage.
 */

import { type Stage, setStage } from './stage.ts';

export interface Outage {
  /** Executions in progress when the outage began. */
  readonly executions: number;
  readonly outageMs: number;
  /** The time from the table's return until all executions had ended. */
  readonly drainedMs: number;
  /** The same executions without an outage: the time from the last start until all had ended. */
  readonly calmMs: number;
}

const EXECUTIONS = 2_000;
const OUTAGE_MS = 60_000;
const IN_FLIGHT = 64;
const WARM = 100;
/**
 * How long the only step of each execution works. Executions start faster than eight processes can do this,
 * so work is in progress when the table is killed.
 */
const WORK_MS = 100;
const SETTINGS = { batchSize: 1, processes: 8, schedules: true, capacity: false } as const;

export async function drainAfterOutage(say: (text: string) => void): Promise<Outage> {
  say(`An outage of the table: ${EXECUTIONS} executions, without it and with it …`);
  const calm = await withStage(async (stage) => untilEnded(await started(stage)));
  const struck = await withStage(async (stage) => {
    const left = await started(stage);
    say(`  the table is away for ${OUTAGE_MS / 1_000} s`);
    await stage.cloud.control.restartDynamo(OUTAGE_MS);
    return { executions: left.length, ms: await untilEnded(left) };
  });
  const { executions, ms: drainedMs } = struck;
  say(
    `  ${executions} were under way: all ended ${drainedMs} ms after it was back; ${calm} ms without an outage`,
  );
  return { executions, outageMs: OUTAGE_MS, drainedMs, calmMs: calm };
}

async function withStage<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result> {
  const stage = await setStage(SETTINGS);
  try {
    await Promise.all(await startMany(stage, WARM));
    await stage.quiet();
    return await work(stage);
  } finally {
    await stage.strike();
  }
}

/** @returns the ends of the executions that had not ended when the last one was started */
async function started(stage: Stage): Promise<Promise<number>[]> {
  const ends = await startMany(stage, EXECUTIONS);
  const over = new Set<Promise<number>>();
  // A failed execution is awaited, and reported, later.
  for (const end of ends) end.then(() => over.add(end)).catch(() => undefined);
  await new Promise((done) => setImmediate(done));
  return ends.filter((end) => !over.has(end));
}

async function startMany(stage: Stage, count: number): Promise<Promise<number>[]> {
  const ends: Promise<number>[] = [];
  let left = count;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = await stage.start('naps12', { ms: WORK_MS });
      ends.push(stage.ended(id));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return ends;
}

async function untilEnded(ends: readonly Promise<number>[]): Promise<number> {
  const beganAt = performance.now();
  await Promise.all(ends);
  return Math.round(performance.now() - beganAt);
}
