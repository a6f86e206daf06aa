/**
 * How a record changes: every write goes through here.
 *
 * Owns: S3 (version + 1 and a fresh write id with every write) and S2 (the status moves by the tables alone). Does not
 * own: which changes are due.
 */

import { type ExecutionEvent, moveExecution, moveStep, type StepEvent } from '../transitions.ts';
import type { Decision } from './decision.ts';
import type { Snapshot } from './snapshot.ts';
import type { Cause, Execution, Step } from './state.ts';

/** What a write takes from outside the state: a fresh id, the time, the dice. */
export interface Stamp {
  readonly writeId: string;
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

type Removable =
  | 'leaseUntil'
  | 'retryAt'
  | 'failure'
  | 'heartbeatAt'
  | 'progress'
  | 'progressAt'
  | 'givenInput'
  | 'keyInput'
  | 'keySpent'
  | 'parked'
  | 'undoParkedAt'
  | 'children'
  | 'anew'
  | 'heldFrom'
  | 'heldIn';
export type StepChanges = Partial<Omit<Step, Removable>> & {
  readonly [Field in Removable]?: Step[Field] | undefined;
};

/** The step's record after a write. A field given as `undefined` is removed. What moves on is no longer parked. */
export function stepAfter(record: Step, event: StepEvent, stamp: Stamp, changes: StepChanges): Step {
  const status = moveStep(record.status, event);
  const given: Readonly<Record<string, unknown>> = changes;
  const names = Object.keys(given);
  const gone = names.filter((name) => given[name] === undefined);
  if (record.parked !== undefined && changes.parked === undefined) gone.push('parked');
  // Whatever leaves `held` forgets what it was before.
  if (record.status === 'held' && status !== 'held') gone.push('heldFrom', 'heldIn');
  const next = gone.some((name) => name in record) ? without(record, gone) : { ...record };
  for (const name of names) if (given[name] !== undefined) next[name as keyof Step] = given[name] as never;
  next.status = status;
  next.version = record.version + 1;
  next.writeId = stamp.writeId;
  return next;
}

/** What a record counts as after a move that is not written by itself, but with the next one. */
export function stepAs(record: Step, event: StepEvent, changes: StepChanges): Step {
  const { version, writeId } = record;
  return { ...stepAfter(record, event, { writeId, now: 0, random: 0 }, changes), version };
}

type Changing<Record> = { -readonly [Field in keyof Record]: Record[Field] };

/** A new object: one from which fields are deleted is slow for good, for all who read or copy it later. */
function without(record: Step, gone: readonly string[]): Changing<Step> {
  const rest: Changing<Step> = blankStep(record.name, record);
  for (const name of Object.keys(record) as (keyof Step)[])
    if (!gone.includes(name)) rest[name] = record[name] as never;
  return rest;
}

export type ExecutionChanges = Partial<Omit<Execution, 'cause' | 'endedAt'>> & {
  readonly cause?: Execution['cause'] | undefined;
  readonly endedAt?: number | undefined;
};

/** The execution's record after a write. A field given as `undefined` is removed. */
export function executionAfter(
  execution: Execution,
  event: ExecutionEvent,
  stamp: Stamp,
  changes: ExecutionChanges,
): Execution {
  const next = {
    ...execution,
    ...changes,
    status: moveExecution(execution.status, event),
    version: execution.version + 1,
    writeId: stamp.writeId,
  };
  if (!Object.values(changes).includes(undefined)) return next as Execution;
  return Object.fromEntries(
    Object.entries(next).filter(([, value]) => value !== undefined),
  ) as unknown as Execution;
}

/** What a step is before its first write. @param of its execution */
export const blankStep = (name: string, { life, epoch }: Pick<Execution, 'life' | 'epoch'>): Step => ({
  name,
  life,
  status: 'ready',
  version: 0,
  writeId: '',
  epoch,
  attempt: 0,
  rung: 0,
  rungAttempt: 0,
  key: 1,
  keyStage: 0,
  hardEndAt: 0,
  mayHaveActed: false,
  beat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
});

/** A watch that is overdue stays so: how long nobody looked is not forgotten. @param at when to look, if not before */
export const noLater = ({ watchAt }: Execution, at: number): number => Math.min(watchAt ?? at, at);

/** The write that stops an execution, after which everything is looked at. */
export function stop(state: Snapshot, stamp: Stamp, cause: Cause): Decision {
  const { execution } = state;
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'stop', stamp, {
        cause,
        watchAt: noLater(execution, stamp.now),
        ...endedPause(execution, stamp.now),
      }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: 'all' },
    notes: [
      {
        what: 'undoing',
        executionId: execution.id,
        ...(cause.step === undefined ? {} : { step: cause.step }),
        detail: cause.kind,
      },
    ],
  };
}

/** Of the pause under way, whichever way it ends. */
export const endedPause = (execution: Execution, now: number): Pick<Execution, 'pauses'> => {
  const last = execution.pauses?.at(-1);
  if (last === undefined || last.endedAt !== undefined) return {};
  return { pauses: [...(execution.pauses ?? []).slice(0, -1), { ...last, endedAt: now }] };
};
