/**
 * The effects of one execution on others: a step starts, gathers or stops child executions, and an execution
 * that has ended notifies its parent.
 *
 * Owns: these effects; each may be repeated without harm. Does not own: when they are due
 * (`core/execution/child-rules.ts`), their records (`core/execution/on-child.ts`).
 *
 * S11 a child's id is derived, and it is created once. S10 a stop creates a missing child as canceled, and
 * writes one that failed and could go on, so that a process that read an older state can start neither.
 */

import { callbackKeysOf, type NewExecution, newExecution, placeHolder } from '../core/execution/start.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { RandomSource, Ports, Store } from '../core/ports.ts';
import type { ChildEnd, ChildStart, Planned, ParentNotice, StopGoal } from '../core/records/children.ts';
import type { AffectedSteps, Decision, Next } from '../core/decisions/decision.ts';
import type { ChildrenDone } from '../core/decisions/events.ts';
import type { Failure } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import { utf8Bytes } from '../core/values/json.ts';
import { isOfEarlierLife } from '../core/records/retention.ts';
import { MAX_WHOLE_BYTES } from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { type Execution, hasEnd } from '../core/records/state.ts';
import { lifeOf } from '../core/step/effect-key.ts';
import { isToGoOn } from '../core/waiting/child-retry.ts';
import { isPlaceHolder } from '../core/waiting/child-tries.ts';
import { endOf } from '../core/waiting/child-end.ts';
import { commit } from './commit.ts';
import { type PlanCache, planOf } from './plans.ts';
import { sideBySide } from './side-by-side.ts';
import { isStillThere } from './still-there.ts';
import { originOf } from './announce.ts';
import { decisionInputsOf } from './decision-inputs.ts';
import { laneFor } from './lane-of-start.ts';
import { type Answer, answerOf, decideWith } from './large-values.ts';
import { executionApart } from './values-apart.ts';
import { callSupervisor } from './wake-up.ts';

/** Carries another execution on. `reconcile.ts` passes it in, because its loop calls this file. */
export type Reconcile = (
  ports: Ports,
  plan: Plan,
  executionId: string,
  start: {
    readonly by: 'agent';
    readonly affected: AffectedSteps;
    readonly forParent?: true;
    readonly known?: Known;
    readonly handedOn?: HandedOn;
  },
) => Promise<unknown>;
/** Executions to which this process gave a place in a lane; it carries them on after its own. */
export type HandedOn = { readonly id: string; readonly planId: string }[];
interface Known {
  readonly state: Snapshot;
  readonly fresh: boolean;
  readonly readAt: number;
}

/** How many other executions are read or written at the same time. */
const SIDE_BY_SIDE = 10;
const MAX_TELL_LAPS = 20;
const TELL_RETRY_MS = 50;
/** From this many executions on, a step's list is long: some thousand items, and an input of tens of KB. */
const LONG_LIST = 40;

const caches = new WeakMap<Store, PlanCache>();

/** The plan of another execution. This process caches those that it has read. */
export function planFor({ store }: Ports, planId: string): Promise<Plan> {
  const known = caches.get(store) ?? new Map<string, Plan>();
  caches.set(store, known);
  return planOf(store, known, planId);
}

/** @returns the outcome, to be decided on; undefined for any other kind of next step */
export async function withChildren(
  ports: Ports,
  next: Next,
  reconcile: Reconcile,
): Promise<ChildrenDone | undefined> {
  switch (next.kind) {
    case 'start-children':
      return started(ports, next, reconcile);
    case 'stop-children':
      return stopped(ports, next, reconcile);
    case 'gather':
      return { type: 'gathered', step: next.step, ...(await gathered(ports, next)) };
    default:
      return undefined;
  }
}

