/**
 * Waits for an execution's end on behalf of a caller of the API.
 *
 * Owns: how soon it reads again, and the limit of callers that wait at the same time: one more is answered at
 * once, as if its time were over. Does not own: the record of waiting callers (`core/records/open-waits.ts`),
 * how a client goes on asking (`api/until-end.ts`).
 *
 * A wait costs a strongly consistent read and a conditional write when it begins, and a write when it ends;
 * none of them if the execution has already ended. Refused calls are counted in one write, once a second or
 * when they have grown by a quarter.
 */

import type { AwaitedEnd, Waits } from '../core/ports.ts';
import {
  type WaitsNow,
  waitsAt,
  DEFAULT_MOST_WAITS,
  type OpenWaits,
  withoutWait,
  withRefused,
  withWait,
} from '../core/records/open-waits.ts';
import { isTerminal } from '../core/records/state.ts';
import { changeRecord } from '../engine/change-record.ts';
import { type Scheduler, show, type Shown } from './start.ts';

/** A fast execution is answered soon; each try at a slow one costs a read. */
const FIRST_LOOK_MS = 15;
const LAST_LOOK_MS = 1_000;
/** Reserved for reading and sending the answer. */
const ANSWER_MS = 3_000;

/** Shows an execution at its end, or after `waitMs`; at once if too many wait. */
export async function showAtEnd(scheduler: Scheduler, executionId: string, waitMs: number): Promise<Shown> {
  // Listens before the first read, so that no end announced after that read is missed.
  const end = scheduler.ports.ends?.of(executionId);
  try {
    const first = await show(scheduler, executionId);
    if (isTerminal(first.state.execution.status)) return first;
    const untilAt = scheduler.ports.clock.now() + waitMs;
    const leave = await enter(scheduler, untilAt + ANSWER_MS);
    if (leave === undefined) return first;
    try {
      await waitForEnd(scheduler, executionId, untilAt, end, first.plan.announceEnds !== false);
      return await show(scheduler, executionId);
    } finally {
      await leave();
    }
  } finally {
    end?.release();
  }
}

async function waitForEnd(
  { ports: { clock, store } }: Scheduler,
  executionId: string,
  untilAt: number,
  end: AwaitedEnd | undefined,
  isAnnounced: boolean,
): Promise<void> {
  // An end that is not announced is only found by reading.
  let signal = isAnnounced ? end?.signal : undefined;
  let lookMs = signal === undefined ? FIRST_LOOK_MS : LAST_LOOK_MS;
  for (; clock.now() < untilAt; lookMs = Math.min(lookMs * 2, LAST_LOOK_MS)) {
    await clock.sleep(Math.min(lookMs, Math.max(0, untilAt - clock.now())), signal);
    // A signal ends one sleep, not all later ones.
    if (signal?.aborted === true) signal = undefined;
    await end?.turn();
    const execution = await store.readExecution(executionId);
    if (execution === undefined || isTerminal(execution.status)) return;
  }
}

/** @returns a function that ends the wait; undefined if too many wait, or if that cannot be known */
async function enter({ ports }: Scheduler, untilAt: number): Promise<(() => Promise<void>) | undefined> {
  const { waits, waitsHere, clock, random } = ports;
  const id = random.id();
  if (waits === undefined) {
    waitsHere?.set(id, clock.now());
    return async () => void waitsHere?.delete(id);
  }
  const { most = DEFAULT_MOST_WAITS } = waits;
  const at = (): { now: number; writeId: string } => ({ now: clock.now(), writeId: random.id() });
  const entered = await changed(waits, (stored) => withWait(stored, { id, untilAt }, { ...at(), most }));
  const begun = entered?.written;
  if (begun !== undefined)
    return async () => {
      await changed(waits, (stored) => withoutWait(stored, id, at()), begun);
    };
  if (entered !== undefined) await refused(waits, at, entered.before);
  return undefined;
}

/** Refused calls that this process has not written yet, and when it wrote last. */
const unwritten = new WeakMap<Waits, { calls: number; writtenAt: number }>();
/** A single refused call is not worth a write. */
const FEWEST_REFUSED = 2;
const REFUSED_EVERY_MS = 1_000;

async function refused(
  waits: Waits,
  at: () => { now: number; writeId: string },
  known: OpenWaits | undefined,
): Promise<void> {
  const own = unwritten.get(waits) ?? { calls: 0, writtenAt: 0 };
  unwritten.set(waits, own);
  own.calls += 1;
  const { now } = at();
  const isMuch = own.calls * 4 >= (known?.refused?.calls ?? 0);
  if (own.calls < FEWEST_REFUSED || (!isMuch && now - own.writtenAt < REFUSED_EVERY_MS)) return;
  const { calls } = own;
  Object.assign(own, { calls: 0, writtenAt: now });
  const noted = await changed(waits, (stored) => withRefused(stored, calls, at()), known);
  if (noted === undefined) own.calls += calls;
}

/** How many callers wait for an end now; undefined if there are none, or if that cannot be read. */
export async function waitsNow({ ports }: Scheduler): Promise<WaitsNow | undefined> {
  const { waits, waitsHere, clock } = ports;
  if (waits !== undefined) return waitsAt(await waits.read().catch(() => undefined), clock.now());
  const begun = [...(waitsHere?.values() ?? [])];
  return begun.length === 0 ? undefined : { count: begun.length, since: Math.min(...begun) };
}

/**
 * @param known the record as this caller wrote it. @default it is read
 * @returns the record before and after; undefined if reading or writing failed
 */
async function changed(
  waits: Waits,
  change: (stored: OpenWaits | undefined) => OpenWaits | undefined,
  known?: OpenWaits,
): Promise<Awaited<ReturnType<typeof changeRecord<OpenWaits, []>>> | undefined> {
  try {
    return await changeRecord(waits, [], change, known);
  } catch {
    // If the record cannot be read, it may be full: the caller is answered at once. If it cannot be written,
    // the entry of a finished wait expires by itself.
    return undefined;
  }
}
