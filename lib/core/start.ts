/**
 * The first record of an execution.
 *
 * S11 the id is derived from (workflow, idempotency key) by the caller, so the same key meets the same record.
 * S12 the record is born with its watch.
 */

import type { Json } from './json.ts';
import type { Plan } from './plan.ts';
import type { Execution } from './state.ts';
import { horizonMs } from './watch.ts';

export interface NewExecution {
  readonly id: string;
  readonly planHash: string;
  readonly input: Json;
  readonly inputHash: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly redriveOf?: string;
  readonly writeId: string;
}

export function newExecution(plan: Plan, given: NewExecution, now: number): Execution {
  const { id, planHash, input, inputHash, tags, redriveOf, writeId } = given;
  const deadlineAt = now + plan.withinMs;
  return {
    id,
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
    startedAt: now,
    deadlineAt,
    watchAt: Math.min(deadlineAt, now + horizonMs(plan, undefined)),
    commands: [],
    dispatches: {},
    dispatched: 0,
  };
}