async function started(
  ports: Ports,
  { step, planned, starts }: { step: string; planned: Planned; starts: readonly ChildStart[] },
  reconcile: Reconcile,
): Promise<ChildrenDone> {
  let failure: Failure | undefined;
  const ends = await sideBySide(starts, SIDE_BY_SIDE, async (start) => {
    const refused = await refusedInput(ports, start);
    failure ??= refused?.failure;
    return refused?.end ?? startChild(ports, start, reconcile);
  });
  const last = starts.at(-1);
  return {
    type: 'started',
    step,
    planned,
    started: (last?.parent.index ?? -1) + 1,
    ended: byIndex(starts, ends),
    ...defined({ failure }),
  };
}

/** Values that a create gives an execution; if another create wins, its values count. */
const freshOf = (random: RandomSource): Pick<NewExecution, 'life' | 'writeId'> => ({
  life: lifeOf(random.id()),
  writeId: random.id(),
});

/**
 * Has the agent check a part of a list, item by item.
 * @returns undefined if the part may begin, or has begun
 */
async function refusedInput(
  ports: Ports,
  start: ChildStart,
): Promise<{ readonly failure: Failure; readonly end: ChildEnd } | undefined> {
  const { store, childInputs, clock, random } = ports;
  const plan = await planFor(ports, start.planId);
  const lane = laneFor(ports, plan, start.input);
  const isChecked = childInputs !== undefined && start.parent.part !== true;
  if (start.refused === undefined && !isChecked && !('problem' in lane)) return undefined;
  const problem =
    start.refused?.message ??
    (isChecked ? await childInputs.problem(plan, start.input) : undefined) ??
    ('problem' in lane ? lane.problem : undefined);
  if (problem === undefined) return undefined;
  const holder = placeHolder(plan, start, freshOf(random), clock.now());
  const existing = await store.create(holder);
  // The process that created the placeholder may have died before it recorded why.
  if (existing !== 'written' && !isPlaceHolder(existing)) return undefined;
  const message = `workflow '${plan.workflow}' does not accept the input of its execution: ${problem}`;
  return {
    failure: start.refused ?? { code: 'input-refused', message },
    end: endOf(plan, { execution: holder, steps: {} }),
  };
}

/** @returns the child's end if it exists and has ended because its place was taken */
async function startChild(
  ports: Ports,
  start: ChildStart,
  reconcile: Reconcile,
): Promise<ChildEnd | undefined> {
  const { store, random, clock } = ports;
  const plan = await planFor(ports, start.planId);
  const now = clock.now();
  const execution = newExecution(
    plan,
    {
      id: start.id,
      plan: start.planId,
      input: start.input,
      inputHash: '',
      parent: start.parent,
      ...defined({ fairGroup: start.fairGroup, tags: start.tags }),
      ...laneFor(ports, plan, start.input),
      ...callbackKeysOf(plan, () => random.id()),
      ...freshOf(random),
    },
    now,
  );
  const stored =
    ports.largeValues === undefined ? execution : await executionApart(ports.largeValues, execution);
  const existing = await store.create(stored);
  if (existing !== 'written') {
    const { restartedAfter: again } = start;
    return again !== undefined && isToGoOn(existing, again)
      ? goOn(ports, plan, start.id, again, reconcile)
      : endOfExisting(ports, plan, existing);
  }
  ports.log.note(
    { what: 'started', executionId: start.id, detail: execution.workflow },
    originOf(execution.workflow, execution),
  );
  const { executionId, since } = start.parent;
  if (since !== undefined && !(await isStillThere(ports, { id: executionId, startedAt: since }, now)))
    return stopChild(ports, start, 'stop', reconcile);
  await callSupervisor(ports, execution.wakeAt);
  const known = { state: { execution, steps: {} }, fresh: true, readAt: now };
  await carryOn(ports, plan, start.id, reconcile, known);
  return undefined;
}

/**
 * Carries on an execution that is in the table with its wake time, so that a supervisor can do it if this
 * fails.
 * @param known the state of a new execution
 */
async function carryOn(
  ports: Ports,
  plan: Plan,
  executionId: string,
  reconcile: Reconcile,
  known?: Known,
): Promise<void> {
  const start = { by: 'agent', affected: 'all', forParent: true, ...defined({ known }) } as const;
  await reconcile(ports, plan, executionId, start).catch(() => {
    ports.log.note({ what: known === undefined ? 'follow-up-failed' : 'first-sends-failed', executionId });
  });
}

