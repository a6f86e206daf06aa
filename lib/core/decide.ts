/**
 * decide(plan, state, event) → decision: the one function that all roles call.
 *
 * Owns: which rule answers which event. Does not own: events and decisions (`decisions/`), effects
 * (`engine/commit.ts`), clock and random source (the event brings their values).
 *
 * S14 pure, total, deterministic, bounded: at most one write (a step and its execution in one transaction
 * count as one), then sends. S15 a decision takes effect once: the second time its version is outdated.
 */

import { stateAfterRetry } from './execution/after-retry.ts';
import { decideChildren } from './execution/on-child.ts';
import { deliver, heartbeat, processDied, report } from './execution/on-message.ts';
import { obey } from './operators/obey.ts';
import { enter } from './decisions/change.ts';
import { answerIncident } from './operators/incidents.ts';
import { answerCallback, closeCallback } from './questions/callback.ts';
import { deriveWaiting } from './questions/life.ts';
import { planInStatus } from './plan/on-failure.ts';
import type { Plan } from './plan/plan.ts';
import { type Decision, nothing } from './decisions/decision.ts';
import type { Event } from './decisions/events.ts';
import { NotLoaded } from './records/large-values.ts';
import type { Snapshot } from './records/snapshot.ts';
import { evaluate } from './evaluate.ts';
import { noticeRisk } from './supervision/notice-risk.ts';
import { bringForward } from './supervision/wake-time.ts';
import { decideLane, recordLaneEnd } from './waiting/lane.ts';

/**
 * If a rule needs a large value that is not loaded, the decision only asks for the value (V4).
 * @param storedPlan, stored as they were read
 * @returns the write, the messages to send after it, and what the caller does next
 */
export function decide(storedPlan: Plan, stored: Snapshot, event: Event): Decision {
  try {
    return decideLoaded(storedPlan, stored, event);
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return nothing({ kind: 'load', value: error.wanted });
  }
}

/**
 * The rules see the state as a retry leaves it: the retry is one write to the execution, and its steps'
 * records do not show it yet. Once the end is certain, the plan is only the on-failure steps. What any write
 * may need is added last: closing the question of a callback that ended, deriving `waiting` from open
 * questions, keeping an ended execution's place in a lane until it can no longer act, bringing the wake time
 * forward, recording a risk.
 */
function decideLoaded(storedPlan: Plan, stored: Snapshot, event: Event): Decision {
  const state = stateAfterRetry(storedPlan, stored);
  const plan = planInStatus(storedPlan, stored.execution);
  const decided = decideOn(plan, state, event);
  const asked = deriveWaiting(state, event, closeCallback(state, event, decided));
  const placed = recordLaneEnd(storedPlan, state, asked);
  return noticeRisk(plan, state, event.now, bringForward(storedPlan, state, event, placed));
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
