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

/** What a write takes from outside the state: a fresh id, the time, the random source. */
export interface DecisionInputs {
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
  | 'deferred'
  | 'undoDeferredAt'
  | 'children'
  | 'restarted'
  | 'suspendedFrom'
  | 'suspendedIn';
export type StepChanges = Partial<Omit<Step, Removable>> & {
  readonly [Field in Removable]?: Step[Field] | undefined;
};

/** The step's record after a write. A field given as `undefined` is removed. What moves on is no longer deferred. */
export function stepAfter(
  record: Step,
  event: StepEvent,
  inputs: DecisionInputs,
  changes: StepChanges,
): Step {
  const status = moveStep(record.status, event);
  const given: Readonly<Record<string, unknown>> = changes;
  const names = Object.keys(given);
  const gone = names.filter((name) => given[name] === undefined);
  if (record.deferred !== undefined && changes.deferred === undefined) gone.push('deferred');
  // Whatever leaves `suspended` forgets what it was before.
  if (record.status === 'suspended' && status !== 'suspended') gone.push('suspendedFrom', 'suspendedIn');
  const next = gone.some((name) => name in record) ? without(record, gone) : { ...record };
  for (const name of names) if (given[name] !== undefined) next[name as keyof Step] = given[name] as never;
  next.status = status;
  next.version = record.version + 1;
  next.writeId = inputs.writeId;
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
  inputs: DecisionInputs,
  changes: ExecutionChanges,
): Execution {
  const next = {
    ...execution,
    ...changes,
    status: moveExecution(execution.status, event),
    version: execution.version + 1,
    writeId: inputs.writeId,
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
  stage: 0,
  stageAttempt: 0,
  key: 1,
  keyVariant: 0,
  processDeadlineAt: 0,
  mayHaveActed: false,
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  changedAt: 0,
  attempts: [],
});

/** A wake time that is overdue stays so: how long nobody looked is not forgotten. @param at when to look, if not before */
export const wakeNoLaterThan = ({ wakeAt }: Execution, at: number): number => Math.min(wakeAt ?? at, at);

/** The write that stops an execution, after which everything is looked at. */
export function stop(state: Snapshot, inputs: DecisionInputs, cause: Cause): Decision {
  const { execution } = state;
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'stop', inputs, {
        cause,
        wakeAt: wakeNoLaterThan(execution, inputs.now),
        ...endedPause(execution, inputs.now),
      }),
    },
    sends: [],
    next: { kind: 'evaluate', fresh: true, affected: 'all' },
    notes: [
      {
        what: 'compensating',
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
