/**
 * decide(plan, state, event) → decision. The one function that all roles call; read it after `transitions.ts`.
 *
 * Owns: the events, the decisions, and which rule answers which event. Does not own: effects (`roles/commit.ts`), the
 * clock and the dice (both come with the event).
 *
 * S14 pure, total, deterministic, bounded. S15 a decision that was applied is refused by its version the second time.
 * A decision holds at most one write (a step and its execution in one transaction count as one); sends come after it.
 */

import { beaten, claimed, type Progress } from './attempts.ts';
import { answeredBySuccess, resolve } from './answers.ts';
import { type Hold, heldUntil } from './breaker.ts';
import type { ChildStart, Family } from './children.ts';
import { type Command, obey } from './commands.ts';
import type { Gates } from './dispatch.ts';
import { asCounted } from './counted.ts';
import { decideChildren } from './decide-children.ts';
import { type Answer, answerProblem } from './incidents.ts';
import type { Json } from './json.ts';
import { stageOf } from './ladder.ts';
import { look } from './look.ts';
import { isOpenToLateMessages, parkedBy, parkedStep } from './parking.ts';
import { agentStep, dependentsOf, graphOf, type Plan } from './plan.ts';
import { answerCallback, type CallbackAnswer, callbackProblem, isCallback } from './outside.ts';
import { type Report, reported } from './reports.ts';
import {
  type ChildEnd,
  type Children,
  type Ended,
  type Execution,
  type Failure,
  type Incident,
  isHeld,
  isTerminal,
  type Message,
  type Snapshot,
  type Step,
  type Told,
} from './state.ts';
import { horizonMs } from './watch.ts';
import { openWork, type Work } from './work.ts';
import { executionAfter, type Stamp } from './write.ts';

/** Records with their new version; each is written on the condition that the stored one is one version behind. */
export interface Write {
  readonly executionId: string;
  readonly execution?: Execution;
  readonly step?: Step;
  readonly incident?: Incident;
}

export interface Send {
  readonly agent: string;
  readonly message: Message;
  /** 0 to 900,000. */
  readonly delayMs: number;
}

/** For the log and the metrics: what happened, in the words of the glossary, never with a payload (S17). */
export interface Note {
  readonly what: string;
  readonly executionId?: string;
  readonly step?: string;
  readonly attempt?: number;
  readonly agent?: string;
  readonly detail?: string;
  /** How late it was: a claim after it was due, a lost lease after its end, a success after the first failure. */
  readonly ms?: number;
}

/** Whose work a look may send at once: of all steps, or of these and what depends on them. */
export type Concern = 'all' | readonly string[];

/** What the caller does after the write and the sends. */
export type Next =
  | { readonly kind: 'stop' }
  /** Decide again: on a fresh read, or (`fresh: false`) on the state as just written. */
  | { readonly kind: 'look'; readonly fresh: boolean; readonly concern: Concern }
  /** The claim is written: perform the step. */
  | { readonly kind: 'perform'; readonly step: Step; readonly priorHardEndAt: number }
  /** The message is early: keep it until then, read again and ask again. */
  | { readonly kind: 'wait'; readonly untilAt: number }
  /** So many messages are meant for these agents: ask how each one is, and decide again. */
  | { readonly kind: 'ask'; readonly agents: Readonly<Record<string, number>> }
  /** Put these executions into the table, then say so (`started`). */
  | {
      readonly kind: 'start-children';
      readonly step: string;
      readonly family: Family;
      readonly starts: readonly ChildStart[];
    }
  /** Stop these executions, and take the place of those that do not exist; then say so (`stopped`). */
  | {
      readonly kind: 'stop-children';
      readonly step: string;
      readonly family: Family;
      readonly starts: readonly ChildStart[];
      /** Also what those under way have done. */
      readonly undo: boolean;
      /** Also those that have succeeded. */
      readonly recall: boolean;
      /** None below this index is left to be stopped then. */
      readonly below: number;
    }
  /** Read what these executions answered, and say it (`gathered`). */
  | { readonly kind: 'gather'; readonly step: string; readonly ids: readonly string[] }
  /** This process has too little time left for an attempt: give the message back. */
  | { readonly kind: 'give-back' };

