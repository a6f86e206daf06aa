/**
 * The lane of an execution that is about to be created: the hash of its name and of the key in its input.
 *
 * Owns: this hash. Does not own: which keys are allowed (`core/plan/lane.ts`).
 */

import { laneKey, laneOf } from '../core/plan/lane.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import type { OwnLane } from '../core/records/lane.ts';
import { refuse } from '../core/values/errors.ts';
import type { Json } from '../core/values/json.ts';

const KEY_CHARS = 32;

/** S17 the key itself is never written. @returns an empty object for a workflow without a lane */
export function laneFor(
  { lanes }: Pick<Ports, 'lanes'>,
  plan: Plan,
  input: Json,
): { readonly lane?: OwnLane } | { readonly problem: string } {
  const step = laneOf(plan);
  if (step === undefined) return {};
  if (lanes === undefined) throw refuse('no-lanes', 'this process has no lanes');
  const found = laneKey(step, input);
  if ('problem' in found) return found;
  return { lane: { key: lanes.hash(`lane\n${step.lane}\n${found.key}`).slice(0, KEY_CHARS) } };
}
