/**
 * A step or a round that takes a message: the mailbox is read once its turn has come, and never waited for
 * unread.
 *
 * Owns: which message each takes, and what that writes. Does not own: when a message is accepted
 * (`scheduler/messages.ts`), until when a step waits (`waits.ts`), the record of a round (`rounds.ts`),
 * reading (`engine/mailbox.ts`).
 *
 * One transaction of step, execution and mailbox takes a message, so it is taken once, and in no pause that
 * began since the read. A mailbox that was read before a step's turn says nothing about later messages, so
 * each write makes it unknown. A message that was accepted by the end of the step's time is taken, however
 * late that is seen; a later one stays for the next step of its name.
 */

import { graphOf, isReceive, type Plan, type ReceiveStep, type RepeatedStep } from '../plan/plan.ts';
import { blankStep, executionAfter } from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { ReceivedMessage } from '../records/children.ts';
import type {
  ExecutionMessage,
  KnownMailbox,
  Mailbox,
  MailboxEntry,
  TakenMessage,
} from '../records/mailbox.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import type { Rule } from '../step/rule.ts';
import { awaitedBy, roundGiven } from './rounds.ts';
import { over, waitEndsAt } from './waits.ts';

export const takeMessage: Rule = {
  apply: (plan, state, event) => {
    const open = openReceives(plan, state);
    if (open.length === 0) return undefined;
    if (state.mailbox === undefined) return nothing({ kind: 'read-mailbox' });
    const { mailbox, messages } = state.mailbox;
    if (mailbox === undefined) return undefined;
    for (const { step, name, untilAt } of open) {
      const entry = nextEntry(state.mailbox, name, untilAt);
      if (entry === undefined) continue;
      const message = messageIn(messages, entry.id);
      if (message === undefined) return nothing({ kind: 'read-mailbox', message: entry.id });
      if (message !== null) return taking(state, step, { mailbox, message }, event);
    }
    return undefined;
  },
  says: {
    'read-mailbox': 'a message that came is taken',
    'step-failed': 'a step fails: its message makes the input of its round too large',
    'message-taken': 'a message that came is taken',
  },
};

type Taking = ReceiveStep | RepeatedStep;

/** The steps that wait for a message now, in plan order: its name, and until when. */
const openReceives = (plan: Plan, state: Snapshot): { step: Taking; name: string; untilAt: number }[] =>
  graphOf(plan).receives.flatMap((step) => {
    const name = isReceive(step) ? step.message : awaitedBy(step, state.steps[step.name])?.name;
    const untilAt = name === undefined ? undefined : waitEndsAt(step, state);
    return name === undefined || untilAt === undefined ? [] : [{ step, name, untilAt }];
  });

/** Nothing where it was not read. An id may be any text, also one that every object has. */
const messageIn = (
  messages: KnownMailbox['messages'],
  id: string,
): KnownMailbox['messages'][string] | undefined => (Object.hasOwn(messages, id) ? messages[id] : undefined);

/**
 * The first of that name, if it or one behind it was accepted by then: the clocks of two senders differ. One
 * whose message is lost is passed over.
 */
function nextEntry(
  { mailbox, messages }: KnownMailbox,
  name: string,
  untilAt: number,
): MailboxEntry | undefined {
  const all = (mailbox?.entries ?? []).filter(
    (one) => one.name === name && messageIn(messages, one.id) !== null,
  );
  return all.some(({ at }) => at <= untilAt) ? all[0] : undefined;
}

interface Found {
  readonly mailbox: Mailbox;
  readonly message: ExecutionMessage;
}

function taking(state: Snapshot, { name }: Taking, found: Found, event: Evaluation): Decision {
  const { execution } = state;
  const { id, at, body = null } = found.message;
  const record = state.steps[name] ?? blankStep(name, execution);
  const received = { id, at };
  const step =
    record.children === undefined
      ? over(record, 'receive', event, { output: body, failure: undefined, received })
      : roundGiven(record, record.children, state, event, { body, received });
  // With the execution: nothing is taken in a pause, nor once it is stopped.
  const write = { step, execution: executionAfter(execution, 'adopt', event, {}) };
  // A retry of the execution finds the message again, perhaps with more room for it.
  return step.status === 'failed'
    ? writing(execution.id, write, evaluateNext([name]), { what: 'step-failed', step: name })
    : writing(execution.id, { ...write, taken: takenFrom(found, name, event) }, evaluateNext([name]), {
        what: 'message-taken',
        step: name,
        detail: found.message.name,
      });
}

/** The wake time goes with it: who takes one evaluates the execution again, and its own wake time is near. */
function takenFrom({ mailbox, message }: Found, step: string, event: Evaluation): TakenMessage {
  const { wakeAt: _, ...kept } = mailbox;
  const { body: _body, ...rest } = message;
  return {
    mailbox: {
      ...kept,
      entries: mailbox.entries.filter(({ id }) => id !== message.id),
      version: mailbox.version + 1,
      writeId: event.writeId,
    },
    message: { ...rest, taken: { step, at: event.now } },
  };
}

/** The message that a step, or its latest round, took. */
export const receivedBy = ({ received, children }: Step): ReceivedMessage | undefined =>
  received ?? children?.rounds?.received;
