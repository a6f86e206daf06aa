/**
 * Reads who has a place in the lane that an execution waits in, and where in the queue the execution is.
 *
 * Owns: these reads. Does not own: the words (`view/waiting-steps.ts`), who gets a place (`engine/lanes.ts`).
 */

import { laneOf } from '../core/plan/lane.ts';
import { defined } from '../core/values/defined.ts';
import { isAdmitted } from '../core/records/in-lane.ts';
import { isUndecided } from '../core/records/state.ts';
import { placeOf } from '../engine/lanes.ts';
import type { Scheduler, Shown } from './start.ts';

/** @returns undefined if it does not wait for a place */
export async function laneNow({ ports: { lanes } }: Scheduler, { plan, state: { execution } }: Shown) {
  const step = laneOf(plan);
  const { lane, status } = execution;
  const isOpen = isUndecided(status);
  if (lanes === undefined || step === undefined || lane === undefined || !isOpen || isAdmitted(execution))
    return undefined;
  const [record, place] = await Promise.all([lanes.readLane(lane.key), placeOf(lanes, lane.key, execution)]);
  const holders = (record?.holders ?? []).map(({ id }) => id);
  return { name: step.lane, atMost: record?.atMost ?? step.atMost, holders, ...defined({ place }) };
}
