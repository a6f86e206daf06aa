/**
 * Calls a supervisor if a write makes work due before the next tick, and no supervisor is at work.
 *
 * Owns: when a supervisor is called, and which of many processes calls it. Does not own: how long it stays
 * (`supervisor/stay.ts`), which writes need one (`core/supervision/presence.ts`).
 *
 * L2 a dead agent is noticed in time even in a quiet system. The presence record shows until when a
 * supervisor is at work; a process of a busy system reads it once a minute and makes no call. If many
 * processes find no supervisor at once, only the one whose conditional write of the record succeeds calls
 * (S15). If the call is lost, the next tick finds the work.
 */

import { isPromised, needsPresence, presenceAfter } from '../core/supervision/presence.ts';
import type { Ports, WakeUps } from '../core/ports.ts';
import { errorName } from '../core/values/errors.ts';

/**
 * A called supervisor starts within this time, cold start included, and writes its presence. If it does not,
 * the next process that needs one calls again.
 */
export const CALL_MS = 5_000;

/**
 * Calls a supervisor after a write, beside its sends, if one is needed. Never rejects: the write has taken
 * place, and after a lost call the next tick finds the work.
 * @param wakeAt the wake time that was written
 * @param beforeAt the wake time before the write; absent for a new record
 */
export async function callSupervisor(
  ports: Ports,
  wakeAt: number | undefined,
  beforeAt?: number,
): Promise<void> {
  const { wakeUps, clock } = ports;
  if (wakeUps === undefined) return;
  const now = clock.now();
  if (!needsPresence(wakeAt, beforeAt, now) || isPromised(wakeUps.known.untilAt, now)) return;
  const { known } = wakeUps;
  // Several messages of one process share one call.
  known.asking ??= callUnlessPresent(ports, wakeUps).finally(() => delete known.asking);
  await known.asking;
}

async function callUnlessPresent({ clock, random, log }: Ports, wakeUps: WakeUps): Promise<void> {
  const { known } = wakeUps;
  try {
    const stored = await wakeUps.read();
    const now = clock.now();
    if (stored !== undefined && isPromised(stored.untilAt, now)) {
      known.untilAt = stored.untilAt;
      return;
    }
    const wanted = presenceAfter(stored ?? { version: 0 }, random.id(), now + CALL_MS);
    // After a conflict another process has called, or a supervisor is at work: in both cases until this time.
    known.untilAt = wanted.untilAt;
    if ((await wakeUps.write(wanted)) === 'conflict') return;
    await wakeUps.call(wanted);
    log.note({ what: 'supervisor-called' });
  } catch (error) {
    log.note({ what: 'wake-up-failed', detail: errorName(error) });
  }
}

/** The ports for a supervisor's own evaluations, which need not call a supervisor. */
export const withoutCalls = (ports: Ports): Ports =>
  // Not by spread: the ports may be getters, or methods of a class.
  ports.wakeUps === undefined ? ports : (Object.create(ports, { wakeUps: { value: undefined } }) as Ports);
