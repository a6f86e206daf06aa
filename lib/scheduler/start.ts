/**
 * The scheduler: starts executions and reads them for callers.
 *
 * Owns: the order of a start (plan, execution, messages), idempotent starts, and the codes of its refusals.
 * Does not own: operators' commands (`commands.ts`, `incidents.ts`), HTTP (`api/`), the state machine
 * (`core/`).
 *
 * S11 same key → same execution; the same key with another body is refused.
 */

import { callbackKeysOf, newExecution } from '../core/execution/start.ts';
import { bornPaused } from '../core/holds/workflow-pause.ts';
import { isBuiltIn } from '../core/plan/built-in.ts';
import { fairValueOf } from '../core/plan/fair.ts';
import { asksAnother, type Plan } from '../core/plan/plan.ts';
import type { Workflow } from '../core/plan/workflow.ts';
import type { Ports } from '../core/ports.ts';
import { type Caller, personOf } from '../core/values/caller.ts';
import { isSteadfastError, refuse, SteadfastError } from '../core/values/errors.ts';
import { canonicalJson, type Json, jsonProblem, utf8Bytes } from '../core/values/json.ts';
import { defined } from '../core/values/defined.ts';
import { isExecutionId } from '../core/values/names.ts';
import { LARGE_VALUE_BYTES } from '../core/records/large-values.ts';
import type { People } from '../core/records/people.ts';
import type { SentMessage } from '../core/records/mailbox.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Execution } from '../core/records/state.ts';
import { cut } from '../core/values/text.ts';
import { lifeOf } from '../core/step/effect-key.ts';
import { type PlanCache, planOf } from '../engine/plans.ts';
import { laneFor } from '../engine/lane-of-start.ts';
import { reconcile } from '../engine/reconcile.ts';
import { withConditions } from '../engine/large-values.ts';
import { executionApart } from '../engine/values-apart.ts';
import { fitting, jsonLimitsOf, madeJson, mostValueBytes, refuseLonger } from '../engine/schema.ts';
import { callSupervisor } from '../engine/wake-up.ts';
import { childInputsOf } from './child-inputs.ts';
import { pausedStarts, type KnownPause } from './paused-starts.ts';

/** Hashes text to `[a-z0-9]`: equal texts give equal ids, different texts different ones. */
export type Hash = (text: string) => string;

export interface Scheduler {
  readonly ports: Ports;
  readonly hash: Hash;
  /** Time-ordered ids for executions started without a key. */
  readonly newId: () => string;
  readonly workflows: ReadonlyMap<string, Registered>;
  readonly plans: PlanCache;
  /** Plans this process has seen in the table. */
  readonly published: Set<string>;
  /** What this process knows of each workflow's pause, by workflow. */
  readonly pauses: Map<string, KnownPause>;
  /** Whether notifications of an execution can be sent to the `callbackUrl` of its start. */
  readonly notifies?: boolean;
  /** Names of the IAM roles whose sessions are named after persons. */
  readonly personalRoles: ReadonlySet<string>;
}

export interface Registered {
  readonly workflow: Workflow;
  readonly planHash: string;
}

export function createScheduler(
  ports: Ports,
  workflows: readonly Workflow[],
  ids: { readonly hash: Hash; readonly newId: () => string },
  personalRoles: ReadonlySet<string> = new Set(),
  notifies = false,
): Scheduler {
  const registered = workflows.map((workflow): [string, Registered] => [
    workflow.name,
    { workflow, planHash: ids.hash(canonicalJson(workflow.plan as unknown as Json)) },
  ]);
  const childInputs = childInputsOf(workflows, ports);
  return {
    ports: childInputs === undefined ? ports : { ...ports, childInputs },
    ...ids,
    workflows: new Map(registered),
    plans: new Map(),
    published: new Set(),
    pauses: new Map(),
    personalRoles,
    notifies,
  };
}

export interface StartRequest {
  readonly workflow: string;
  readonly input: Json;
  readonly idempotencyKey?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** 0 to 9, only for a workflow with a lane: the higher, the sooner it gets a place. @default 0 */
  readonly priority?: number;
  /** The execution that this one replaces; it must exist. */
  readonly replaces?: string;
  /** The address to which its end and its questions are sent. */
  readonly callbackUrl?: string;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
}

/**
 * Starts an execution, or returns the one that the same key started. While the workflow is paused, the
 * execution starts paused.
 * @throws SteadfastError `unknown-workflow`, `unknown-execution` (the one to replace), `bad-input` (details:
 * the schema's issues), `bad-concurrency`, `bad-priority`, `no-callback-urls`, `key-reused`, `unknown-caller`
 */
export async function start(scheduler: Scheduler, request: StartRequest): Promise<Execution> {
  try {
    return await startOf(scheduler, workflowOf(scheduler, request.workflow), request);
  } catch (error) {
    const isGone = isSteadfastError(error) && REFUSED_NOW.has(error.code);
    const existing = isGone ? await startedBefore(scheduler, request) : undefined;
    if (existing === undefined) throw error;
    return sameStart(existing, { workflow: request.workflow, inputHash: inputHashOf(scheduler, request) });
  }
}

