/**
 * A claim needs more than the execution: no pause of its own kind, a slot of its agent's rate, and a
 * breaker that lets it through.
 *
 * Owns: their order, what is decided without one of them, and the claim's write, whose answer may be lost.
 * Does not own: the slots (`process-rate.ts`), the breaker (`breaker.ts`), the claim (`message.ts`).
 *
 * They are read only if the step would be claimed, so an outdated message uses up neither slot nor trial.
 * The slot comes first: a trial that then had to wait would keep the breaker from all others.
 */

import { decide } from '../core/decide.ts';
import { type Decision, IDLE, nothing } from '../core/decisions/decision.ts';
import type { EventOf } from '../core/decisions/events.ts';
import type { Message } from '../core/decisions/message.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import { CLAIM_READ_HOLDS_MS, CLAIM_WRITE_MS } from '../core/records/pauses.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Execution } from '../core/records/state.ts';
import { defined } from '../core/values/defined.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { isStillThere } from '../engine/still-there.ts';
import type { Worker } from './author-code.ts';
import { STORE_RETRY_MS } from './reporting.ts';

/** A lease may be this much shorter. */
const SOON_MS = 20;

/** What one message has obtained so far; it keeps this if its claim loses a race. */
export interface Pass {
  readonly trial?: string;
  /** The time until which the slot of the rate is valid. */
  readonly slotUntil?: number;
}

/** Decides about the message. */
export async function decideDelivery(
  ports: Ports,
  { agent, breaker, rate, deferredBy }: Worker,
  plan: Plan,
  state: Snapshot,
  delivered: Pick<EventOf<'deliver'>, 'message' | 'token' | 'processDeadlineAt' | 'readAt' | 'isKept'>,
  pass: Pass,
): Promise<{ readonly decision: Decision; readonly pass: Pass }> {
  const { message } = delivered;
  const delivery: EventOf<'deliver'> = {
    type: 'deliver',
    agent: agent.spec.name,
    ...delivered,
    ...decisionInputsOf(ports),
  };
  const { decision, state: known } = await decideWith(ports, plan, state, delivery);
  // A kept message that has its slot and its trial is not asked again whether there is time for it.
  const { isKept: _judged, ...again } = delivery;
  const later = (more: Pick<EventOf<'deliver'>, 'notBefore'> = {}): Decision =>
    decide(plan, known, { ...again, ...decisionInputsOf(ports), ...more });
  if (decision.next.kind !== 'perform') return { decision, pass };
  const notBefore = await deferredBy?.(ports, state.execution);
  if (notBefore !== undefined) return { decision: later({ notBefore }), pass };
  let { trial, slotUntil } = pass;
  let giveBack: (() => void) | undefined;
  if (rate !== undefined && (slotUntil === undefined || slotUntil < ports.clock.now())) {
    const hasTurn = state.steps[message.step]?.deferred?.why === 'rate';
    const slot = await rate.slot(ports, hasTurn, state.execution.fairGroup);
    if (slot === 'unread') return { decision: unread(message, 'rate'), pass };
    // If the process was frozen meanwhile, its turn may be over.
    if ('turnAt' in slot)
      return { decision: later(afterTurn(Math.max(slot.turnAt, ports.clock.now()))), pass };
    slotUntil = slot.untilAt;
    ({ giveBack } = slot);
  }
  if (trial === undefined && breaker !== undefined) {
    const passed = await breaker.pass(ports, agent.spec.timeoutMs);
    if (passed === 'unread') return { decision: unread(message, 'pause'), pass };
    if (passed.notBefore !== undefined) {
      giveBack?.();
      return { decision: later({ notBefore: passed.notBefore }), pass: defined({ trial }) };
    }
    trial = passed.trial;
  }
  // A lease counts from just before its write, not from before a wait. Right after the decision it still
  // counts.
  const now = ports.clock.now();
  // Its turn is now, so it asks again: using an old slot would make one call too many in this second.
  if (slotUntil !== undefined && slotUntil < now && trial === undefined)
    return { decision: later(afterTurn(now)), pass: {} };
  const isSoon = now - delivery.now < SOON_MS;
  return { decision: isSoon ? decision : later(), pass: defined({ trial, slotUntil }) };
}

const afterTurn = (at: number): Pick<EventOf<'deliver'>, 'notBefore'> => ({ notBefore: { why: 'rate', at } });

/**
 * Decides about a message whose agent's pause or rate cannot be read. It is acknowledged, because after five
 * receipts it would be a dead letter; the wake time sends another, which costs no attempt (S9). The
 * execution's deadline bounds this, and for an undo the day for which it may be deferred.
 */
const unread = ({ execution, step, attempt }: Message, what: 'pause' | 'rate'): Decision =>
  nothing(IDLE, {
    what: 'message-dropped',
    executionId: execution,
    step,
    attempt,
    detail:
      what === 'pause' ? 'whether its agent is paused cannot be read' : "its agent's rate cannot be read",
  });

/**
 * Writes a claim. A rejected write may have taken place after all: the next read shows it. A first claim
 * finds no record in its way even if the execution was erased meanwhile. This is checked before the write, so
 * that no record comes back, and after it, so that nothing acts.
 *
 * F1 A claim that rests on an old read is decided again, and a claim that was written late is read again: the
 * execution may have been paused since.
 * @param readAt when `before` was read
 * @param agoMs how long ago that was: setting the clock meanwhile does not change it
 */
export async function commitClaim(
  ports: Ports,
  decision: Decision,
  before: Execution,
  readAt: number,
  agoMs: () => number,
): Promise<'written' | 'conflict' | 'unsure'> {
  const { next } = decision;
  const isClaim = next.kind === 'perform';
  const begunMs = agoMs();
  if (isClaim && !isWithin(begunMs, CLAIM_READ_HOLDS_MS)) return 'conflict';
  const isGone = async (): Promise<boolean> =>
    isClaim && next.step.version === 1 && !(await isStillThere(ports, before, readAt));
  try {
    if (await isGone()) return 'conflict';
    const result = await commit(ports, decision, before);
    if (result === 'conflict' || (await isGone())) return 'conflict';
    return isClaim && !isWithin(agoMs() - begunMs, CLAIM_WRITE_MS) ? 'unsure' : 'written';
  } catch (error) {
    if (!isClaim) throw error;
    await ports.clock.sleep(STORE_RETRY_MS);
    return 'unsure';
  }
}

/** If the time runs back by more than this, the clock was set. */
const BACK_MS = 1_000;

const isWithin = (ms: number, mostMs: number): boolean => ms > -BACK_MS && ms <= mostMs;
