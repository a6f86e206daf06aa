/**
 * Decides the next act for an execution: the first of its rules with a write to make, else messages.
 *
 * Owns: that order. Does not own: the rules of a status (`rules.ts`), which messages are sent
 * (`supervision/dispatch.ts`).
 *
 * An agent after its report, the scheduler after a start or a command, and a supervisor evaluate in the same
 * way. Only a supervisor ends leases, repeats messages that no agent took, and sets the wake time. S8 a join
 * starts once, because the claim decides, not the message.
 */

import { type Decision, evaluateNext, joined, nothing } from './decisions/decision.ts';
import type { Evaluation } from './decisions/events.ts';
import type { Plan } from './plan/plan.ts';
import type { Snapshot } from './records/snapshot.ts';
import { RULES } from './rules.ts';
import type { Rule } from './step/rule.ts';
import { send, supervise } from './supervision/dispatch.ts';

/**
 * Returns the first rule that has a write to make now, and its decision.
 * @param plan as it is in the execution's status
 */
export function ruleThatApplies(
  plan: Plan,
  state: Snapshot,
  event: Evaluation,
): { readonly rule: Rule; readonly decision: Decision } | undefined {
  for (const rule of RULES[state.execution.status]) {
    const decision = rule.apply(plan, state, event);
    if (decision !== undefined) return { rule, decision };
  }
  return undefined;
}

/**
 * The next write that is due, or the messages to send. Steps that earlier writes have affected stay affected.
 * @param plan as it is in the execution's status
 */
export function evaluate(plan: Plan, state: Snapshot, event: Evaluation): Decision {
  const decision = nextAct(plan, state, event);
  const { next } = decision;
  if (next.kind !== 'evaluate') return decision;
  return { ...decision, next: { ...next, affected: joined(event.affected, next.affected) } };
}

function nextAct(plan: Plan, state: Snapshot, event: Evaluation): Decision {
  const found = ruleThatApplies(plan, state, event);
  if (found === undefined)
    return event.by === 'supervisor'
      ? supervise(plan, state, event, RULES[state.execution.status])
      : send(plan, state, event);
  // On a state that is not fresh, only sends and the end are safe.
  const allowed = event.fresh || found.rule.unread === true;
  return allowed ? found.decision : nothing(evaluateNext());
}
