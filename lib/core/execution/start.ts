/**
 * The first record of an execution.
 *
 * S11 the id is derived from (workflow, idempotency key) by the caller, so the same key meets the same record; a child's
 * from (parent, step, index).
 * S12 the record is born with its wake time.
 */

import { isCallback, type Plan } from '../plan/plan.ts';
import type { ChildStart, Parent } from '../records/children.ts';
import type { Json } from '../records/json.ts';
import type { Execution } from '../records/state.ts';
import { horizonMs } from '../step/lease.ts';
import { externalTimes } from '../waiting/timer.ts';

export interface NewExecution {
  readonly id: string;
  /** Of `lifeOf`: the execution that the store keeps has that of the start which won. */
  readonly life: string;
  readonly planHash: string;
  readonly input: Json;
  readonly inputHash: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly redriveOf?: string;
  readonly parent?: Parent;
  readonly callbackKeys?: Readonly<Record<string, string>>;
  readonly writeId: string;
}

export function newExecution(plan: Plan, given: NewExecution, now: number): Execution {
  const { id, life, planHash, input, inputHash, tags, redriveOf, parent, callbackKeys, writeId } = given;
  const deadlineAt = now + plan.withinMs;
  const wakeAt = Math.min(deadlineAt, now + horizonMs(plan, undefined));
  const execution: Execution = {
    id,
    life,
    workflow: plan.workflow,
    plan: planHash,
    status: 'running',
    version: 1,
    writeId,
    epoch: 1,
    input,
    inputHash,
    ...(tags === undefined ? {} : { tags }),
    ...(redriveOf === undefined ? {} : { redriveOf }),
    ...(parent === undefined ? {} : { parent }),
    ...(callbackKeys === undefined ? {} : { callbackKeys }),
    startedAt: now,
    deadlineAt,
    wakeAt,
    commands: [],
    dispatches: {},
    dispatched: 0,
  };
  // S12 a wait at its beginning may be over before anything that an agent does is due.
  const timesAt = externalTimes(plan, { execution, steps: {} });
  return timesAt.some((at) => at < wakeAt)
    ? { ...execution, wakeAt: Math.max(now, Math.min(...timesAt)) }
    : execution;
}

/**
 * What only the holder of a callback's token knows, one for each callback of the plan.
 * @param fresh a fresh and unguessable id
 */
export function callbackKeysOf(plan: Plan, fresh: () => string): Pick<NewExecution, 'callbackKeys'> {
  const callbacks = plan.steps.filter(isCallback);
  if (callbacks.length === 0) return {};
  return { callbackKeys: Object.fromEntries(callbacks.map(({ name }) => [name, fresh()])) };
}

/** Takes the place of a child that its parent will never start any more. It has told its end: it has no wake time. */
export function placeHolder(
  plan: Plan,
  start: ChildStart,
  fresh: Pick<NewExecution, 'life' | 'writeId'>,
  now: number,
): Execution {
  const { id, planId, parent } = start;
  const given = { id, planHash: planId, input: null, inputHash: '', parent, ...fresh };
  const { wakeAt: _, ...execution } = newExecution(plan, given, now);
  return { ...execution, status: 'canceled', endedAt: now, deadlineAt: now };
}
