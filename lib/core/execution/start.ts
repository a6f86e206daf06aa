/**
 * The first record of an execution.
 *
 * S11 the caller derives the id from (workflow, idempotency key), so the same key meets the same record; a
 * child's id comes from (parent, step, index). S12 the record has a wake time from the beginning.
 */

import { longestMs } from '../plan/lane.ts';
import { isCallback, type Plan } from '../plan/plan.ts';
import { searched } from '../plan/search.ts';
import type { ChildStart } from '../records/children.ts';
import type { Execution } from '../records/state.ts';
import { horizonMs } from '../step/lease.ts';
import { externalTimes } from '../waiting/waits.ts';

/**
 * `lifeOf` makes `life`: if several starts compete, the stored execution has the life of the one that won.
 */
export type NewExecution = Pick<
  Execution,
  | 'id'
  | 'life'
  | 'plan'
  | 'input'
  | 'inputHash'
  | 'tags'
  | 'fairGroup'
  | 'lane'
  | 'replaces'
  | 'callbackUrl'
  | 'parent'
  | 'callbackKeys'
  | 'startedBy'
  | 'people'
  | 'writeId'
>;

export function newExecution(plan: Plan, born: NewExecution, now: number): Execution {
  const deadlineAt = now + longestMs(plan);
  const wakeAt = Math.min(deadlineAt, now + horizonMs(plan, undefined));
  const execution: Execution = {
    ...born,
    ...searched(plan, born),
    workflow: plan.workflow,
    status: 'running',
    version: 1,
    epoch: 1,
    startedAt: now,
    deadlineAt,
    wakeAt,
    commands: [],
    dispatches: {},
  };
  // S12 a wait that begins with the execution may end before any agent's work is due.
  const timesAt = externalTimes(plan, { execution, steps: {} });
  return timesAt.some((at) => at < wakeAt)
    ? { ...execution, wakeAt: Math.max(now, Math.min(...timesAt)) }
    : execution;
}

/**
 * Makes a secret for each callback of the plan, for the holder of its token.
 * @param fresh makes a new and unguessable id
 */
export function callbackKeysOf(plan: Plan, fresh: () => string): Pick<NewExecution, 'callbackKeys'> {
  const callbacks = plan.steps.filter(isCallback);
  if (callbacks.length === 0) return {};
  return { callbackKeys: Object.fromEntries(callbacks.map(({ name }) => [name, fresh()])) };
}

/**
 * The record of a child that its parent will never start. Its parent knows how it ended, so it has no wake
 * time.
 */
export function placeHolder(
  plan: Plan,
  start: ChildStart,
  fresh: Pick<NewExecution, 'life' | 'writeId'>,
  now: number,
): Execution {
  const { id, planId, parent } = start;
  const born = { id, plan: planId, input: null, inputHash: '', parent, ...fresh };
  const { wakeAt: _, ...execution } = newExecution(plan, born, now);
  return { ...execution, status: 'canceled', endedAt: now, deadlineAt: now };
}
