/**
 * Messages to executions: accepted once each, in order, for the steps that take them.
 *
 * Owns: the codes of its refusals, the order of a send (message with mailbox, then evaluation), a repeated
 * send. Does not own: which message a step takes (`core/waiting/waits.ts`), the records
 * (`core/records/mailbox.ts`).
 *
 * M1 a written message is taken even if the sender dies: a supervisor finds the mailbox by its wake time. M2
 * an id counts once: a send repeated with it gets the same answer as the first. M4 a message that no step can
 * take is refused, even if the execution ended while it was being written.
 */

import { graphOf, isRepeated, messagesIn, messagesOf, type Plan } from '../core/plan/plan.ts';
import { workflowNamed } from '../core/plan/workflow.ts';
import { restartProblemOf } from '../core/operators/retry.ts';
import type { Mailboxes, Ports } from '../core/ports.ts';
import { MAX_ROUND_INPUT_BYTES } from '../core/records/children.ts';
import {
  type ExecutionMessage,
  type Mailbox,
  type MailboxEntry,
  MOST_BYTES,
  MOST_ENTRIES,
  MOST_MESSAGE_BYTES,
} from '../core/records/mailbox.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { isSatisfied, isUndecided, type Step } from '../core/records/state.ts';
import { receivedBy } from '../core/waiting/waits.ts';
import { type Caller, callerText } from '../core/values/caller.ts';
import { isSteadfastError, refuse, type SteadfastError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { type Json, utf8Bytes } from '../core/values/json.ts';
import { isExecutionId } from '../core/values/names.ts';
import { cut } from '../core/values/text.ts';
import { hasOpened } from '../core/waiting/child-retry.ts';
import { roundOf } from '../core/waiting/rounds.ts';
import { planOf } from '../engine/plans.ts';
import { reconcile } from '../engine/reconcile.ts';
import { fitting, madeJson, refuseLonger } from '../engine/schema.ts';
import {
  idOfKey,
  type Scheduler,
  type Shown,
  startOf,
  type StartRequest,
  unknownExecution,
  workflowOf,
} from './start.ts';

/** Which execution: by its id, or by the key that it was started with. */
export type Addressee = { readonly executionId: string; readonly workflow?: never } | ByKey;

interface ByKey {
  readonly workflow: string;
  readonly key: string;
  /** If no execution was started with the key, how to start one together with the message. */
  readonly startWith?: FirstStart;
}

type FirstStart = Omit<StartRequest, 'workflow' | 'idempotencyKey' | 'by'>;

export interface MessageRequest {
  readonly name: string;
  readonly body: Json;
  /** A message that is repeated with this id counts once. @default a new id for each call */
  readonly id?: string;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
}

/** A message that was accepted. */
export interface Accepted {
  readonly executionId: string;
  readonly id: string;
  /** The order of acceptance among all messages to the execution, from 1. */
  readonly order: number;
  readonly at: number;
}

/** If the sender has died, a supervisor evaluates the mailbox after this time. */
const WAKE_MS = 5_000;
/** The longest record of a mailbox, because a thousand long ids could exceed the limit of a record. */
const MOST_RECORD_BYTES = 350_000;
/** Tries against other senders, with growing pauses: some four seconds in all. */
const MOST_TRIES = 10;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Accepts a message, and evaluates the execution if a step waits for it.
 * @throws SteadfastError `unknown-execution`, `unknown-workflow`, `unknown-message` (details: the names in
 * the plan), `bad-message` (details: the schema's issues), `too-large`, `ended`, `mailbox-full`, `busy`; if
 * it starts an execution, the codes of `start` except `key-reused`
 */
export async function sendMessage(
  scheduler: Scheduler,
  to: Addressee,
  request: MessageRequest,
): Promise<Accepted> {
  const { ports } = scheduler;
  const { mailboxes } = ports;
  if (mailboxes === undefined) throw refuse('unknown-message', 'no messages are accepted here');
  const id = request.id ?? scheduler.newId();
  let shown = await addressed(scheduler, to, request.name);
  if (shown === undefined && to.workflow !== undefined && to.startWith !== undefined) {
    const started = await startedWith(scheduler, { ...to, startWith: to.startWith }, { ...request, id });
    if (started !== undefined) return started;
    shown = await addressed(scheduler, to, request.name);
  }
  if (shown === undefined) throw nobody(scheduler, to);
  const sending = { scheduler, mailboxes, shown, id };
  const { message, mailbox } = await acceptedOnce(sending, request);
  if (mailbox !== undefined) return answerOf(sending, message, await evaluated(sending, mailbox));
  // A message accepted before the end gets the same answer after it.
  const { endedAt = Number.POSITIVE_INFINITY } = shown.state.execution;
  return answerOf(sending, message, message.at < endedAt ? undefined : shown.state);
}

interface Sending {
  readonly scheduler: Scheduler;
  readonly mailboxes: Mailboxes;
  readonly shown: Shown;
  readonly id: string;
}

const sentBefore = ({ mailboxes, shown, id }: Sending): Promise<ExecutionMessage | undefined> =>
  mailboxes.readMessage(shown.state.execution.id, shown.state.execution.life, id);

interface Written {
  readonly message: ExecutionMessage;
  /** The mailbox written with the message; absent if the message existed. */
  readonly mailbox?: Mailbox;
}

/** A message that would be refused now may have been accepted before: then it is the same message. */
async function acceptedOnce(sending: Sending, request: MessageRequest): Promise<Written> {
  const { plan, state } = sending.shown;
  try {
    refuseUnknown(plan, request.name);
    refuseEnded(plan, state, request.name);
    const body = await acceptedBody(sending.scheduler, plan, request);
    return await accept(sending, { ...request, body });
  } catch (error) {
    const before = isSteadfastError(error) ? await sentBefore(sending) : undefined;
    if (before === undefined) throw error;
    return { message: before };
  }
}

/**
 * Starts an execution with its first message, in one write.
 * @returns undefined if another start came first
 */
async function startedWith(
  scheduler: Scheduler,
  { workflow, key, startWith }: ByKey & { readonly startWith: FirstStart },
  request: MessageRequest & { readonly id: string },
): Promise<Accepted | undefined> {
  const { ports } = scheduler;
  const { name, id, by } = request;
  const registered = workflowOf(scheduler, workflow);
  const { plan } = registered.workflow;
  refuseUnknown(plan, name);
  const body = await acceptedBody(scheduler, plan, request);
  let message: ExecutionMessage | undefined;
  const start = { ...startWith, idempotencyKey: key, ...defined({ by }) };
  const execution = await startOf(
    scheduler,
    registered,
    start,
    ({ id: executionId, life, startedAt: at }) => {
      const order = 1;
      message = { executionId, life, id, name, order, at, body, ...defined({ by: by && callerText(by) }) };
      // A step reads it when its turn comes, so no supervisor need find it.
      const { wakeAt: _, ...mailbox } = withMessage(ports, undefined, message);
      return { mailbox, message };
    },
  );
  if (message?.life !== execution.life) return undefined;
  return { executionId: execution.id, id, order: message.order, at: message.at };
}

/**
 * Reads the execution with the steps that take such a message, or, if it has failed, all steps; undefined if
 * there is none.
 */
async function addressed(scheduler: Scheduler, to: Addressee, name: string): Promise<Shown | undefined> {
  const { store } = scheduler.ports;
  const id = to.workflow === undefined ? to.executionId : idOfKey(scheduler, to.workflow, to.key);
  const execution = isExecutionId(id) ? await store.readExecution(id) : undefined;
  if (execution === undefined) return undefined;
  const plan = await planOf(store, scheduler.plans, execution.plan);
  const taking = takingSteps(plan, name);
  const isPart = execution.status !== 'failed' && store.readSteps !== undefined;
  const state = isPart ? await store.readSteps?.(id, taking, false) : await store.read(id);
  return state && { state, plan };
}

const takingSteps = (plan: Plan, name: string): readonly string[] =>
  graphOf(plan)
    .receives.filter((step) => messagesIn(step).includes(name))
    .map((step) => step.name);

function nobody(scheduler: Scheduler, to: Addressee): SteadfastError {
  if (to.workflow === undefined) return unknownExecution(to.executionId);
  workflowOf(scheduler, to.workflow);
  return refuse(
    'unknown-execution',
    `no execution of workflow '${to.workflow}' was started with the key '${cut(to.key, 60)}'`,
  );
}

/** @throws SteadfastError `unknown-message` */
function refuseUnknown(plan: Plan, name: string): void {
  const messages = messagesOf(plan);
  if (messages.includes(name)) return;
  const known = messages.length === 0 ? 'it takes none' : `it takes: ${messages.join(', ')}`;
  throw refuse(
    'unknown-message',
    `an execution of this plan of workflow '${plan.workflow}' takes no message '${cut(name, 60)}'; ${known}`,
    { messages },
  );
}

/** @throws SteadfastError `ended` */
function refuseEnded(plan: Plan, state: Snapshot, name: string): void {
  if (mayBeTaken(plan, state, name)) return;
  const { id, status } = state.execution;
  const why = isUndecided(status) ? `it has taken its last message '${name}'` : `it is ${status}`;
  throw refuse('ended', `no step of execution ${id} can take the message any more: ${why}`, { status });
}

/** True if one of the execution's steps may still take such a message, even after a retry. */
function mayBeTaken(plan: Plan, state: Snapshot, name: string): boolean {
  const { status } = state.execution;
  const mayGoOn = isUndecided(status) || (status === 'failed' && restartProblemOf(plan, state) === undefined);
  return mayGoOn && takingSteps(plan, name).some((step) => mayTake(plan, state.steps[step], step, name));
}

/**
 * True if the step may still take the message. A step with rounds may, as long as a round may begin with it.
 */
function mayTake(plan: Plan, record: Step | undefined, name: string, message: string): boolean {
  const step = graphOf(plan).step.get(name);
  if (!isRepeated(step) || isSatisfied(record)) return !isSatisfied(record);
  if (record?.children?.rounds?.isOver === true) return false;
  const { first, message: later, atMost } = step.rounds;
  const next = roundOf(record?.children) + (hasBegun(record) ? 1 : 0);
  return (next === 1 && first?.name === message) || (later?.name === message && Math.max(next, 2) <= atMost);
}

/** True if the current round waits for no message, and will not after a retry of the execution. */
function hasBegun({ status, children }: Partial<Step> = {}): boolean {
  const { done = 0, awaits } = children?.rounds ?? {};
  if (children === undefined || awaits !== undefined) return false;
  const isKept = done > 0 || hasOpened(children);
  return isKept || (status !== 'failed' && status !== 'fenced');
}

/** @throws SteadfastError `too-large`, `bad-message` */
async function acceptedBody(
  scheduler: Scheduler,
  plan: Plan,
  { name, body }: Pick<MessageRequest, 'name' | 'body'>,
): Promise<Json> {
  const most = mostBytesOf(scheduler, plan, name);
  refuseLonger('body', bytesOf(body), most);
  const workflows = [...scheduler.workflows.values()].map(({ workflow }) => workflow);
  const schema = workflowNamed(workflows, plan.workflow)?.messages?.[name];
  if (schema === undefined) return body;
  const { ports } = scheduler;
  const value = await fitting(ports, schema, body, 'bad-message', `body does not fit message '${name}'`);
  const made = madeJson(value, ports, 'bad-message', 'the body, as its schema makes it,');
  refuseLonger('body', bytesOf(made), most);
  return made;
}

const bytesOf = (body: Json): number => utf8Bytes(JSON.stringify(body));

/** Without a place outside the table, the step's record contains its round's input, which must be smaller. */
function mostBytesOf({ ports }: Scheduler, plan: Plan, name: string): number {
  const isOfRounds = takingSteps(plan, name).every((step) => isRepeated(graphOf(plan).step.get(step)));
  return isOfRounds && ports.largeValues === undefined ? MAX_ROUND_INPUT_BYTES : MOST_MESSAGE_BYTES;
}

/** @throws SteadfastError `mailbox-full`, `busy` */
async function accept(
  { scheduler: { ports }, mailboxes, shown, id }: Sending,
  { name, body, by }: MessageRequest,
): Promise<Written> {
  const { id: executionId, life } = shown.state.execution;
  for (let tries = 1; ; tries += 1) {
    const before = await mailboxes.readMailbox(executionId, life);
    const message: ExecutionMessage = {
      executionId,
      life,
      id,
      name,
      order: (before?.accepted ?? 0) + 1,
      at: ports.clock.now(),
      body,
      ...defined({ by: by && callerText(by) }),
    };
    const mailbox = withMessage(ports, before, message);
    if ((await mailboxes.accept(mailbox, message)) === 'written') return { message, mailbox };
    const known = await mailboxes.readMessage(executionId, life, id);
    if (known !== undefined) return { message: known };
    if (tries === MOST_TRIES)
      throw refuse('busy', `others send to execution ${executionId} at this moment: send it again`);
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
    await ports.clock.sleep(ports.random.number() * pauseMs);
  }
}

/** @throws SteadfastError `mailbox-full` */
function withMessage(
  { clock, random }: Ports,
  before: Mailbox | undefined,
  { executionId, life, id, name, order, at, body = null }: ExecutionMessage,
): Mailbox {
  const entry: MailboxEntry = { order, name, id, at, bytes: bytesOf(body) };
  const entries = [...(before?.entries ?? []), entry];
  const bytes = entries.reduce((sum, one) => sum + one.bytes, 0);
  const isFull = entries.length > MOST_ENTRIES || bytes > MOST_BYTES;
  if (isFull || utf8Bytes(JSON.stringify(entries)) > MOST_RECORD_BYTES)
    throw refuse(
      'mailbox-full',
      `execution ${executionId} has ${entries.length - 1} messages that no step has taken yet; send this one once some are taken`,
    );
  return {
    executionId,
    life,
    version: (before?.version ?? 0) + 1,
    writeId: random.id(),
    entries,
    accepted: order,
    wakeAt: clock.now() + WAKE_MS,
  };
}

/**
 * Evaluates the execution now. The message is stored in any case: otherwise a supervisor evaluates at the
 * wake time.
 * @returns the state afterwards; undefined if it is not known
 * @throws SteadfastError `unknown-execution` if it was erased meanwhile, or has another life under its key;
 * the audit then removes the message
 */
async function evaluated({ scheduler, shown }: Sending, mailbox: Mailbox): Promise<Snapshot | undefined> {
  const { ports } = scheduler;
  const { id } = shown.state.execution;
  let after: Snapshot | undefined;
  try {
    after = await reconcile(ports, shown.plan, id, { by: 'agent', affected: [], mailbox });
  } catch {
    ports.log.note({ what: 'follow-up-failed', executionId: id });
    return undefined;
  }
  if (after?.execution.life !== mailbox.life) throw unknownExecution(id);
  return after;
}

/**
 * @param state read after the message was written; undefined if that is unknown, or does not matter
 * @throws SteadfastError `ended` if no step has taken the message, and none can
 */
async function answerOf(
  sending: Sending,
  message: ExecutionMessage,
  state: Snapshot | undefined,
): Promise<Accepted> {
  const { executionId, id, order, at, name } = message;
  const { plan } = sending.shown;
  const isTaken =
    message.taken !== undefined ||
    state === undefined ||
    Object.values(state.steps).some((step) => receivedBy(step)?.id === id) ||
    mayBeTaken(plan, state, name) ||
    (await sentBefore(sending))?.taken !== undefined;
  if (!isTaken) refuseEnded(plan, state, name);
  return { executionId, id, order, at };
}