/**
 * Codes with which this release may refuse a start that an earlier one accepted: its repeat still is the same
 * start (S11).
 */
const REFUSED_NOW: ReadonlySet<string> = new Set([
  'bad-concurrency',
  'bad-priority',
  'no-callback-urls',
  'bad-input',
  'too-large',
  'unknown-caller',
  'unknown-execution',
  'unknown-workflow',
]);

const startedBefore = async (
  scheduler: Scheduler,
  { workflow, input, idempotencyKey: key }: StartRequest,
): Promise<Execution | undefined> =>
  key === undefined || jsonProblem(input, jsonLimitsOf(scheduler.ports)) !== undefined
    ? undefined
    : scheduler.ports.store.readExecution(idOfKey(scheduler, workflow, key));

const inputHashOf = (
  { hash }: Scheduler,
  { input, tags = {}, replaces, priority, callbackUrl }: Omit<StartRequest, 'workflow' | 'idempotencyKey'>,
): string => hash(canonicalJson({ input, tags, ...defined({ replaces, priority, callbackUrl }) }));

/**
 * Starts an execution of any workflow, including the deployment's own.
 * @param first the message that is written with it. If the execution exists, whatever its input, it is
 * returned and nothing is written
 */
export async function startOf(
  scheduler: Scheduler,
  registered: Registered,
  request: Omit<StartRequest, 'workflow'>,
  first?: (execution: Execution) => SentMessage,
): Promise<Execution> {
  const { ports } = scheduler;
  const { workflow, planHash } = registered;
  // Before the schema is called, which may change its input.
  const inputHash = inputHashOf(scheduler, request);
  const misfit = `input does not fit workflow '${workflow.name}'`;
  const value = await fitting(ports, workflow.input, request.input, 'bad-input', misfit);
  const { input, bytes } = acceptedInput(workflow.name, value, ports);
  const { idempotencyKey: key, tags, replaces, callbackUrl, by } = request;
  if (callbackUrl !== undefined && !scheduler.notifies) throw noCallbackUrls();
  const people = firstPeople(scheduler, workflow.plan, by);
  const lane = laneOfStart(ports, workflow.plan, input, request.priority);
  if (replaces !== undefined && !(await exists(scheduler, replaces))) throw unknownExecution(replaces);
  await publishPlan(scheduler, registered);
  const held = await pausedStarts(ports, scheduler.pauses, workflow.name);
  const now = ports.clock.now();
  const begun = newExecution(
    workflow.plan,
    {
      id: key === undefined ? scheduler.newId() : idOfKey(scheduler, workflow.name, key),
      life: lifeOf(ports.random.id()),
      plan: planHash,
      input,
      inputHash,
      ...fairGroupOf(scheduler, workflow.plan, input),
      ...lane,
      ...defined({ tags, replaces, callbackUrl, startedBy: by }),
      ...people,
      ...callbackKeysOf(workflow.plan, () => ports.random.id()),
      writeId: ports.random.id(),
    },
    now,
  );
  const execution = held === undefined ? begun : bornPaused(workflow.plan, begun, held);
  const isApart = bytes > (ports.largeValues?.above ?? LARGE_VALUE_BYTES);
  // A repeated start leaves no second copy of a large input.
  const before = key !== undefined && isApart ? await ports.store.readExecution(execution.id) : undefined;
  const there = (one: Execution): Execution => (first === undefined ? sameStart(one, execution) : one);
  if (before !== undefined) return there(before);
  const stored =
    ports.largeValues === undefined ? execution : await executionApart(ports.largeValues, execution);
  const existing = await ports.store.create(stored, key === undefined, first?.(execution));
  if (existing !== 'written') return there(existing);
  ports.log.note(
    { what: 'started', executionId: execution.id, detail: workflow.name },
    { workflow: workflow.name },
  );
  // Nothing is sent for a paused execution, and no supervisor is needed soon.
  if (held !== undefined) return execution;
  const known = { state: { execution, steps: {} }, fresh: true, readAt: now };
  await Promise.all([firstSends(scheduler, workflow.plan, known), callSupervisor(ports, execution.wakeAt)]);
  return execution;
}

const noCallbackUrls = (): SteadfastError =>
  refuse(
    'no-callback-urls',
    'nothing here sends notifications to a callbackUrl: name the secret that signs them (callbackUrls of the construct, STEADFAST_EVENTS_SECRET of serve), or leave it out',
  );

const MAX_PRIORITY = 9;

/** @throws SteadfastError `bad-concurrency`, `bad-priority` */
function laneOfStart(
  ports: Ports,
  plan: Plan,
  input: Json,
  priority: number | undefined,
): Pick<Execution, 'lane'> {
  const found = laneFor(ports, plan, input);
  if ('problem' in found)
    throw refuse('bad-concurrency', `the input of workflow '${plan.workflow}': ${found.problem}`);
  if (priority === undefined) return found;
  if (found.lane === undefined)
    throw refuse(
      'bad-priority',
      `workflow '${plan.workflow}' has no lane, so a priority changes nothing; leave it out`,
    );
  if (Number.isInteger(priority) && priority >= 0 && priority <= MAX_PRIORITY)
    return { lane: { ...found.lane, priority } };
  throw refuse('bad-priority', `the priority is ${priority}; allowed: 0 to ${MAX_PRIORITY}`);
}

