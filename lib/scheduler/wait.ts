/**
 * How the API waits for an execution's end on a caller's behalf.
 *
 * Owns: how soon it reads again, and that few callers wait at the same time: one more is answered at once, as
 * if its time were over. Does not own: the record of those that wait (`core/records/open-waits.ts`), how a
 * client asks on (`api/until-end.ts`).
 *
 * A wait costs a strongly consistent read and a conditional write when it begins, and a write when it ends.
 * An execution that has ended already costs none of them.
 */

import type { AbortSignalLike } from '../core/plan/agent.ts';
import type { Waits } from '../core/ports.ts';
import { DEFAULT_MOST_WAITS, type OpenWaits, withoutWait, withWait } from '../core/records/open-waits.ts';
import { isTerminal } from '../core/records/state.ts';
import { changeRecord } from '../engine/change-record.ts';
import { type Scheduler, show, type Shown } from './start.ts';

/** A fast execution is answered soon; each try at a slow one costs a read. */
const FIRST_LOOK_MS = 15;
const LAST_LOOK_MS = 1_000;
/** After its time the answer is still to be read and sent. */
const ANSWER_MS = 3_000;

/** As `show`, but waits up to `waitMs` for the end, unless too many do. */
export async function showAtEnd(scheduler: Scheduler, executionId: string, waitMs: number): Promise<Shown> {
  // Before the first read: what is announced after it is signalled.
  const end = scheduler.ports.ends?.of(executionId);
  try {
    const first = await show(scheduler, executionId);
    if (isTerminal(first.state.execution.status)) return first;
    const untilAt = scheduler.ports.clock.now() + waitMs;
    const leave = await enter(scheduler, untilAt + ANSWER_MS);
    if (leave === undefined) return first;
    try {
      await untilEnd(scheduler, executionId, untilAt, end?.signal);
      return await show(scheduler, executionId);
    } finally {
      await leave();
    }
  } finally {
    end?.release();
  }
}

async function untilEnd(
  { ports: { clock, store } }: Scheduler,
  executionId: string,
  untilAt: number,
  end: AbortSignalLike | undefined,
): Promise<void> {
  let signal = end;
  let lookMs = end === undefined ? FIRST_LOOK_MS : LAST_LOOK_MS;
  for (; clock.now() < untilAt; lookMs = Math.min(lookMs * 2, LAST_LOOK_MS)) {
    await clock.sleep(Math.min(lookMs, Math.max(0, untilAt - clock.now())), signal);
    // A signal ends one sleep, not all that follow.
    if (signal?.aborted === true) signal = undefined;
    const execution = await store.readExecution(executionId);
    if (execution === undefined || isTerminal(execution.status)) return;
  }
}

/** @returns what ends the wait; nothing where too many wait, or that cannot be known */
async function enter({ ports }: Scheduler, untilAt: number): Promise<(() => Promise<void>) | undefined> {
  const { waits, clock, random } = ports;
  if (waits === undefined) return async () => undefined;
  const { most = DEFAULT_MOST_WAITS } = waits;
  const id = random.id();
  const at = (): { now: number; writeId: string } => ({ now: clock.now(), writeId: random.id() });
  const begun = await changed(waits, (stored) => withWait(stored, { id, untilAt }, { ...at(), most }));
  if (begun === undefined) return undefined;
  return async () => {
    await changed(waits, (stored) => withoutWait(stored, id, at()), begun);
  };
}

/**
 * @param known the record as this caller has written it. @default it is read
 * @returns what was written; nothing where there was nothing to write
 */
async function changed(
  waits: Waits,
  change: (stored: OpenWaits | undefined) => OpenWaits | undefined,
  known?: OpenWaits,
): Promise<OpenWaits | undefined> {
  try {
    return (await changeRecord(waits, [], change, known)).written;
  } catch {
    // Unread, it may be full: the caller is answered at once. Unwritten, a wait
    // that is over ends by its own time.
    return undefined;
  }
}
