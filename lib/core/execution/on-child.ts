/**
 * What follows from child executions: they were started, stopped or gathered, one has ended, or this
 * execution itself must stop because its parent does.
 *
 * Owns: the decisions. Does not own: the records (`waiting/child.ts`), when each is due (`child-rules.ts`).
 */

import { restartProblemOf, retried } from '../operators/retry.ts';
import {
  type ChildStep,
  expressionsOf,
  graphOf,
  hasChildren,
  isRepeated,
  type MapStep,
  type Plan,
} from '../plan/plan.ts';
import { storedPlanOf } from '../plan/on-failure.ts';
import { outputsIn } from '../plan/refs-in.ts';
import {
  canMoveStep,
  type DecisionInputs,
  executionAfter,
  type ExecutionChanges,
  stepAfter,
  writingStep,
} from '../decisions/change.ts';
import { failedOf, MAX_GATHERED_BYTES } from '../records/children.ts';
import { MAX_WHOLE_BYTES, mostBytes } from '../records/large-values.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { ChildEvent, ChildrenDone } from '../decisions/events.ts';
import { waitsAgain } from '../records/in-lane.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { type Json, type JsonObject, utf8Bytes } from '../values/json.ts';
import type { StepEvent, ExecutionStatus } from '../moves.ts';
import type { Snapshot } from '../records/snapshot.ts';
import {
  type Cause,
  type Execution,
  isForward,
  isTerminal,
  isUndecided,
  type Step,
} from '../records/state.ts';
import { lostValue } from '../step/left-out.ts';
import { undoesNothing } from '../step/effect.ts';
import { isCanceledKeepingEffects, isToGoOn } from '../waiting/child-retry.ts';
import { childEnded, childrenStarted, isEndDue } from '../waiting/child.ts';
import { afterTry, childrenStopped, staysDone } from '../waiting/child-tries.ts';
import { roundRead } from './on-round.ts';

export function decideChildren(plan: Plan, state: Snapshot, event: ChildEvent & DecisionInputs): Decision {
  if (event.type === 'stop') return stop(state, event, event);
  if (event.type === 'restart') return again(plan, state, event.endVersion, event);
  if (event.type === 'child-ended') return childEnded(plan, state, event);
  const step = graphOf(plan).step.get(event.step);
  if (event.type === 'gathered' && isRepeated(step)) return roundRead(plan, step, state, event);
  if (!hasChildren(step)) return nothing();
  const after = recordAfter(plan, step, state, event);
  if (after === undefined) return nothing();
  const { execution } = state;
  // S12 if the step ends now, the execution is written too, so that a process that ends a pause meanwhile
  // notices it.
  const isDue = isEndDue(step, execution, after);
  const beside = isDue ? executionAfter(execution, 'adopt', event, {}) : undefined;
  return writingStep(state, after, `children-${event.type}`, beside);
}

/** The move that records each result, and the statuses of the execution in which it can happen. */
const RECORDED: Readonly<
  Record<ChildrenDone['type'], { move: StepEvent; during: (status: ExecutionStatus) => boolean }>
> = {
  started: { move: 'start-children', during: isForward },
  stopped: { move: 'stop-children', during: (status) => isForward(status) || status === 'compensating' },
  gathered: { move: 'done', during: (status) => !isTerminal(status) },
};

function recordAfter(
  plan: Plan,
  step: ChildStep | MapStep,
  state: Snapshot,
  event: ChildrenDone & DecisionInputs,
): Step | undefined {
  const record = state.steps[step.name];
  const { status } = state.execution;
  const { move, during } = RECORDED[event.type];
  // While the execution goes forward, its children are stopped because the step's time is over.
  const isForTime = event.type === 'stopped' && isForward(status);
  const isStay = event.type === 'gathered' && record?.status === 'compensating';
  if (isStay && !staysDone(step, record, undoesNothing(state))) return undefined;
  if (!during(status) || (isForTime && step.withinMs === undefined)) return undefined;
  const to = isForTime ? 'running' : undefined;
  if (!canMoveStep(record?.status ?? 'ready', isStay ? 'keep-effects' : move, to)) return undefined;
  switch (event.type) {
    case 'started': {
      const started = childrenStarted(state, event, event);
      return event.failure === undefined
        ? started
        : refusedStart(step, started, record, event.failure, event);
    }
    case 'stopped':
      return childrenStopped(state, event, event);
    case 'gathered':
      return record && gathered(plan, step, record, state, event);
  }
}

/**
 * The record of a step that failed before it began. The places of its executions were taken first, so that
 * none can ever begin.
 */
function refusedStart(
  step: ChildStep | MapStep,
  started: Step,
  before: Step | undefined,
  failure: Failure,
  inputs: DecisionInputs,
): Step {
  // The version grows by one, as with any write.
  const running = { ...started, version: before?.version ?? 0 };
  return step.kind === 'child'
    ? afterTry(step, running, failure, inputs, true)
    : stepAfter(running, 'fail', inputs, { changedAt: inputs.now, status: 'failed', failure });
}