const FAIR_GROUP_CHARS = 16;

/** A hash of the group: no value of an input leaves the table. */
function fairGroupOf({ hash }: Scheduler, { fairBy }: Plan, input: Json): Pick<Execution, 'fairGroup'> {
  const value = fairValueOf(fairBy, input);
  return value === undefined ? {} : { fairGroup: hash(`fair\n${value}`).slice(0, FAIR_GROUP_CHARS) };
}

/**
 * The people of a new execution, if its plan asks for another person somewhere; a trigger is not a person.
 * @throws SteadfastError `unknown-caller`
 */
function firstPeople(
  { personalRoles }: Scheduler,
  plan: Plan,
  by: Caller | undefined,
): { readonly people?: People } {
  if (!asksAnother(plan)) return {};
  const person = personOf(vouchedFor(by, `starts workflow '${plan.workflow}'`), personalRoles);
  return { people: person === undefined ? {} : { [person]: 'started' } };
}

/** S11 the id of every start of the workflow with this key. */
export const idOfKey = ({ hash }: Pick<Scheduler, 'hash'>, workflow: string, key: string): string =>
  hash(`${workflow}\n${key}`);

/** @throws SteadfastError `unknown-caller` */
export function vouchedFor(by: Caller | undefined, what: string): Caller {
  if (by !== undefined) return by;
  throw refuse(
    'unknown-caller',
    `the person who ${what} must be known, because an approval in it must be another person's; nobody says who calls: give the API an authorizer for IAM or JWT`,
  );
}

/**
 * Checks the schema's result: it must be plain JSON and not too large, because it is stored and read back.
 */
function acceptedInput(
  workflow: string,
  value: unknown,
  ports: Ports,
): { readonly input: Json; readonly bytes: number } {
  const input = madeJson(
    value,
    ports,
    'bad-input',
    `the input of workflow '${workflow}', as its schema makes it,`,
  );
  const bytes = utf8Bytes(JSON.stringify(input));
  // Measures after the schema has filled in its defaults.
  refuseLonger('input', bytes, mostValueBytes(ports));
  return { input, bytes };
}

/**
 * Sends the first messages. The execution exists in any case: if they are not sent now, a supervisor sends
 * them at the wake time.
 */
async function firstSends(
  { ports }: Scheduler,
  plan: Plan,
  known: { state: Snapshot; fresh: boolean; readAt: number },
): Promise<void> {
  try {
    await reconcile(ports, plan, known.state.execution.id, { by: 'agent', affected: 'all', known });
  } catch {
    ports.log.note({ what: 'first-sends-failed', executionId: known.state.execution.id });
  }
}

function sameStart(existing: Execution, wanted: Pick<Execution, 'inputHash' | 'workflow'>): Execution {
  if (existing.inputHash === wanted.inputHash && existing.workflow === wanted.workflow) return existing;
  throw refuse(
    'key-reused',
    `this idempotency key has started execution ${existing.id} with another body; use a new key for a new start`,
    { executionId: existing.id },
  );
}

async function publishPlan(scheduler: Scheduler, { workflow, planHash }: Registered): Promise<void> {
  if (scheduler.published.has(planHash)) return;
  await scheduler.ports.store.writePlan(planHash, workflow.plan);
  scheduler.published.add(planHash);
  scheduler.plans.set(planHash, workflow.plan);
}

/** @throws SteadfastError `unknown-workflow` */
export function workflowOf(scheduler: Scheduler, name: string): Registered {
  const registered = scheduler.workflows.get(name);
  if (registered !== undefined) return registered;
  if (isBuiltIn(name))
    throw refuse(
      'unknown-workflow',
      `'${cut(name, 60)}' cannot be started or paused like other workflows: make a bulk action by POST /bulk (steadfast bulk)`,
    );
  const known = [...scheduler.workflows.keys()].join(', ') || 'none';
  throw refuse('unknown-workflow', `there is no workflow '${cut(name, 60)}'; there are: ${known}`);
}

export interface Shown {
  readonly state: Snapshot;
  readonly plan: Plan;
}

/** @throws SteadfastError `unknown-execution` */
export async function show(scheduler: Scheduler, executionId: string): Promise<Shown> {
  const state = isExecutionId(executionId) ? await scheduler.ports.store.read(executionId) : undefined;
  if (state === undefined) throw unknownExecution(executionId);
  const plan = await planOf(scheduler.ports.store, scheduler.plans, state.execution.plan);
  return { state: await withConditions(scheduler.ports, plan, state), plan };
}

const exists = async ({ ports }: Scheduler, id: string): Promise<boolean> =>
  isExecutionId(id) && (await ports.store.readExecution(id)) !== undefined;

export const unknownExecution = (id: string): SteadfastError =>
  refuse('unknown-execution', `there is no execution '${cut(id, 70)}'`);