export interface Decision {
  readonly write?: Write;
  /** Told before the write, which records that it was told. With `tell` the only effect that precedes a write. */
  readonly announce?: Ended;
  readonly tell?: Told;
  readonly sends: readonly Send[];
  readonly next: Next;
  readonly notes: readonly Note[];
}

export type Event = Stamp &
  (
    | {
        readonly type: 'deliver';
        readonly message: Message;
        /** Whose queue it came from. */
        readonly agent: string;
        readonly token: string;
        readonly hardEndAt: number;
        readonly readAt: number;
        /** The agent's service is dead: it is not called. */
        readonly hold?: Hold;
      }
    | { readonly type: 'beat'; readonly step: string; readonly token: string; readonly progress?: Progress }
    | {
        readonly type: 'report';
        readonly step: string;
        readonly token: string;
        readonly report: Report;
        readonly priorHardEndAt: number;
        /** The state is the claim's snapshot, not a fresh read. */
        readonly onTime: boolean;
        /** The agent's service is dead, as this attempt has just found, too: the attempt is not charged for it. */
        readonly hold?: Hold;
      }
    | LookEvent
    | Command
    | { readonly type: 'answer'; readonly incident: number; readonly answer: Answer }
    | { readonly type: 'callback'; readonly step: string; readonly answer: CallbackAnswer }
    | ChildEvent
  );

/** What was done to executions that belong to a step. */
export type ChildrenDone =
  | {
      readonly type: 'started' | 'stopped';
      readonly step: string;
      readonly family: Family;
      /** Those below are started, or stopped. */
      readonly started: number;
      readonly ended: Children['ended'];
      /** Why there is none: its place is taken, so that nobody starts it. */
      readonly failure?: Failure;
    }
  | {
      readonly type: 'gathered';
      readonly step: string;
      /** Nothing where an output was too large to be kept. */
      readonly outputs: readonly (Json | undefined)[];
    };

export type ChildEvent =
  | ChildrenDone
  /** An execution that belongs to the step has ended. */
  | {
      readonly type: 'told';
      readonly step: string;
      readonly index: number;
      readonly epoch?: number;
      readonly end: ChildEnd;
    }
  /** The parent is being undone, or ends as it is. */
  | { readonly type: 'stop'; readonly undo: boolean; readonly heard?: number }
  /** It has failed, and its parent was tried again. `heard`: of that end; also where it is stopped instead. @see isToGoOn */
  | { readonly type: 'again'; readonly heard: number };

export interface LookEvent {
  readonly type: 'look';
  /** Only a supervisor ends leases, repeats dispatches and sets the next watch. */
  readonly by: 'worker' | 'supervisor';
  readonly concern: Concern;
  /** Whether the state was just read, or is what the caller wrote on top of an older read. */
  readonly fresh: boolean;
  /** Another process's write came first meanwhile. */
  readonly outrun?: true;
  /** The clock before the state was read. */
  readonly readAt: number;
  /** A supervisor's: by agent, what may be sent to it now; an agent that is missing is asked for. */
  readonly gates?: Gates;
  /** Since then the store answers again: whoever held a lease before gets the time to renew it. */
  readonly graceFrom?: number;
}

export const STOP: Next = { kind: 'stop' };
export const nothing = (next: Next = STOP, notes: readonly Note[] = []): Decision => ({
  sends: [],
  next,
  notes,
});

/** A message earlier than this waits in the agent; an earlier one is dropped, and the watch brings another. */
const EARLY_MS = 5_000;
/** An attempt that could not even report is not worth starting. */
const MIN_REMAINING_MS = 2_000;