function gathered(
  plan: Plan,
  step: ChildStep | MapStep,
  record: Step,
  state: Snapshot,
  event: ChildrenDone & { readonly type: 'gathered' } & DecisionInputs,
): Step {
  const { now: changedAt, lostBytes } = event;
  const isStay = record.status === 'compensating';
  const most = mostBytes(state, MAX_GATHERED_BYTES, MAX_WHOLE_BYTES);
  const output = outputOf(step, record, event.outputs, most);
  // A list does not fail, because it may have other uses; a step that reads its items' outputs does.
  const isOfList = step.kind === 'map' || plan.tolerated !== undefined;
  const failure = isOfList ? undefined : whyMissing(output, lostBytes, most);
  if (failure !== undefined && isRead(plan, step.name))
    return stepAfter(record, isStay ? 'keep-effects' : 'fail', event, {
      changedAt,
      status: 'failed',
      failure,
    });
  const { children } = record;
  const isLeftOut = step.kind === 'map' && (output as JsonObject | undefined)?.['items'] === undefined;
  return stepAfter(record, isStay ? 'keep-effects' : 'done', event, {
    status: 'done',
    changedAt,
    output: output ?? (plan.tolerated === undefined ? null : undefined),
    children: children && {
      ...children,
      started: children.count,
      ...(isLeftOut ? { leftOutBytes: Math.max(event.bytes ?? 0, most + 1) } : {}),
      ...(isOfList ? defined({ lostBytes }) : {}),
    },
  });
}

/** Why the answer of a child's execution is missing; undefined if it is there. */
function whyMissing(
  output: Json | undefined,
  lostBytes: number | undefined,
  most: number,
): Failure | undefined {
  if (lostBytes !== undefined) return lostValue('the answers of its executions', lostBytes);
  if (output !== undefined) return undefined;
  const message = `the answer of its execution has more than ${most} bytes, and other steps read it`;
  return { code: 'output-too-large', message };
}

/**
 * True if a later step or the execution's output reads the step's output: a missing output would be mistaken
 * for a value.
 */
const isRead = (plan: Plan, name: string): boolean =>
  outputsIn([plan.output, ...[...plan.steps, ...(plan.onFailure ?? [])].flatMap(expressionsOf)]).includes(
    name,
  );

/**
 * Returns the output of the step. For a child: its execution's output, if there is room for it. For a list:
 * the counts, and the items' outputs if there is room for all, because each has its place.
 */
function outputOf(
  step: ChildStep | MapStep,
  record: Step,
  outputs: readonly (Json | undefined)[],
  most: number,
): Json | undefined {
  if (step.kind === 'child') return kept(outputs[0], most);
  const { children } = record;
  const counts = { total: children?.items ?? 0, failed: children === undefined ? 0 : failedOf(children) };
  const parts = outputs.flatMap((part) => (Array.isArray(part) ? [part as Json[]] : []));
  const items = parts.length === outputs.length ? kept(parts.flat(), most) : undefined;
  return items === undefined ? counts : { ...counts, items };
}

const kept = (output: Json | undefined, most: number): Json | undefined =>
  output === undefined || utf8Bytes(JSON.stringify(output)) > most ? undefined : output;

/**
 * Stops the execution because its parent stops. If it has succeeded, it is undone with its parent; S1 no
 * other move leaves that status.
 */
function stop(
  state: Snapshot,
  { undo, endVersion }: { readonly undo: boolean; readonly endVersion?: number },
  inputs: DecisionInputs,
): Decision {
  const { execution } = state;
  // The execution stays failed, but with an end of a later version, so that no earlier notice retries it
  // again.
  if (endVersion !== undefined && isToGoOn(execution, endVersion)) {
    const closed = executionAfter(execution, 'set-wake-time', inputs, closedEnd(execution));
    return writing(execution.id, { execution: closed }, IDLE);
  }
  const recalled = execution.status === 'succeeded' && undo && execution.parent !== undefined;
  const isOpen = isUndecided(execution.status);
  if (!isOpen && !recalled) return nothing();
  const cause: Cause = {
    kind: 'parent',
    at: inputs.now,
    failure: { code: 'parent-compensated', message: 'the execution that it is a part of is being undone' },
    ...(undo && !waitsAgain(execution) ? {} : { undo: false }),
  };
  const open = executionAfter(execution, recalled ? 'recall' : 'stop', inputs, {
    cause,
    wakeAt: inputs.now,
    endedAt: undefined,
  });
  return writing(execution.id, { execution: open }, evaluateNext('all'), { what: 'stopped-by-parent' });
}

/** S1 Lets a failed execution go on together with its parent; no operator retries it alone. */
function again(plan: Plan, state: Snapshot, endVersion: number, inputs: DecisionInputs): Decision {
  const { execution } = state;
  const isDue =
    execution.parent !== undefined && isToGoOn(execution, endVersion) && !isCanceledKeepingEffects(execution);
  if (!isDue || restartProblemOf(storedPlanOf(plan), state) !== undefined) return nothing();
  // The execution goes on once its on-failure steps are over and its end is announced. One request for that
  // is enough.
  if (execution.end?.again === true) return nothing();
  return goingOnLater(execution, inputs) ?? withParent(plan, state, inputs);
}

/** Lets a failed execution go on where it failed, because its parent was retried. */
export function withParent(plan: Plan, state: Snapshot, inputs: DecisionInputs): Decision {
  const reason = 'the execution that it is a part of was tried again';
  return retried(plan, state, { reason, commands: state.execution.commands }, inputs);
}

/**
 * Returns the end after a write has ruled out another try. Its version is later, so that a parent counts it
 * as a new end.
 */
const closedEnd = ({ end: known, lane, version }: Execution): Pick<ExecutionChanges, 'end' | 'lane'> => {
  if (known === undefined) return lane === undefined ? {} : { lane: { ...lane, endVersion: version + 1 } };
  const { again: _, ...rest } = known;
  return { end: { ...rest, version: version + 1 } };
};

/**
 * Records that the parent was retried before the end was announced; the announcement comes first. Returns
 * undefined if the end is announced already.
 */
const goingOnLater = (execution: Execution, inputs: DecisionInputs): Decision | undefined => {
  const { end: known } = execution;
  if (known === undefined || execution.wakeAt === undefined) return undefined;
  const asked = executionAfter(execution, 'set-wake-time', inputs, { end: { ...known, again: true } });
  return writing(execution.id, { execution: asked }, { kind: 'idle' });
};
