/**
 * Executions that belong to a step: another workflow's (`child`), or the parts of a list (`map`).
 *
 * Owns: which there are, each one's input, the parent's record about them, when the step is over. Does not
 * own: stopping them (`child-tries.ts`), cutting a list into parts (`waiting/map.ts`), putting them into the
 * table (`engine/children.ts`), their own lives (each is an execution like any other).
 *
 * A child's id is derived from (parent, step, index), so repeated starts create it once. It keeps its wake
 * time until the parent's record has its end, and ends are a set, not a counter: both survive any crash.
 */

import { childPlanId, partPlanId } from '../plan/child-plans.ts';
import { hasLaneBelow } from '../plan/lane.ts';
import {
  type ChildStep,
  graphOf,
  hasChildren,
  isRepeated,
  type MapStep,
  MAX_ITEMS,
  type Plan,
} from '../plan/plan.ts';
import { evaluateExpression, type Expr } from '../plan/refs.ts';
import {
  blankStep,
  executionAfter,
  type DecisionInputs,
  stepAfter,
  canMoveStep,
} from '../decisions/change.ts';
import {
  type Children,
  type ChildStart,
  failedOf,
  laterEnds,
  type Planned,
  type Root,
} from '../records/children.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { type Json, utf8Bytes } from '../values/json.ts';
import { keyPartOf } from '../values/names.ts';
import { MAX_RECORD_VALUE_BYTES, mostBytes } from '../records/large-values.ts';
import { planSince } from '../records/in-lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Execution, isTerminal, type Step } from '../records/state.ts';
import { isLostFailure, leftOutIn, leftOutOfList, lostOfRound } from '../step/left-out.ts';
import { hasOpenChildren, isUnbegun, scopeOf } from '../step/turn.ts';
import { epochOfIds, knownVersion, restartedAfter } from './child-retry.ts';
import { givenToTry, inputOfTry, tryOf } from './child-tries.ts';
import { inputOf, itemsOf, MAX_PART_BYTES, partsOf, roomFor, shareOf } from './map.ts';

/**
 * How many executions are started before the parent's record is written: a process that dies loses no more
 * than that.
 */
const MAX_STARTS = 50;

/**
 * The parts of a child's id before its index. The step's epoch and try are among them, so that no epoch or
 * try meets another's children.
 */
interface Ids {
  readonly id: string;
  readonly epoch: number;
  readonly try: number;
}

const idsOf = (execution: Pick<Execution, 'id' | 'epoch'>, record: Step | undefined): Ids => ({
  id: execution.id,
  epoch: epochOfIds(record, execution),
  try: tryOf(record?.children),
});

/** Contains epoch and try only after the first, so that most ids stay short. */
export const childIdOf = (ids: Ids, step: string, index: number): string =>
  `${ids.id}.${keyPartOf(step)}.${index}${ids.epoch > 1 || ids.try > 1 ? `-e${ids.epoch}t${ids.try}` : ''}`;

const only = (start: ChildStart): Planned => ({ starts: [start], items: 1, tolerated: 0 });

/** Children share their parent's place. */
const inLaneOf = ({ lane, parent }: Execution): { readonly inLane?: true } =>
  lane === undefined && parent?.inLane !== true ? {} : { inLane: true };

/** A lane below uses the latest deployment's limit. For a root, `since` has the time. */
const planSinceOf = (step: ChildStep | MapStep, execution: Execution): { readonly planSince?: number } =>
  execution.parent !== undefined && hasLaneBelow(step) ? { planSince: planSince(execution) } : {};

/**
 * Returns the step's executions, which its predecessors' outputs determine; or why there can be none.
 * @param toStop true if they are to be stopped, so that their inputs no longer matter
 */
export function plannedOf(step: ChildStep | MapStep, snapshot: Snapshot, toStop = false): Planned | Failure {
  const { execution } = snapshot;
  const record = snapshot.steps[step.name];
  const scope = scopeOf(snapshot);
  const startOf = startsOf(step, snapshot);
  if (step.kind === 'child') {
    const own = inputOfTry(step, record);
    const known = givenToTry(record, snapshot);
    const input = known === undefined ? (evaluateExpression(own, scope) ?? null) : known;
    const bytes = utf8Bytes(JSON.stringify(input));
    const leftOut = known === undefined ? unreadable(own, snapshot, record) : undefined;
    const planId = childPlanId(execution.plan, step);
    const isPart = step.rounds?.byAgent === true;
    const most = mostBytes(snapshot, MAX_RECORD_VALUE_BYTES);
    if ((toStop && isLostFailure(leftOut)) || (bytes <= most && leftOut === undefined))
      return only(startOf(0, planId, input, isPart));
    const message = `the input of its execution has ${bytes} bytes; at most ${most} are allowed`;
    const failure = leftOut ?? { code: 'input-too-large', message };
    // Another try may have another input, so this one's place is taken.
    return step.recovery === undefined
      ? failure
      : only({ ...startOf(0, planId, null, isPart), refused: failure });
  }
  const leftOut = leftOutOfList(step, snapshot);
  if (leftOut !== undefined && !(toStop && isLostFailure(leftOut))) return leftOut;
  if (leftOut !== undefined) return placesToTake(step, snapshot);
  const list = evaluateExpression(step.over, scope);
  if (!Array.isArray(list)) return { code: 'not-a-list', message: "the value of 'over' is not a list" };
  if (list.length > MAX_ITEMS) {
    const message = `the list has ${list.length} items; at most ${MAX_ITEMS} are allowed`;
    return { code: 'list-too-long', message };
  }
  const { tolerate } = step;
  const tolerated = 'items' in tolerate ? tolerate.items : shareOf(list.length, tolerate.percent);
  const parts = partsOf(itemsOf(step, list as Json[], scope), mostBytes(snapshot, MAX_PART_BYTES));
  if ('code' in parts) return parts;
  let before = 0;
  const starts = parts.map((part, index) => {
    const planId = partPlanId(execution.plan, step, { size: part.length, tolerated, before });
    before += part.length;
    return startOf(index, planId, inputOf(part), true);
  });
  return { starts, items: list.length, tolerated };
}