/** @param stored what was read of the execution. @returns what to write, then send, then do */
export function decide(plan: Plan, stored: Snapshot, event: Event): Decision {
  const state = asCounted(plan, stored);
  switch (event.type) {
    case 'deliver':
      return deliver(plan, state, event);
    case 'beat':
      return beat(plan, state, event);
    case 'report':
      return report(plan, state, event);
    case 'look':
      return look(plan, state, event);
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'retry':
      return obey(plan, state, event) ?? nothing();
    case 'answer':
      return answer(plan, state, event);
    case 'callback':
      return callback(plan, state, event);
    default:
      return decideChildren(plan, state, event);
  }
}

type EventOf<Type extends Event['type']> = Event & { readonly type: Type };

function deliver(plan: Plan, state: Snapshot, event: EventOf<'deliver'>): Decision {
  const { message } = event;
  const record = Object.hasOwn(state.steps, message.step) ? state.steps[message.step] : undefined;
  const about = { executionId: state.execution.id, step: message.step, attempt: message.attempt };
  if (!graphOf(plan).step.has(message.step))
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'no such step' }]);
  if (message.seq > (record?.version ?? 0)) {
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'from after a restore' }]);
  }
  const work = openWork(plan, state).find(
    (piece) =>
      piece.step.agent === event.agent &&
      piece.step.name === message.step &&
      piece.mode === message.mode &&
      piece.attempt === message.attempt,
  );
  if (work === undefined) {
    if (isHeld(record)) return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'held' }]);
    // The step is past this message. Its sender may have died before it sent what comes next: look.
    return nothing({ kind: 'look', fresh: false, concern: [message.step] });
  }
  const isLate = isOpenToLateMessages(work) && work.dueAt > event.now;
  if (work.dueAt > event.now && !isLate) {
    if (work.dueAt - event.now <= EARLY_MS) return nothing({ kind: 'wait', untilAt: work.dueAt });
    return nothing(STOP, [{ what: 'message-dropped', ...about, detail: 'early' }]);
  }
  if (event.hardEndAt - event.now < MIN_REMAINING_MS) return nothing({ kind: 'give-back' });
  if (event.hold !== undefined) return parkDelivered(state, work, event.hold, event);
  const step = claimed(work, record, state.execution.epoch, event.token, event.hardEndAt, event);
  const { execution } = state;
  // What was parked as unclaimed has its watch far away, so a claim before its time draws it near.
  const watchAt = Math.min(execution.watchAt ?? event.now, event.now + horizonMs(plan, state));
  return {
    write: {
      executionId: execution.id,
      step,
      ...(isLate ? { execution: executionAfter(execution, 'watch', event, { watchAt }) } : {}),
    },
    sends: [],
    next: { kind: 'perform', step, priorHardEndAt: record?.hardEndAt ?? 0 },
    notes: [{ what: 'claimed', ...about, detail: message.mode, ms: event.now - work.dueAt }],
  };
}

/** The message is answered: a supervisor sends another one when the service may be tried again. */
function parkDelivered(state: Snapshot, work: Work, hold: Hold, event: Stamp): Decision {
  const { step, attempt } = work;
  const retryAt = heldUntil(hold, event.now, event.random);
  const record = parkedStep(work, state, parkedBy(work, 'breaker', event.now, hold), retryAt, true, event);
  const about = { executionId: state.execution.id, step: step.name, attempt, agent: step.agent };
  // What was parked as unclaimed has its watch far away, maybe behind this time.
  const { execution } = state;
  const isUnwatched = execution.watchAt !== undefined && execution.watchAt > retryAt;
  const nearer = isUnwatched ? executionAfter(execution, 'watch', event, { watchAt: retryAt }) : undefined;
  return {
    write: {
      executionId: execution.id,
      step: record,
      ...(nearer === undefined ? {} : { execution: nearer }),
    },
    sends: [],
    next: STOP,
    notes: [{ what: 'parked', ...about, detail: 'breaker', ms: retryAt - event.now }],
  };
}

