/**
 * What a claim needs besides the execution: no pause of its own kind, a slot of its agent's rate, and a
 * breaker that lets it through.
 *
 * Owns: their order, what is decided without one of them, and the claim's write, whose answer may be lost.
 * Does not own: the slots (`process-rate.ts`), the breaker (`breaker.ts`), the claim (`message.ts`).
 *
 * All are read only if the step would be claimed, so an outdated message uses up neither slot nor trial.
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
import { given } from '../core/values/given.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { isStillThere } from '../engine/still-there.ts';
import type { Worker } from './author-code.ts';
import { STORE_RETRY_MS } from './reporting.ts';

/** How much shorter a lease may be. */
const SOON_MS = 20;

/** What one message has got so far; it is kept if its claim loses a race. */
export interface Pass {
  readonly trial?: string;
  /** The slot of the rate counts until then. */
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
  // Whether there was time for a kept message is not asked again once it has its slot and its trial.
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
    // A process that was frozen meanwhile may have a turn that is over.
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
      return { decision: later({ notBefore: passed.notBefore }), pass: given({ trial }) };
    }
    trial = passed.trial;
  }
  // A lease counts from before its write, not from before a wait: what has just been decided still holds.
  const now = ports.clock.now();
  // Its turn is now, and it asks again: a slot that is used late would be one too many in its second.
  if (slotUntil !== undefined && slotUntil < now && trial === undefined)
    return { decision: later(afterTurn(now)), pass: {} };
  const isSoon = now - delivery.now < SOON_MS;
  return { decision: isSoon ? decision : later(), pass: given({ trial, slotUntil }) };
}

const afterTurn = (at: number): Pick<EventOf<'deliver'>, 'notBefore'> => ({ notBefore: { why: 'rate', at } });

/**
 * What becomes of a message whose agent's pause or rate cannot be read. It is answered, for one that was
 * received five times would be a dead letter: the wake time sends another, at no attempt's cost (S9). An
 * execution's deadline bounds that, and of an undo the day that it may be deferred for.
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
 * A rejected write may have taken place: the next read shows it. A first claim, which finds no record in its
 * way, is none of an execution that was erased meanwhile: before the write, so that no record of it comes
 * back, and after it, so that nothing of it acts.
 *
 * F1 a claim that rests on an old read is decided again, and one that was written late is read again: the
 * execution may be paused since.
 * @param readAt when `before` was read
 * @param agoMs how long ago that is: a clock that is set right meanwhile changes it not
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

/** A time that runs back by more is that of a clock which was set. */
const BACK_MS = 1_000;

const isWithin = (ms: number, mostMs: number): boolean => ms > -BACK_MS && ms <= mostMs;