function startsOf(step: ChildStep | MapStep, { execution, steps }: Snapshot) {
  const record = steps[step.name];
  const ids = idsOf(execution, record);
  return (index: number, planId: string, input: Json, part: boolean): ChildStart => ({
    id: childIdOf(ids, step.name, index),
    planId,
    input,
    parent: {
      executionId: execution.id,
      step: step.name,
      index,
      since: execution.startedAt,
      ...(ids.epoch > 1 ? { epoch: ids.epoch } : {}),
      ...(ids.try > 1 ? { try: ids.try } : {}),
      ...(part ? { part: true as const } : {}),
      ...inLaneOf(execution),
      ...planSinceOf(step, execution),
      ...defined({ root: execution.parent?.root ?? (part ? undefined : rootNamed(execution)) }),
    },
    ...defined({
      fairGroup: execution.fairGroup,
      tags: part ? execution.tags : undefined,
      restartedAfter: restartedAfter(record?.children, index),
    }),
  });
}

/**
 * The executions of a step that reads a lost value: as many as its record says. Without a record, a process
 * that has read the value before may be starting the first of them, so S10 all places that these may have are
 * returned.
 * @param refused why executions that have not begun never will
 */
export function placesToTake(step: ChildStep | MapStep, snapshot: Snapshot, refused?: Failure): Planned {
  const { execution, steps } = snapshot;
  // One more than are started before a record is written: at least one place is then free, is taken, and
  // makes the step fail.
  const most = step.kind === 'child' ? 1 : MAX_STARTS + 1;
  // How many items of a lost list may fail is unknown, so no item's end fails the step.
  const { count = most, items = most, tolerated = MAX_ITEMS } = steps[step.name]?.children ?? {};
  const isPart = step.kind === 'map' || step.rounds?.byAgent === true;
  const startOf = startsOf(step, snapshot);
  const planId =
    step.kind === 'child'
      ? childPlanId(execution.plan, step)
      : partPlanId(execution.plan, step, { size: 1, tolerated, before: 0 });
  const starts = Array.from({ length: count }, (_, index) => ({
    ...startOf(index, planId, null, isPart),
    ...defined({ refused }),
  }));
  return { starts, items, tolerated };
}

const unreadable = (own: Expr, snapshot: Snapshot, record: Step | undefined): Failure | undefined =>
  lostOfRound(snapshot, record) ?? leftOutIn(own, snapshot);

const rootNamed = ({ workflow, tags }: Execution): Root => ({ workflow, ...defined({ tags }) });

/** The next child executions to start of a step that has begun or whose turn it is. */
export function nextStarts(
  step: ChildStep | MapStep,
  planned: Planned,
  record: Step | undefined,
): readonly ChildStart[] {
  const started = record?.children?.started ?? 0;
  const count = Math.min(roomFor(step, record?.children), MAX_STARTS);
  return planned.starts.slice(started, started + count);
}

/** Executions of a step that were started. */
interface Started {
  readonly step: string;
  readonly planned: Planned;
  /** All executions below this index were started. */
  readonly started: number;
  /** Executions that were found ended: canceled placeholders. */
  readonly ended: Children['ended'];
}

/** The record after executions were started. */
export function childrenStarted(
  { execution, steps }: Snapshot,
  { step: name, planned, started, ended }: Started,
  inputs: DecisionInputs,
): Step {
  const before = steps[name] ?? blankStep(name, execution);
  const { children } = before;
  return stepAfter(before, 'start-children', inputs, {
    ...(before.status === 'ready' ? { changedAt: inputs.now } : {}),
    children: {
      ...children,
      count: planned.starts.length,
      items: planned.items,
      tolerated: planned.tolerated,
      started: Math.max(started, children?.started ?? 0),
      ended: laterEnds(children?.ended ?? {}, ended),
    },
  });
}