function beat(plan: Plan, state: Snapshot, event: EventOf<'beat'>): Decision {
  const planStep = agentStep(plan, event.step);
  const step =
    planStep &&
    beaten(
      stageOf(planStep, state.steps[event.step]?.rung ?? 0),
      state.steps[event.step],
      event.token,
      event.progress,
      event,
    );
  return step === undefined
    ? nothing()
    : { write: { executionId: state.execution.id, step }, sends: [], next: STOP, notes: [] };
}

function report(plan: Plan, state: Snapshot, event: EventOf<'report'>): Decision {
  const planStep = agentStep(plan, event.step);
  const before = state.steps[event.step];
  const about = { executionId: state.execution.id, step: event.step, attempt: before?.attempt ?? 0 };
  const step =
    planStep === undefined || isTerminal(state.execution.status)
      ? undefined
      : reported(planStep, before, event.token, event.report, event.priorHardEndAt, event, event.hold);
  if (step === undefined) return nothing(STOP, [{ what: 'report-refused', ...about }]);
  const recovery = recoveryOf(before, step, event.now);
  const notes = [{ what: `step-${step.status}`, ...about, ...recovery }];
  const concern = [event.step];
  if (isHeld(before)) {
    const fresh = !(event.onTime && mayDecideUnread(plan, state, step));
    return {
      write: { executionId: state.execution.id, step },
      sends: [],
      next: { kind: 'look', fresh, concern },
      notes,
    };
  }
  // A late success is covered by no lease, so the watch may be far away: it is drawn near in the same transaction.
  const { execution } = state;
  const watchAt = Math.min(execution.watchAt ?? Number.POSITIVE_INFINITY, event.now + horizonMs(plan, state));
  // Nor does a person have to answer what the work has answered.
  const answered = answeredBySuccess(state, event.step, event);
  return {
    write: {
      executionId: state.execution.id,
      step,
      execution: executionAfter(execution, answered.move, event, { watchAt }),
      ...(answered.incident === undefined ? {} : { incident: answered.incident }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern },
    notes: [{ what: 'adopted', ...about, ...recovery }],
  };
}

/** How long a step that is now done took from the first try that was not. */
function recoveryOf(before: Step | undefined, step: Step, now: number): Pick<Note, 'ms'> {
  const first = before?.attempts.find((attempt) => attempt.outcome !== 'done');
  return step.status !== 'done' || first === undefined ? {} : { ms: now - first.endedAt };
}

/**
 * After an on-time `done` the second read may be spared (C1) where the claim's snapshot is enough: to send to dependents
 * that wait for this step alone and unconditionally, or to end the execution when all else was finished already.
 */
function mayDecideUnread(plan: Plan, state: Snapshot, step: Step): boolean {
  if (step.status !== 'done' || state.execution.status !== 'running') return false;
  const dependents = dependentsOf(plan, step.name);
  if (dependents.length > 0) {
    // A callback may have been answered since.
    return dependents.every(
      (other) => other.after.length === 1 && other.when === undefined && !isCallback(other),
    );
  }
  return plan.steps.every((other) => {
    const status = state.steps[other.name]?.status;
    return other.name === step.name || status === 'done' || status === 'skipped';
  });
}

/** As with a person's answer: the caller asks `callbackProblem` for the reason. */
function callback(plan: Plan, state: Snapshot, event: EventOf<'callback'>): Decision {
  if (callbackProblem(plan, state, event.step) !== undefined) return nothing();
  const stamp = { ...event, horizonMs: horizonMs(plan, state) };
  return answerCallback(plan, state, event.step, event.answer, stamp);
}

/** An answer that is not possible now changes nothing; the caller asks `answerProblem` for the reason. */
function answer(plan: Plan, state: Snapshot, event: EventOf<'answer'>): Decision {
  const incident = state.incidents?.[event.incident];
  if (incident === undefined || isTerminal(state.execution.status)) return nothing();
  if (answerProblem(plan, state, incident, event.answer, event.now) !== undefined) return nothing();
  return resolve(plan, state, incident, event.answer, event);
}
