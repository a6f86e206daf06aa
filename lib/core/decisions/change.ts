/**
 * How a record changes: every write goes through here.
 *
 * Owns: S3 (version + 1 and a fresh write id with every write) and S2 (only the tables move the status). Does
 * not own: which changes are due.
 */

import { EXECUTION_MOVES, STEP_MOVES } from '../transitions.ts';
import type { Caller } from '../values/caller.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from './decision.ts';
import type { OrUndefined } from '../values/defined.ts';
import type { Incident } from '../records/question.ts';
import type { ExecutionEvent, ExecutionStatus, StepEvent, StepStatus } from '../moves.ts';
import { refuse } from '../values/errors.ts';
import { type Acted, peopleAfter } from '../records/people.ts';
import { waitsAgain } from '../records/in-lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Cause, type Execution, isTerminal, type Step } from '../records/state.ts';

/** The inputs of a write that are not in the state: a fresh id, the time, a random number. */
export interface DecisionInputs {
  readonly writeId: string;
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

/**
 * The fields to change; a field given as `undefined` is removed. `status` is needed only if the event has
 * several targets.
 */
export type StepChanges = Partial<OrUndefined<Step>>;
export type ExecutionChanges = Partial<OrUndefined<Execution>>;

/** The step's record after a write. A step that moves on is no longer deferred. */
export function stepAfter(
  record: Step,
  event: StepEvent,
  inputs: DecisionInputs,
  changes: StepChanges,
): Step {
  const status = moveStep(record.status, event, changes.status);
  const given: Readonly<Record<string, unknown>> = changes;
  const names = Object.keys(given);
  const gone = names.filter((name) => given[name] === undefined);
  if (record.deferred !== undefined && changes.deferred === undefined) gone.push('deferred');
  // A new output replaces the stored value.
  if (record.outputAt !== undefined && 'output' in changes) gone.push('outputAt');
  if (record.wrongAnswer !== undefined && (status === 'done' || status === 'compensated'))
    gone.push('wrongAnswer');
  if (record.isPermanent !== undefined && GOES_ON.has(status)) gone.push('isPermanent');
  if (record.accepted !== undefined && endsAcceptance(status, changes)) gone.push('accepted');
  const next = gone.some((name) => name in record) ? without(record, gone) : { ...record };
  for (const name of names) if (given[name] !== undefined) next[name as keyof Step] = given[name] as never;
  next.status = status;
  next.version = record.version + 1;
  next.writeId = inputs.writeId;
  return next;
}

/**
 * Statuses in which the step has not failed for good: another attempt follows, or the current one goes on.
 */
const GOES_ON: ReadonlySet<Step['status']> = new Set(['retrying', 'running', 'accepted', 'done']);

/**
 * True if the acceptance of work ends: it is over, was never done or is undone, or its request is repeated.
 */
const endsAcceptance = (status: Step['status'], { mayHaveActed }: StepChanges): boolean =>
  mayHaveActed === false ||
  status === 'done' ||
  status === 'skipped' ||
  status === 'compensated' ||
  status === 'running';

/** The record after a move that is not written alone, because it is part of the next write. */
export function stepAs(record: Step, event: StepEvent, changes: StepChanges): Step {
  const { version, writeId } = record;
  return { ...stepAfter(record, event, { writeId, now: 0, random: 0 }, changes), version };
}

type Changing<Record> = { -readonly [Field in keyof Record]: Record[Field] };

/** Copies instead of deleting: an object from which fields are deleted stays slow for all later readers. */
function without(record: Step, gone: readonly string[]): Changing<Step> {
  const rest: Changing<Step> = blankStep(record.name, record);
  for (const name of Object.keys(record) as (keyof Step)[])
    if (!gone.includes(name)) rest[name] = record[name] as never;
  return rest;
}

/** The execution's record after a write. A write that leaves the status `paused` also ends the pause. */
export function executionAfter(
  execution: Execution,
  event: ExecutionEvent,
  inputs: DecisionInputs,
  changes: ExecutionChanges,
): Execution {
  const { outputAt, ...rest } = execution;
  const status = moveExecution(execution.status, event);
  const isPauseOver = execution.status === 'paused' && status !== 'paused' && changes.pauses === undefined;
  const next = {
    // A new output replaces the stored value.
    ...(outputAt === undefined || 'output' in changes || 'outputBytes' in changes ? rest : execution),
    ...(isPauseOver ? endedPause(execution, inputs.now, changes.cause?.by) : {}),
    ...changes,
    status,
    version: execution.version + 1,
    writeId: inputs.writeId,
  };
  if (!Object.values(changes).includes(undefined)) return next as Execution;
  return Object.fromEntries(
    Object.entries(next).filter(([, value]) => value !== undefined),
  ) as unknown as Execution;
}

/** A step before its first write. @param of its execution */
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

/** Writes a step, and its execution if that is given; then the step and what it affects are evaluated. */
export const writingStep = (
  { execution: { id } }: Snapshot,
  step: Step,
  what: string,
  execution?: Execution,
): Decision => writing(id, { step, execution }, evaluateNext([step.name]), { what, step: step.name });

/**
 * Writes a step together with its execution: the write fails if the execution was paused, stopped or ended
 * since the read.
 * @param changes when to evaluate the execution, if sooner than after any write
 */
export const writingBoth = (
  state: Snapshot,
  step: Step,
  what: string,
  inputs: DecisionInputs,
  changes: Pick<ExecutionChanges, 'wakeAt'> = {},
): Decision =>
  writingStep(state, step, what, executionAfter(state.execution, 'set-wake-time', inputs, changes));

/**
 * Writes the stop of an execution; then everything is evaluated.
 * @param question the incident whose resolution stops it
 */
export function stop(
  { execution }: Snapshot,
  inputs: DecisionInputs,
  cause: Cause,
  question?: Incident,
): Decision {
  const stopped = executionAfter(execution, 'stop', inputs, {
    cause: waitsAgain(execution) ? { ...cause, undo: false } : cause,
    wakeAt: inputs.now,
  });
  const note = { what: 'compensating', step: cause.step, detail: cause.kind };
  return writing(execution.id, { execution: stopped, question }, evaluateNext('all'), note);
}

/**
 * Adds the entry of the person who acts to the write of the act itself (S19). The decision is unchanged if
 * the tree keeps no people.
 * @param decision one that writes its execution
 */
export function entering(
  decision: Decision,
  { people }: Pick<Execution, 'people'>,
  acted: Acted | undefined,
): Decision {
  const { write } = decision;
  if (people === undefined || acted === undefined || write?.execution === undefined) return decision;
  const execution = { ...write.execution, people: peopleAfter(people, acted) };
  return { ...decision, write: { ...write, execution } };
}

/**
 * Enters a person in the root's record before they act in an execution below it (`scheduler/people.ts`).
 * Writes nothing if the person is entered already, if the tree keeps no people, or if the root has ended.
 */
export function enter(
  execution: Execution,
  { acted, ...inputs }: DecisionInputs & { readonly acted: Acted },
): Decision {
  const { people } = execution;
  const after = people && peopleAfter(people, acted);
  if (after === undefined || after === people || isTerminal(execution.status)) return nothing();
  const entered = executionAfter(execution, 'adopt', inputs, { people: after });
  const note = { what: 'person-entered' };
  return { ...writing(execution.id, { execution: entered }, IDLE, note), wakeTime: 'as-written' };
}

/** Ends the pause under way, if there is one. */
export const endedPause = (execution: Execution, now: number, by?: Caller): Pick<Execution, 'pauses'> => {
  const last = execution.pauses?.at(-1);
  if (last === undefined || last.endedAt !== undefined) return {};
  return {
    pauses: [
      ...(execution.pauses ?? []).slice(0, -1),
      { ...last, endedAt: now, ...(by === undefined ? {} : { endedBy: by }) },
    ],
  };
};

/** @param to if given, true only if the event may lead to this status */
export const canMoveStep = (status: StepStatus, event: StepEvent, to?: StepStatus): boolean =>
  [STEP_MOVES[status][event] ?? []].flat().some((target) => to === undefined || to === target);

/**
 * @param to the target, if the event has several
 * @throws SteadfastError `illegal-move`, a defect of ours: every caller checks first
 */
export function moveStep(status: StepStatus, event: StepEvent, to?: StepStatus): StepStatus {
  const row = STEP_MOVES[status][event];
  const targets = [row ?? []].flat();
  const target = to ?? (targets.length === 1 ? targets[0] : undefined);
  if (target !== undefined && targets.includes(target)) return target;
  return illegal(`a step that is ${status} cannot '${event}'${to === undefined ? '' : ` to ${to}`}`);
}

/** @throws SteadfastError `illegal-move` */
export const moveExecution = (status: ExecutionStatus, event: ExecutionEvent): ExecutionStatus =>
  EXECUTION_MOVES[status][event] ?? illegal(`an execution that is ${status} cannot '${event}'`);

function illegal(message: string): never {
  throw refuse('illegal-move', message);
}
