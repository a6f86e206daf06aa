/**
 * Why, for steps that take messages: the message that a step took, or waits for, and messages that no step
 * has taken.
 *
 * Owns: this text. Does not own: which message is taken (`waiting/waits.ts`). A mailbox that was not read is
 * not mentioned.
 */

import type { PlanStep, ReceiveStep } from '../core/plan/plan.ts';
import type { MailboxEntry } from '../core/records/mailbox.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { isUndecided, type Step } from '../core/records/state.ts';
import { timeText } from '../core/values/text.ts';
import { awaitedBy, roundMessage, roundOf } from '../core/waiting/rounds.ts';
import { waitEndsAt } from '../core/waiting/waits.ts';
import { AND_PAUSED, type Happened, inBrackets } from './words.ts';

/** Until when the step waits, or would without the pause; undefined if it does not wait. */
export const openUntil = (step: PlanStep, state: Snapshot): number | undefined =>
  isUndecided(state.execution.status) ? waitEndsAt(step, state) : undefined;

export function becauseOfMessage(step: ReceiveStep, state: Snapshot): string | undefined {
  const record = state.steps[step.name];
  const { status = 'ready', failure } = record ?? {};
  if (status === 'done') return tookText(step, record);
  if (status === 'failed' || status === 'tolerated') return `it failed${inBrackets(failure)}`;
  const untilAt = openUntil(step, state);
  if (status !== 'ready' || untilAt === undefined) return undefined;
  // A message that comes during the pause is taken after it.
  return state.execution.status === 'paused'
    ? `it has taken no message '${step.message}'${AND_PAUSED}`
    : `no message '${step.message}' has come; it waits until ${timeText(untilAt)}`;
}

/** Says what the current round waits for; undefined if it has begun. */
export function becauseOfRound(step: PlanStep, state: Snapshot): string | undefined {
  const record = state.steps[step.name];
  const awaited = awaitedBy(step, record);
  const untilAt = openUntil(step, state);
  if (awaited === undefined || untilAt === undefined) return undefined;
  const round = `round ${roundOf(record?.children)} waits for its message`;
  return state.execution.status === 'paused'
    ? `${round}: it has taken no '${awaited.name}'${AND_PAUSED}`
    : `${round}: no '${awaited.name}' has come; it waits until ${timeText(untilAt)}`;
}

/** Says which message the current round began with; '' if it began without one. */
export function roundTookText(step: PlanStep, record: Step): string {
  const message = roundMessage(step, record);
  const { received, awaits } = record.children?.rounds ?? {};
  if (message === undefined || awaits !== undefined) return '';
  return received === undefined
    ? `it began without a message '${message.name}': `
    : `it began with message '${message.name}' (${received.id}), accepted at ${timeText(received.at)}: `;
}

/** Says with which message a step that is done went on. */
export const tookText = ({ message }: ReceiveStep, record: Step | undefined): string =>
  record?.received === undefined
    ? `no message '${message}' came in time, and it goes on`
    : `it took message '${message}' (${record.received.id}), accepted at ${timeText(record.received.at)}`;

/** Returns the state with an empty mailbox if none was read, so that the text mentions no messages. */
export const asIfNoneCame = (state: Snapshot): Snapshot => ({ mailbox: { messages: {} }, ...state });

/** The maximum number of messages that are named one by one. */
const NAMED = 20;

/** Says which accepted messages no step has taken. */
export function untakenMessages({ mailbox: { mailbox } = { messages: {} } }: Snapshot): Happened[] {
  const entries = mailbox?.entries ?? [];
  const named = entries.slice(0, NAMED).map(leftText);
  const more = entries[NAMED];
  if (more === undefined) return named;
  const count = entries.length - NAMED;
  return [
    ...named,
    { at: more.at, what: `${count} later messages were not taken, either`, evidence: { count } },
  ];
}

const leftText = ({ name, id, at, order, bytes }: MailboxEntry): Happened => ({
  at,
  what: `message '${name}' (${id}) was accepted, and no step has taken it`,
  evidence: { id, order, bytes },
});