/** Records a child's end in the parent; undefined if the parent knows it or no longer needs it. */
export function childEnded(plan: Plan, state: Snapshot, news: EventOf<'child-ended'>): Decision {
  const { execution } = state;
  const step = graphOf(plan).step.get(news.step);
  const record = state.steps[news.step];
  // After a retry of the execution, the notice of a stopped one may still come.
  if ((news.epoch ?? 1) !== epochOfIds(record, execution)) return nothing();
  // A notice of an earlier try is outdated, because the later try was recorded in answer to it.
  if ((news.try ?? 1) !== tryOf(record?.children)) return nothing();
  if (!hasChildren(step) || isTerminal(execution.status)) return nothing();
  if (knownVersion(record?.children, news.index) >= news.end.version) return nothing();
  const next = recordChildEnded(step, state, record, news);
  if (next === undefined) return nothing();
  return writing(
    execution.id,
    { step: next, execution: executionAfter(execution, 'adopt', news, {}) },
    waitsForMore(step, execution, next) ? IDLE : evaluateNext([news.step]),
    { what: 'child-ended', step: news.step, detail: news.end.status },
  );
}

/**
 * True if this end only means one less to wait for. The write's condition ensures that no other end is
 * missed.
 */
function waitsForMore(step: ChildStep | MapStep, execution: Execution, record: Step): boolean {
  const { status, children } = record;
  if (execution.status !== 'running' || status !== 'running' || children === undefined) return false;
  const { started, count, restartedAfter: again } = children;
  const isOpen = started >= count && again === undefined && hasOpenChildren(children);
  return isOpen && childrenFailure(step, execution, record, children) === undefined;
}

function recordChildEnded(
  step: ChildStep | MapStep,
  state: Snapshot,
  record: Step | undefined,
  event: EventOf<'child-ended'>,
): Step | undefined {
  const news = { [event.index]: event.end };
  if (record?.children === undefined) {
    // The notice came before the starter's own record, or before the record of the process that stops it,
    // which may no longer know the list.
    const planned = plannedOf(step, state, state.execution.status === 'compensating');
    if ('code' in planned || !isUnbegun(record)) return undefined;
    return childrenStarted(state, { step: step.name, planned, started: 0, ended: news }, event);
  }
  const children = { ...record.children, ended: laterEnds(record.children.ended, news) };
  // Even if the step is over: the notice of a stopped child may come before its stop is recorded.
  return canMoveStep(record.status, 'child-ended')
    ? stepAfter(record, 'child-ended', event, { children })
    : undefined;
}

/** Why a running step has failed because of a child execution; undefined if it has not. */
export function childrenFailure(
  step: ChildStep | MapStep,
  execution: Pick<Execution, 'id' | 'epoch'>,
  record: Step,
  children: Children,
): Failure | undefined {
  const bad = Object.entries(children.ended).find(([, { status }]) => status !== 'succeeded');
  if (bad !== undefined) {
    const id = childIdOf(idsOf(execution, record), step.name, Number(bad[0]));
    const { status, why } = bad[1];
    const because = why === undefined ? '' : `: ${why}`;
    return { code: `child-${status}`, message: `its execution ${id} ended: ${status}${because}` };
  }
  const failed = failedOf(children);
  if (failed <= children.tolerated) return undefined;
  const message = `${failed} of ${children.items} items failed; tolerated are ${children.tolerated}`;
  return { code: 'items-failed', message };
}

/** True if the step is over because of its executions' answers or ends, but that is not written yet. */
export function isEndDue(
  step: ChildStep | MapStep,
  execution: Pick<Execution, 'id' | 'epoch'>,
  record: Step | undefined,
): boolean {
  if (record?.status !== 'running' || record.children === undefined) return false;
  const { children } = record;
  if (childrenFailure(step, execution, record, children) !== undefined) return true;
  return !hasOpenChildren(children) && (!isRepeated(step) || children.rounds?.isOver === true);
}

/** True if the plan has such a step. */
export const hasEndDue = (plan: Plan, { execution, steps }: Snapshot): boolean =>
  plan.steps.some((step) => hasChildren(step) && isEndDue(step, execution, steps[step.name]));

/** The ids of the step's executions, started or not. */
export function childIds(execution: Pick<Execution, 'id' | 'epoch'>, record: Step): string[] {
  const ids = idsOf(execution, record);
  return Array.from({ length: record.children?.count ?? 0 }, (_, index) =>
    childIdOf(ids, record.name, index),
  );
}

/** All tries of a child step, in order, those of its rounds included. */
export function idsOfTries(execution: Pick<Execution, 'id' | 'epoch'>, record: Step): string[] {
  const ids = idsOf(execution, record);
  const { try: latest = 1 } = record.children ?? {};
  return Array.from({ length: latest }, (_, at) => childIdOf({ ...ids, try: at + 1 }, record.name, 0));
}