/** Makes a failed child go on where it failed. @returns its end if it cannot, or has ended again */
async function goOn(
  ports: Ports,
  plan: Plan,
  id: string,
  endVersion: number,
  reconcile: Reconcile,
): Promise<ChildEnd | undefined> {
  for (;;) {
    const state = await ports.store.read(id);
    if (state === undefined) return undefined;
    const event = { type: 'restart', endVersion, ...decisionInputsOf(ports) } as const;
    const deciding = decideWith(ports, plan, state, event);
    const { decision } = deciding instanceof Promise ? await deciding : deciding;
    if (decision.write === undefined) return endIn(plan, state);
    if ((await commit(ports, decision, state.execution)) === 'conflict') continue;
    await carryOn(ports, plan, id, reconcile);
    return undefined;
  }
}

async function endOfExisting(ports: Ports, plan: Plan, execution: Execution): Promise<ChildEnd | undefined> {
  if (!hasEnd(execution)) return undefined;
  const state = await ports.store.read(execution.id);
  return state && endIn(plan, state);
}

/** A child's end; undefined while it has not ended, or if it goes on after its on-failure steps. */
const endIn = (plan: Plan, state: Snapshot): ChildEnd | undefined =>
  hasEnd(state.execution) && state.execution.end?.again !== true ? endOf(plan, state) : undefined;

type Stopping = Extract<Next, { readonly kind: 'stop-children' }>;

async function stopped(ports: Ports, how: Stopping, reconcile: Reconcile): Promise<ChildrenDone> {
  const { step, planned, starts, goal, below } = how;
  const ends = await sideBySide(starts, SIDE_BY_SIDE, (start) => stopChild(ports, start, goal, reconcile));
  return { type: 'stopped', step, planned, goal, below, ended: byIndex(starts, ends) };
}

/** @returns the child's end if it has ended; a child that is being undone notifies its parent later */
async function stopChild(
  ports: Ports,
  start: ChildStart,
  goal: StopGoal,
  reconcile: Reconcile,
): Promise<ChildEnd | undefined> {
  const { store, clock } = ports;
  const planned = await planFor(ports, start.planId);
  for (;;) {
    const readAt = clock.now();
    const state = await store.read(start.id);
    if (state === undefined || isOfEarlierLife(state.execution, start.parent)) {
      const holder = placeHolder(planned, start, freshOf(ports.random), readAt);
      if ((await store.create(holder)) === 'written') return endOf(planned, { execution: holder, steps: {} });
      continue;
    }
    // The parent does not have the plan of a child whose list is lost.
    const { plan: planId } = state.execution;
    const plan = planId === start.planId ? planned : await planFor(ports, planId);
    const ended = hasEnd(state.execution) ? endOf(plan, state) : undefined;
    const mayGoOn = start.restartedAfter !== undefined && isToGoOn(state.execution, start.restartedAfter);
    if (ended !== undefined && goal !== 'recall' && !mayGoOn) return ended;
    const about = { undo: goal !== 'leave', ...defined({ endVersion: start.restartedAfter }) };
    const event = { type: 'stop', ...about, ...decisionInputsOf(ports) } as const;
    const deciding = decideWith(ports, plan, state, event);
    const { decision } = deciding instanceof Promise ? await deciding : deciding;
    if (decision.write === undefined) return ended;
    if ((await commit(ports, decision, state.execution)) === 'conflict' || mayGoOn) continue;
    await carryOn(ports, plan, start.id, reconcile);
    return undefined;
  }
}

