/**
 * A message has come to an agent: whether its step is claimed now, waits, is parked, or is past it.
 *
 * Owns: the answer to a `deliver`. Does not own: what is to be done at all (`step/ready.ts`), the record of a claim
 * (`step/claim.ts`).
 *
 * S2 only the work that the message is about is claimed, on the version that was read. S12 what was parked has its watch far
 * away: who takes it up, or parks it anew, draws the watch near in the same transaction; so does a claim
 * whose lease ends with its process, before the watch need come.
 */

import { graphOf, type Plan } from '../plan/plan.ts';
import { executionAfter, noLater, type Stamp } from '../records/change.ts';
import { type Decision, nothing, STOP } from '../records/decision.ts';
import type { EventOf, Hold } from '../records/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isHeld } from '../records/state.ts';
import { heldUntil } from '../step/breaker.ts';
import { claimed } from '../step/claim.ts';
import { isOpenToLateMessages, parkedBy, parkedStep } from '../step/defer.ts';
import { horizonMs, leaseEndsAt, shortestMs } from '../step/lease.ts';
import { openWork, type Work } from '../step/ready.ts';

/** A message earlier than this waits in the agent; an earlier one is dropped, and the watch brings another. */
const EARLY_MS = 5_000;
/** An attempt that could not even report is not worth starting. */
const MIN_REMAINING_MS = 2_000;

export function deliver(plan: Plan, state: Snapshot, event: EventOf<'deliver'>): Decision {
  const { message } = event;
  const record = Object.hasOwn(state.steps, message.step) ? state.steps[message.step] : undefined;
  const about = { executionId: state.execution.id, step: message.step, attempt: message.attempt };
  if (!graphOf(plan).step.has(message.step))
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'no such step' }]);
  if (message.seq > (record?.version ?? 0)) {
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'from after a restore' }]);
  }
  const work = openWork(plan, state).find(
    (piece) =>
      piece.step.agent === event.agent &&
      piece.step.name === message.step &&
      piece.mode === message.mode &&
      piece.attempt === message.attempt,
  );
  if (work === undefined) {
    if (isHeld(record)) return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'held' }]);
    // The step is past this message. Its sender may have died before it sent what comes next: look.
    return nothing({ kind: 'look', fresh: false, concern: [message.step] });
  }
  const isLate = isOpenToLateMessages(work) && work.dueAt > event.now;
  if (work.dueAt > event.now && !isLate) {
    if (work.dueAt - event.now <= EARLY_MS) return nothing({ kind: 'wait', untilAt: work.dueAt });
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'early' }]);
  }
  if (event.hardEndAt - event.now < MIN_REMAINING_MS) return nothing({ kind: 'give-back' });
  if (event.hold !== undefined) return parkDelivered(state, work, event.hold, event);
  const step = claimed(work, record, state.execution, event.token, event.hardEndAt, event);
  const { execution } = state;
  // What was parked as unclaimed has its watch far away, so a claim before its time draws it near; so does a lease that ends
  // with its process, sooner than any that the watch allows for. How far away others have put that, a claim cannot tell by what
  // it has read: of a long execution in part, and of any before other steps were finished. Never farther than its own step's H.
  const leaseEndAt = leaseEndsAt(step.leaseUntil ?? event.hardEndAt);
  const isCutShort = leaseEndAt < event.now + shortestMs(work.step);
  const watchAt = noLater(execution, Math.min(event.now + horizonMs(plan, state), leaseEndAt));
  return {
    write: {
      executionId: execution.id,
      step,
      ...(isLate || isCutShort ? { execution: executionAfter(execution, 'watch', event, { watchAt }) } : {}),
    },
    sends: [],
    next: { kind: 'perform', step, priorHardEndAt: record?.hardEndAt ?? 0 },
    notes: [{ what: 'claimed', ...about, detail: message.mode, ms: event.now - work.dueAt }],
  };
}

/** The message is answered: a supervisor sends another one when the service may be tried again. */
function parkDelivered(state: Snapshot, work: Work, hold: Hold, event: Stamp): Decision {
  const { step, attempt } = work;
  const retryAt = heldUntil(hold, event.now, event.random);
  const record = parkedStep(work, state, parkedBy(work, 'breaker', event.now, hold), retryAt, true, event);
  const about = { executionId: state.execution.id, step: step.name, attempt, agent: step.agent };
  // What was parked as unclaimed has its watch far away, maybe behind this time.
  const { execution } = state;
  const isUnwatched = execution.watchAt !== undefined && execution.watchAt > retryAt;
  const nearer = isUnwatched ? executionAfter(execution, 'watch', event, { watchAt: retryAt }) : undefined;
  return {
    write: {
      executionId: execution.id,
      step: record,
      ...(nearer === undefined ? {} : { execution: nearer }),
    },
    sends: [],
    next: STOP,
    notes: [{ what: 'parked', ...about, detail: 'breaker', ms: retryAt - event.now }],
  };
}
