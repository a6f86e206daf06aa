/**
 * A decision: a write, the messages sent after it, and the caller's next act.
 *
 * Owns: the shape of a decision. Does not own: which event leads to which (`decide.ts`), carrying it out
 * (`engine/commit.ts`).
 *
 * S14 a decision is data. It has at most one write (a step and its execution in one transaction count as
 * one); sends come after it.
 */

import type { LaneWork } from '../records/lane.ts';
import type { ChildStart, Planned, ParentNotice, StopGoal } from '../records/children.ts';
import type { Failure } from '../values/failure.ts';
import { defined, type OrUndefined } from '../values/defined.ts';
import type { WantedValue } from '../records/large-values.ts';
import type { TakenMessage } from '../records/mailbox.ts';
import type { Question } from '../records/question.ts';
import type { Message } from './message.ts';
import type { OwedNews } from './news.ts';
import type { Execution, Step } from '../records/state.ts';

/** Records with their new version. Each is written only if the stored one is one version behind. */
export interface Write {
  readonly executionId: string;
  readonly execution?: Execution;
  readonly step?: Step;
  readonly question?: Question;
  /** A message that the step takes, in one transaction with step and execution. */
  readonly taken?: TakenMessage;
}

export interface Send {
  readonly agent: string;
  readonly message: Message;
  /** 0 to 900,000. */
  readonly delayMs: number;
  /** The execution's group; absent if its workflow names none. */
  readonly group?: string;
}

/** For the log and the metrics: what happened, in the glossary's words, never with a payload (S17). */
export interface Note {
  readonly what: string;
  readonly executionId?: string;
  readonly step?: string;
  readonly attempt?: number;
  readonly agent?: string;
  readonly detail?: string;
  /** How an attempt failed: the code and the message are its author's words, not a payload of ours. */
  readonly failure?: Failure;
  /**
   * A delay: from due to the claim, from the end of a lost lease until it was noticed, or from the first
   * failure to success.
   */
  readonly ms?: number;
}

/** The origin of a note. */
export interface NoteOrigin {
  readonly workflow: string;
  /** Only for an end: the time since its start. */
  readonly lastedMs?: number;
}

/** The steps whose work an evaluation may send at once: all, or these and their dependents. */
export type AffectedSteps = 'all' | readonly string[];

export const joined = (one: AffectedSteps, other: AffectedSteps): AffectedSteps =>
  one === 'all' || other === 'all' ? 'all' : [...one, ...other];

/** What the caller does after the write and the sends. */
export type Next =
  | { readonly kind: 'idle' }
  /** Decide again: on a fresh read, or (`fresh: false`) on the state as just written. */
  | { readonly kind: 'evaluate'; readonly fresh: boolean; readonly affected: AffectedSteps }
  /** The claim is written: perform the step. */
  | { readonly kind: 'perform'; readonly step: Step }
  /** The message is early: keep it until then, read again and ask again. */
  | { readonly kind: 'wait'; readonly untilAt: number }
  /** Ask whether this many messages may be sent to each of these agents, and decide again. */
  | { readonly kind: 'ask'; readonly agents: Readonly<Record<string, number>> }
  /** Put these executions into the table, then report it (`started`). */
  | {
      readonly kind: 'start-children';
      readonly step: string;
      readonly planned: Planned;
      readonly starts: readonly ChildStart[];
    }
  /** Stop these executions, taking the place of missing ones; then report it (`stopped`). */
  | {
      readonly kind: 'stop-children';
      readonly step: string;
      readonly planned: Planned;
      readonly starts: readonly ChildStart[];
      readonly goal: StopGoal;
      /** Executions below this index are stopped once this is done. */
      readonly below: number;
    }
  /** Read the outputs of these executions, and report them (`gathered`). */
  | {
      readonly kind: 'gather';
      readonly step: string;
      readonly ids: readonly string[];
      /** How many rounds of the step have succeeded, if it has rounds. The others are tries that failed. */
      readonly rounds?: number;
    }
  /** Queue in a lane, read it again or leave it; then report the outcome. */
  | ({ readonly kind: 'lane' } & LaneWork)
  /** Read the execution's mailbox, or the message with this id, and decide again. */
  | { readonly kind: 'read-mailbox'; readonly message?: string }
  /** Load this value, and decide again. */
  | { readonly kind: 'load'; readonly value: WantedValue }
  /** This process has too little time left for an attempt: give the message back. */
  | { readonly kind: 'give-back' };

export interface Decision {
  readonly write?: Write;
  /** Announced before the write, which records the announcement: the only effect that precedes a write. */
  readonly announce?: OwedNews;
  readonly notifyParent?: ParentNotice;
  /**
   * Set if nothing is due before the written wake time. Otherwise the execution is evaluated within a horizon
   * of the write, and the written time is only the latest (S12, `supervision/wake-time.ts`).
   */
  readonly wakeTime?: 'as-written';
  readonly sends: readonly Send[];
  readonly next: Next;
  readonly notes: readonly Note[];
}

export const IDLE: Next = { kind: 'idle' };
/** Decide again: on a fresh read, or on the state as just written. */
export const evaluateNext = (affected: AffectedSteps = [], fresh = true): Next => ({
  kind: 'evaluate',
  fresh,
  affected,
});

export const nothing = (next: Next = IDLE, ...notes: readonly Note[]): Decision => ({
  sends: [],
  next,
  notes,
});

/** Writes these records of the execution. The next evaluation decides what is sent. */
export const writing = (
  executionId: string,
  records: OrUndefined<Omit<Write, 'executionId'>>,
  next: Next,
  ...notes: readonly OrUndefined<Omit<Note, 'executionId'>>[]
): Decision => ({
  write: { executionId, ...defined(records) },
  sends: [],
  next,
  notes: notes.map(({ what, ...about }) => ({
    what,
    executionId,
    ...defined({ failure: failureIn(what, records), ...defined(about) }),
  })),
});

/** Why an execution ends without success, or why a step failed, according to this write. */
function failureIn(
  what: string,
  { execution, step }: OrUndefined<Omit<Write, 'executionId'>>,
): Failure | undefined {
  if (what === 'step-failed') return step?.failure;
  const { kind, failure } = execution?.cause ?? {};
  return ENDS.has(what) && (kind === 'failure' || kind === 'deadline') ? failure : undefined;
}

const ENDS: ReadonlySet<string> = new Set(['compensating', 'following-up', 'failed', 'compensated']);