async function gathered(
  ports: Ports,
  { ids, rounds }: Extract<Next, { readonly kind: 'gather' }>,
): Promise<Omit<Extract<ChildrenDone, { readonly type: 'gathered' }>, 'type' | 'step'>> {
  const all = await sideBySide(ids, SIDE_BY_SIDE, (id) => ports.store.readExecution(id));
  const ends = rounds === undefined ? all : all.filter((end) => end?.status === 'succeeded');
  // A wrong value in place of an answer would make `until` end the rounds early, or never.
  if (rounds !== undefined && ends.length !== rounds)
    throw new Error(`of ${rounds} rounds ${ends.length} could be read`);
  const bytesOf = (end: Execution | undefined): number =>
    end?.outputBytes ??
    end?.outputAt?.bytes ??
    (end?.output === undefined ? 0 : utf8Bytes(JSON.stringify(end.output)));
  const bytes = ends.reduce((sum, end) => sum + bytesOf(end), 0);
  // A larger total is not kept, so do not load it.
  const isTooMuch = bytes > MAX_WHOLE_BYTES;
  const answers = await sideBySide(
    ends,
    SIDE_BY_SIDE,
    async (end): Promise<Answer> =>
      end === undefined || (isTooMuch && end.outputAt !== undefined) ? {} : answerOf(ports, end),
  );
  const lostBytes = answers.find((one) => one.lostBytes !== undefined)?.lostBytes;
  return { outputs: answers.map(({ output }) => output), bytes, ...defined({ lostBytes }) };
}

/**
 * Records in the parent that the execution has ended, and carries the parent on unless the caller does.
 * @throws the error of a port; the execution then keeps its wake time and notifies its parent again
 */
export async function notifyParent(
  ports: Ports,
  news: ParentNotice,
  reconcile: Reconcile | undefined,
): Promise<void> {
  const { executionId: id, step } = news.parent;
  for (let lap = 0; lap < MAX_TELL_LAPS; lap += 1) {
    const found =
      (await noticedInPart(ports, news)) ?? (await noticedOn(ports, news, await ports.store.read(id)));
    if (found?.decision.write === undefined) return;
    const { plan, decision, before } = found;
    if ((await commit(ports, decision, before)) === 'written') {
      if (decision.next.kind === 'idle') return;
      await reconcile?.(ports, plan, id, { by: 'agent', affected: [step] }).catch(() => {
        ports.log.note({ what: 'follow-up-failed', executionId: id, step });
      });
      return;
    }
    // Siblings end at the same time: pause at random.
    await ports.clock.sleep(Math.floor(ports.random.number() * TELL_RETRY_MS * (lap + 1)));
  }
  throw new Error(`the parent changed at every try to report to it`);
}

interface Heard {
  readonly plan: Plan;
  readonly before: Execution;
  readonly decision: Decision;
}

async function noticedOn(
  ports: Ports,
  { parent, end }: ParentNotice,
  state: Snapshot | undefined,
): Promise<Heard | undefined> {
  if (state === undefined || isOfEarlierLife({ parent }, { ...parent, since: state.execution.startedAt }))
    return undefined;
  const plan = await planFor(ports, state.execution.plan);
  const { step, index, epoch = 1, try: number = 1 } = parent;
  const about = { step, index, epoch, try: number, end };
  const event = { type: 'child-ended', ...about, ...decisionInputsOf(ports) } as const;
  const deciding = decideWith(ports, plan, state, event);
  const { decision } = deciding instanceof Promise ? await deciding : deciding;
  return { plan, before: state.execution, decision };
}

/**
 * Records an end in a long list on two records alone, because reading the whole execution for each end costs
 * too much. An end that requires further work is decided on the whole execution.
 */
async function noticedInPart(ports: Ports, news: ParentNotice): Promise<Heard | undefined> {
  const { executionId, step, index, part } = news.parent;
  if (part !== true || index < LONG_LIST) return undefined;
  const found = await noticedOn(ports, news, await ports.store.readSteps?.(executionId, [step], false));
  const isEnough = found?.decision.write !== undefined && found.decision.next.kind === 'idle';
  return isEnough ? found : undefined;
}

function byIndex(
  starts: readonly ChildStart[],
  ends: readonly (ChildEnd | undefined)[],
): Record<string, ChildEnd> {
  const known = starts.flatMap(({ parent }, at) => {
    const end = ends[at];
    return end === undefined ? [] : [[parent.index, end] as const];
  });
  return Object.fromEntries(known);
}
