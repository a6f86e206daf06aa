/**
 * An answer has come: of a person to an incident, or of the external party to a callback.
 *
 * Owns: that an answer which is not possible now changes nothing. Does not own: which answers are possible
 * (`operators/choices.ts`, `waiting/callback.ts`), what they write (`operators/resolution.ts`, `waiting/callback.ts`).
 */

import { resolutionProblem } from '../operators/choices.ts';
import { resolve } from '../operators/resolution.ts';
import type { Plan } from '../plan/plan.ts';
import { type Decision, nothing } from '../records/decision.ts';
import type { EventOf } from '../records/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isTerminal } from '../records/state.ts';
import { horizonMs } from '../step/lease.ts';
import { answerCallback, callbackProblem } from '../waiting/callback.ts';

/** As with a person's answer: the caller asks `callbackProblem` for the reason. */
export function callback(plan: Plan, state: Snapshot, event: EventOf<'callback'>): Decision {
  if (callbackProblem(plan, state, event.step) !== undefined) return nothing();
  const inputs = { ...event, horizonMs: horizonMs(plan, state) };
  return answerCallback(plan, state, event.step, event.answer, inputs);
}

/** An answer that is not possible now changes nothing; the caller asks `resolutionProblem` for the reason. */
export function answer(plan: Plan, state: Snapshot, event: EventOf<'resolve'>): Decision {
  const incident = state.incidents?.[event.incident];
  if (incident === undefined || isTerminal(state.execution.status)) return nothing();
  if (resolutionProblem(plan, state, incident, event.answer, event.now) !== undefined) return nothing();
  return resolve(plan, state, incident, event.answer, event);
}
