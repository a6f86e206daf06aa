/**
 * WAITS[kind]: until when a step of each kind waits, the write at that time, and its words; and the message
 * that ends a wait earlier.
 *
 * Owns: waiting for a time, an answer, a message and a place, and the time limit of a step that waits for
 * none of them (`within`); which message a step or a round takes. Does not own: when the time of a `wait` has
 * come (`timer.ts`), an answer and its question in the inbox (`questions/callback.ts`), accepting
 * (`scheduler/messages.ts`) and reading a message (`engine/mailbox.ts`), the record of a round
 * (`rounds.ts`), a place (`lane.ts`), stopping executions whose time is over (`execution/child-rules.ts`).
 *
 * L1 every wait ends by its time, and its row gives the step's status then. A new kind of wait is a row.
 *
 * One transaction of step, execution and mailbox takes a message, so it is taken once, and not in a pause
 * that began since the read. A mailbox that was read before a step's turn may lack later messages, so each
 * write makes it unknown. A message accepted by the end of the step's time is taken, even if this is noticed
 * late; a later one stays for the next step with its name.
 */

import {
  blankStep,
  type DecisionInputs,
  executionAfter,
  stepAfter,
  type StepChanges,
  writingStep,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { StepEvent } from '../moves.ts';
import {
  type CallbackStep,
  graphOf,
  hasChildren,
  isForAnother,
  isReceive,
  type LaneStep,
  type Plan,
  type PlanStep,
  type ReceiveStep,
  type RepeatedStep,
  type WaitStep,
} from '../plan/plan.ts';
import type { ReceivedMessage } from '../records/children.ts';
import type {
  ExecutionMessage,
  KnownMailbox,
  Mailbox,
  MailboxEntry,
  TakenMessage,
} from '../records/mailbox.ts';
import { isIncident } from '../records/question.ts';
import { openQuestions, type Snapshot } from '../records/snapshot.ts';
import { isForward, type Step } from '../records/state.ts';
import type { Coming, Rule } from '../step/rule.ts';
import { applies, isTurn, turnAt } from '../step/turn.ts';
import { FAILED_FOR_TIME, timeEndsAt, timeOverAt } from '../step/within.ts';
import type { Failure } from '../values/failure.ts';
import { noPlace } from './lane.ts';
import { awaitedBy, neverBegun, roundGiven } from './rounds.ts';
import { elapsesAt } from './timer.ts';

interface Wait<Of extends PlanStep> {
  /** Until when a step waits whose turn has come; undefined if it does not wait. */
  until(step: Of, snapshot: Snapshot, record: Step | undefined): number | undefined;
  /** The step at that time. */
  atTime(step: Of, snapshot: Snapshot, record: Step, inputs: DecisionInputs): Step;
  /** The event that ends the wait, and the default if none comes. */
  coming(step: Of, record: Step | undefined): Coming;
}

const TIME: Wait<WaitStep> = {
  until: (step, snapshot, record) => {
    if (!isIn(record, 'ready')) return undefined;
    const elapsed = elapsesAt(step, snapshot);
    return Math.min(typeof elapsed === 'number' ? elapsed : 0, timeOverAt(step, snapshot));
  },
  atTime: (step, snapshot, record, inputs) => {
    const elapsed = elapsesAt(step, snapshot);
    if (typeof elapsed !== 'number') return over(record, 'fail', inputs, { failure: elapsed });
    if (elapsed > timeOverAt(step, snapshot)) return overTime(record, inputs);
    return over(record, 'elapse', inputs, {});
  },
  coming: () => ({ what: 'its time comes', who: 'supervisor' }),
};

const ANSWER: Wait<CallbackStep> = {
  until: (step, snapshot, record) => {
    if (record?.status === 'answered') return 0;
    return isIn(record, 'ready', 'waiting') ? expiresAt(step, snapshot, record) : undefined;
  },
  atTime: (step, _snapshot, record, inputs) =>
    record.status === 'answered'
      ? over(record, record.failure === undefined ? 'complete' : 'reject', inputs, {})
      : unanswered(step, record, inputs),
  coming: (step, record) => {
    if (record?.status === 'answered') return { what: 'its answer counts', who: 'supervisor' };
    const isApproval = step.kind === 'approval';
    const beat = step.heartbeatMs === undefined ? '' : ' or sends a heartbeat';
    const person = `${isForAnother(step) ? 'another person' : 'a person'} approves or rejects`;
    const ends = isApproval ? person : `the external party answers${beat}`;
    return {
      what: `${ends}; without an answer it ${IN_SILENCE[step.otherwise ?? 'fail']}`,
      who: isApproval ? 'person' : 'external-party',
    };
  },
};

const IN_SILENCE = { approve: 'is approved', reject: 'is rejected', fail: 'fails' } as const;

const MESSAGE: Wait<ReceiveStep> = {
  until: (step, snapshot, record) => (isIn(record, 'ready') ? timeOverAt(step, snapshot) : undefined),
  atTime: (step, _snapshot, record, inputs) =>
    step.otherwise === 'continue'
      ? over(record, 'elapse', inputs, { output: null, failure: undefined })
      : over(record, 'expire', inputs, { failure: noMessage(step.message) }),
  coming: ({ message, otherwise }) => messageComes(message, otherwise === 'continue' ? 'goes on' : 'fails'),
};

const messageComes = (message: string, otherwise: string): Coming => ({
  what: `a message '${message}' comes; without one it ${otherwise}`,
  who: 'external-party',
});

const noMessage = (message: string): Failure => ({
  code: 'no-message',
  message: `no message '${message}' came in time`,
});

/** The wait for the message with which a round begins: the step has begun, the round's execution has not. */
const MESSAGE_OF_ROUND: Wait<PlanStep> = {
  until: (_step, { execution }, record) => {
    const { withinMs = 0 } = record?.children?.rounds?.awaits ?? {};
    const sinceAt = record?.changedAt ?? 0;
    return timeEndsAt(execution, sinceAt, withinMs);
  },
  atTime: (step, snapshot, record, inputs) => {
    const { name, otherwise } = awaitedBy(step, record) ?? { name: '' };
    return otherwise === 'continue' && record.children !== undefined
      ? roundGiven(record, record.children, snapshot, inputs, { body: null })
      : neverBegun(record, inputs, noMessage(name));
  },
  coming: (step, record) => {
    const { name, otherwise } = awaitedBy(step, record) ?? { name: '' };
    return messageComes(name, otherwise === 'continue' ? 'its next round begins without one' : 'fails');
  },
};

const PLACE: Wait<LaneStep> = {
  until: (step, snapshot, record) =>
    isIn(record, 'ready', 'waiting') ? timeOverAt(step, snapshot) : undefined,
  atTime: (step, _snapshot, record, inputs) => over(record, 'expire', inputs, { failure: noPlace(step) }),
  coming: () => ({ what: 'it fails, unless its lane has a place before', who: 'supervisor' }),
};

/** The wait of all other steps, while none of their attempts is under way: until the step's time is over. */
const WITHIN: Wait<PlanStep> = {
  until: (step, snapshot, record) => {
    const isRunning = hasChildren(step) && isIn(record, 'running') && record?.children?.stop === undefined;
    return isRunning || isIn(record, 'ready', 'retrying') ? timeOverAt(step, snapshot) : undefined;
  },
  atTime: (_step, _snapshot, record, inputs) => overTime(record, inputs),
  coming: () => ({ what: 'the time of a step is over and it fails', who: 'supervisor' }),
};

const isIn = (record: Step | undefined, ...statuses: Step['status'][]): boolean =>
  statuses.includes(record?.status ?? 'ready');

const WAITS: Readonly<Record<PlanStep['kind'], Wait<PlanStep>>> = {
  wait: TIME,
  callback: ANSWER,
  approval: ANSWER,
  receive: MESSAGE,
  lane: PLACE,
  agent: WITHIN,
  child: WITHIN,
  map: WITHIN,
};

/** The row of a step; between two rounds, that of the message with which the next one begins. */
const waitOf = (step: PlanStep, record: Step | undefined): Wait<PlanStep> =>
  awaitedBy(step, record) === undefined ? WAITS[step.kind] : MESSAGE_OF_ROUND;

/** Until when a step waits or has its time; undefined before its turn, or if it does neither. */
export function waitEndsAt(step: PlanStep, snapshot: Snapshot): number | undefined {
  const record = snapshot.steps[step.name];
  const wait = waitOf(step, record);
  if ((wait === WITHIN && step.withinMs === undefined) || !isTurn(step, snapshot)) return undefined;
  const isBegun = isIn(record, 'retrying', 'running');
  return isBegun || applies(step, snapshot) ? wait.until(step, snapshot, record) : undefined;
}

/** Until when a step of an execution that goes forward waits for a time, an answer, a message or a place. */
export const waitsUntil = (step: PlanStep, snapshot: Snapshot): number | undefined =>
  isForward(snapshot.execution.status) && waitOf(step, snapshot.steps[step.name]) !== WITHIN
    ? waitEndsAt(step, snapshot)
    : undefined;

/** When the time for the answer is over, or for the next heartbeat. */
function expiresAt(step: CallbackStep, snapshot: Snapshot, record: Step | undefined): number {
  const aliveAt = Math.max(turnAt(step, snapshot), record?.progressAt ?? 0);
  return Math.min(
    timeOverAt(step, snapshot),
    timeEndsAt(snapshot.execution, aliveAt, step.heartbeatMs ?? Number.POSITIVE_INFINITY),
  );
}

/** The step without an answer in time. An approval that is given because nobody answered has no approver. */
function unanswered({ kind, otherwise }: CallbackStep, record: Step, inputs: DecisionInputs): Step {
  if (otherwise === 'approve')
    return over(record, 'elapse', inputs, { output: { approved: true }, failure: undefined, by: undefined });
  const failure =
    otherwise === 'reject'
      ? { code: 'rejected', message: 'it was not answered in time, and counts as rejected' }
      : { code: 'no-answer', message: `the ${kind} was not answered in time` };
  return over(record, 'expire', inputs, { failure, by: undefined });
}

/**
 * Fails the step because its time is over. If its work was done (`wrongAnswer`) and then requested again, a
 * person decides about the undo.
 */
function overTime(record: Step, inputs: DecisionInputs): Step {
  const move = record.wrongAnswer !== undefined && record.mayHaveActed ? 'overdue' : 'expire';
  return over(record, move, inputs, { ...FAILED_FOR_TIME, retryAt: undefined });
}

export const over = (record: Step, event: StepEvent, inputs: DecisionInputs, changes: StepChanges): Step =>
  stepAfter(record, event, inputs, { changedAt: inputs.now, ...changes });

/** The times of all steps, and those of reminders. */
export const externalTimes = (plan: Plan, snapshot: Snapshot): number[] =>
  isForward(snapshot.execution.status)
    ? [
        ...plan.steps.flatMap((step) => waitEndsAt(step, snapshot) ?? []),
        ...openQuestions(snapshot).flatMap((one) => (isIncident(one) ? [] : (one.remindAt ?? []))),
      ]
    : [];

/** True if the time may end the step at once: it has no child execution that must be stopped first. */
const mayPassTime = (step: PlanStep, { steps }: Snapshot): boolean =>
  !hasChildren(step) ||
  steps[step.name]?.status === 'retrying' ||
  waitOf(step, steps[step.name]) === MESSAGE_OF_ROUND;

/** The first step that is over because its time has come, or because it was answered before its turn. */
export function passTime(plan: Plan, snapshot: Snapshot, inputs: DecisionInputs): Step | undefined {
  for (const step of plan.steps) {
    if (!mayPassTime(step, snapshot) || (waitEndsAt(step, snapshot) ?? inputs.now + 1) > inputs.now) continue;
    const record = snapshot.steps[step.name] ?? blankStep(step.name, snapshot.execution);
    return waitOf(step, record).atTime(step, snapshot, record, inputs);
  }
  return undefined;
}

/** Ends a step when the time of a wait, an answer, a message, a place or the step itself is over. */
export const endAtTime: Rule = {
  apply: (plan, state, event) => {
    const step = passTime(plan, state, event);
    return step && writingStep(state, step, `step-${step.status}`);
  },
  dueAt: (plan, state) =>
    plan.steps.flatMap((step) => {
      const untilAt = waitEndsAt(step, state);
      if (untilAt === undefined) return [];
      const record = state.steps[step.name];
      const coming = (): Coming => waitOf(step, record).coming(step, record);
      return [{ at: Math.max(untilAt, turnAt(step, state)), step: step.name, coming }];
    }),
  says: {
    'step-done': 'a step is over: its time has come, or its answer counts now',
    'step-failed': 'a step fails: its time is over',
    'step-running': 'a round begins without a message: the time for that is over',
  },
};

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

/** The message with that id; undefined if it was not read. Ids may be any text, such as `constructor`. */
const messageIn = (
  messages: KnownMailbox['messages'],
  id: string,
): KnownMailbox['messages'][string] | undefined => (Object.hasOwn(messages, id) ? messages[id] : undefined);

/** The first readable message with that name, if it or a later one came in time: senders' clocks differ. */
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
  return writing(
    execution.id,
    {
      step,
      // Writes the execution, too: nothing is taken in a pause or after a stop.
      execution: executionAfter(execution, 'adopt', event, {}),
      // A round that fails because of the message takes it, too. Otherwise a retry of the execution would
      // meet the same message and fail again.
      taken: takenFrom(found, name, event),
    },
    evaluateNext([name]),
    step.status === 'failed'
      ? { what: 'step-failed', step: name }
      : { what: 'message-taken', step: name, detail: found.message.name },
  );
}

/**
 * Removes the mailbox's wake time, too: the process that takes a message evaluates the execution again, and
 * the execution's own wake time is near.
 */
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
