/**
 * decide(plan, state, event) → decision: the one function that all roles call.
 *
 * Owns: which rule answers which event. Does not own: events and decisions (`decisions/`), effects
 * (`engine/commit.ts`), clock and random source (they come with the event).
 *
 * V4 if a rule needs a large value that is not loaded, the decision only asks for the value.
 *
 * S14 pure, total, deterministic, bounded: at most one write (a step and its execution in one transaction
 * count as one), then sends. S15 a decision takes effect once: the second time its version is outdated.
 */

import { effectiveState } from './execution/effective-state.ts';
import { decideLane } from './execution/lane-rules.ts';
import { decideChildren } from './execution/on-child.ts';
import { deliver } from './execution/on-message.ts';
import { heartbeat, processDied, report } from './execution/on-report.ts';
import { obey } from './operators/obey.ts';
import { enter } from './operators/enter.ts';
import { answerIncident } from './operators/resolution.ts';
import { closeCallback } from './questions/callback.ts';
import { planDuring } from './plan/on-failure.ts';
import type { Plan } from './plan/plan.ts';
import { type Decision, nothing } from './decisions/decision.ts';
import type { Event } from './decisions/events.ts';
import { NotLoaded } from './records/large-values.ts';
import type { Snapshot } from './records/snapshot.ts';
import { evaluate } from './evaluate.ts';
import { noticeRisk } from './supervision/notice-risk.ts';
import { bringForward } from './supervision/wake-time.ts';
import { answerCallback } from './waiting/callback.ts';
import { endingInLane } from './waiting/lane.ts';

/**
 * The rules see the effective state: one write ends a pause, or begins a retry, for all steps, and the steps'
 * own records do not show it yet. Once the end is certain, the rules see only the on-failure steps of the
 * plan. Then the write is completed: it closes the question of a callback that has ended, records until when
 * an ended execution keeps its place in a lane, brings the wake time forward, and records whether the
 * execution is at risk.
 * @param whole the plan as it was read
 * @param stored the execution as it was read
 * @returns the write, the messages to send after it, and what the caller does next
 */
export function decide(whole: Plan, stored: Snapshot, event: Event): Decision {
  try {
    return decideLoaded(whole, stored, event);
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return nothing({ kind: 'load', value: error.wanted });
  }
}

function decideLoaded(whole: Plan, stored: Snapshot, event: Event): Decision {
  const state = effectiveState(whole, stored);
  const plan = planDuring(whole, stored.execution);
  const decided = endingInLane(whole, state, closeCallback(state, event, decideOn(plan, state, event)));
  return noticeRisk(plan, state, event.now, bringForward(whole, state, event, decided));
}

function decideOn(plan: Plan, state: Snapshot, event: Event): Decision {
  switch (event.type) {
    case 'deliver':
      return deliver(plan, state, event);
    case 'heartbeat':
      return heartbeat(plan, state, event);
    case 'report':
      return report(plan, state, event);
    case 'process-died':
      return processDied(plan, state, event);
    case 'evaluate':
      return evaluate(plan, state, event);
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'retry':
      return obey(plan, state, event) ?? nothing();
    case 'resolve':
      return answerIncident(plan, state, event);
    case 'callback':
      return answerCallback(plan, state, event);
    case 'enter':
      return enter(state.execution, event);
    case 'lane-seen':
    case 'lane-left':
      return decideLane(plan, state, event);
    default:
      return decideChildren(plan, state, event);
  }
}
