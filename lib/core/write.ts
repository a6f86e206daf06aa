/**
 * How a record changes: every write goes through here.
 *
 * Owns: S3 (version + 1 and a fresh write id with every write) and S2 (the status moves by the tables alone). Does not
 * own: which changes are due.
 */

import type { Execution, Step } from './state.ts';
import { type ExecutionEvent, moveExecution, moveStep, type StepEvent } from './transitions.ts';

/** What a write takes from outside the state: a fresh id, the time, the dice. */
export interface Stamp {
  readonly writeId: string;
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

type Removable = 'leaseUntil' | 'retryAt' | 'failure' | 'progress' | 'progressAt' | 'givenInput';
export type StepChanges = Partial<Omit<Step, Removable>> & {
  readonly [Field in Removable]?: Step[Field] | undefined;
};

/** The step's record after a write. A field given as `undefined` is removed. */
export function stepAfter(record: Step, event: StepEvent, stamp: Stamp, changes: StepChanges): Step {
  const next = {
    ...record,
    ...changes,
    status: moveStep(record.status, event),
    version: record.version + 1,
    writeId: stamp.writeId,
  };
  return (Object.values(changes).includes(undefined) ? withoutUndefined(next) : next) as Step;
}

/** A new object: one from which fields are deleted is slow for good, for all who read or copy it later. */
function withoutUndefined(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key of Object.keys(record)) if (record[key] !== undefined) rest[key] = record[key];
  return rest;
}

/** The execution's record after a write. */
export const executionAfter = (
  execution: Execution,
  event: ExecutionEvent,
  stamp: Stamp,
  changes: Partial<Execution>,
): Execution => ({
  ...execution,
  ...changes,
  status: moveExecution(execution.status, event),
  version: execution.version + 1,
  writeId: stamp.writeId,
});

/** What a step is before its first write. */
export const blankStep = (name: string, epoch: number): Step => ({
  name,
  status: 'ready',
  version: 0,
  writeId: '',
  epoch,
  attempt: 0,
  rung: 0,
  rungAttempt: 0,
  hardEndAt: 0,
  mayHaveActed: false,
  beat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
});
