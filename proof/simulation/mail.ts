/**
 * The trait of worlds with messages: changes their plans, and simulates senders, who send early, late, twice,
 * to paused and ended executions, and from processes that die after the message is written.
 *
 * Owns: the share of such steps, the sends and their times. Does not own: which worlds have the trait
 * (`traits.ts`), the judgement (`oracle-mail.ts`). It draws from its own random stream.
 */

import {
  graphOf,
  messagesIn,
  messagesOf,
  type Plan,
  type PlanStep,
  type ReceiveStep,
} from '../../lib/core/plan/plan.ts';
import { isTerminal } from '../../lib/core/records/state.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { sendMessage } from '../../lib/scheduler/messages.ts';
import type { Choice } from './plans.ts';
import { bodyOf, largeId } from './mail-book.ts';
import { wantedRounds } from './rounds.ts';
import { type Host, kill, planOf, type Process, schedulerFor } from './process.ts';

/** The share of the steps that wait for a message before they begin. */
const WAITING_SHARE = 0.45;
/** The share of workflows that end with such a step. */
const LAST_SHARE = 0.4;
const NAMES = ['paid', 'moved'] as const;
const TIMES = [60_000, 300_000, 300_000, 3_600_000] as const;

/** Adds steps that take messages to the plan and to the workflows that its steps run. */
export function withMessages(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.flatMap((step): PlanStep[] => {
    const inside: PlanStep =
      step.kind === 'child' ? { ...step, plan: withMessages(step.plan, choice) } : step;
    if (!choice.chance(WAITING_SHARE)) return [inside];
    const receive = receiveStep(`r-${step.name}`, step.after, choice);
    return [receive, { ...inside, after: [...step.after, receive.name] }];
  });
  if (!choice.chance(LAST_SHARE)) return { ...plan, steps };
  const after = steps.slice(-1).map(({ name }) => name);
  return { ...plan, steps: [...steps, receiveStep('r-last', after, choice)] };
}

const receiveStep = (name: string, after: readonly string[], choice: Choice): ReceiveStep => ({
  kind: 'receive',
  name,
  after,
  message: choice.pick(NAMES),
  withinMs: choice.pick(TIMES),
  ...(choice.chance(0.6) ? { otherwise: 'continue' as const } : {}),
});

/** The share of senders that die after writing their message and before reading the mailbox. */
const DIES_SHARE = 0.12;

export function mayDie(host: Host, sender: Process): void {
  const { faults, sending } = host;
  if (sending?.chance(DIES_SHARE) === true && faults.strikes('deadSender')) kill(host, sender);
}

/** How many more messages an execution may get than it can take. */
const TOO_MANY = 1;
const SENT_SHARE = 0.4;
/** The share of sends that repeat the latest message id, and of ended executions that get a message. */
const AGAIN_SHARE = 0.15;
const LATE_SHARE = 0.004;
/** The share of senders without an answer that repeat the message while there are faults; later all do. */
const COMES_AGAIN_SHARE = 0.5;
const AGAIN_MS = 35_000;
const LOOK_EVERY_MS = 60_000;

/** Senders read all executions from time to time, and send messages to some. */
export function startSenders(host: Host): void {
  const { events, external, sending } = host;
  if (sending === undefined) return;
  watch(host);
  const look = (): void => {
    for (const id of external.table.ids()) consider(host, sending, id);
    if (!host.over()) events.plan(sending.between(3_000, 40_000), look);
  };
  events.plan(sending.between(1_000, 15_000), look);
}

/** After the heal, periodically judges the messages left in the mailboxes. */
function watch({ events, faults, mail, over }: Host): void {
  let healedAt: number | undefined;
  const look = (): void => {
    if (faults.healed()) healedAt ??= events.now;
    if (healedAt !== undefined) mail.look(healedAt);
    if (!over()) events.plan(LOOK_EVERY_MS, look);
  };
  events.plan(LOOK_EVERY_MS, look);
}

function consider(host: Host, sending: Choice, id: string): void {
  const { external, mail } = host;
  const plan = planOf(host, id);
  const state = external.table.read(id);
  const names = plan === undefined ? [] : messagesOf(plan);
  if (plan === undefined || state === undefined || names.length === 0) return;
  const { life, status } = state.execution;
  const taking = plan.steps.reduce((sum, step) => sum + takenBy(step), 0);
  const isOver = isTerminal(status);
  if (!isOver && mail.countOf(id, life) >= taking + TOO_MANY) return;
  if (!sending.chance(isOver ? LATE_SHARE : SENT_SHARE)) return;
  const latest = sending.chance(AGAIN_SHARE) ? mail.latestOf(id, life) : undefined;
  const name = latest?.name ?? sending.pick(names);
  send(host, sending, { id, life, messageId: latest?.id ?? newId(host, plan, name), name });
}

/** One in this many messages that only rounds take is too large for each round. */
const LARGE_EVERY = 4;

/** The id of a new message; no message is too large where a round's input is stored outside the table. */
function newId({ external, mail }: Host, plan: Plan, name: string): string {
  const id = mail.newId();
  const isForRounds = graphOf(plan).receives.every(
    (step) => step.kind === 'child' || !messagesIn(step).includes(name),
  );
  const isLarge = external.values === undefined && isForRounds && Number(id.slice(1)) % LARGE_EVERY === 0;
  return isLarge ? largeId(id) : id;
}

/** How many messages the step takes. */
const takenBy = (step: PlanStep): number => {
  const rounds = step.kind === 'child' ? step.rounds : undefined;
  if (rounds?.message === undefined) return step.kind === 'receive' ? 1 : 0;
  return wantedRounds(rounds) - (rounds.first === undefined ? 1 : 0);
};

interface Sent {
  readonly id: string;
  readonly life: string;
  readonly messageId: string;
  readonly name: string;
}

function send(host: Host, sending: Choice, sent: Sent): void {
  const { events, faults, kinds, mail } = host;
  const { id, messageId, name } = sent;
  let isAnswered = false;
  const request = { name, body: bodyOf(messageId), id: messageId };
  sendMessage(schedulerFor(host), { executionId: id }, request).then(
    (accepted) => {
      isAnswered = true;
      mail.answered(accepted, sent);
    },
    (error: unknown) => {
      isAnswered = isSteadfastError(error) && error.code !== 'busy';
      if (isSteadfastError(error) && error.code === 'ended') kinds.messageRefused += 1;
    },
  );
  events.plan(AGAIN_MS, () => {
    if (isAnswered || (!faults.healed() && !sending.chance(COMES_AGAIN_SHARE))) return false;
    return send(host, sending, sent);
  });
}
