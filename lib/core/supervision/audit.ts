/**
 * Judges the state table itself, without its indexes, for the audit.
 *
 * Owns: which record is out of order, and its repair. Does not own: reading the table
 * (`supervisor/audit.ts`).
 *
 * S12 every open execution has a wake time in a shard that is swept. No code removes one, but a person in the
 * table, a restore, or a lower number of shards can.
 */

import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, IDLE, writing } from '../decisions/decision.ts';
import { mayBePlaced } from '../records/in-lane.ts';
import type { Queued } from '../records/lane.ts';
import type { Question } from '../records/question.ts';
import { isAbandoned, isLeftover, isLongAgo } from '../records/retention.ts';
import { type Execution, isTerminal, type Step } from '../records/state.ts';

/** A record of the table. A page of the audit may show an older version of it. */
export type Found =
  | {
      readonly kind: 'execution';
      readonly execution: Execution;
      /**
       * Where the index has its wake time: nowhere, in a shard that no supervisor sweeps, or in one that is
       * swept.
       */
      readonly wake: 'none' | 'unswept' | 'swept';
    }
  | { readonly kind: 'step'; readonly executionId: string; readonly step: Step }
  | { readonly kind: 'question'; readonly executionId: string; readonly question: Question }
  /** An input beside its execution's record, which names it by its key. */
  | FoundInput
  | FoundQueued
  | FoundMail
  /** A damaged record, or a newer version's. */
  | { readonly kind: 'unreadable'; readonly executionId: string };

export interface FoundInput {
  readonly kind: 'input';
  readonly executionId: string;
  readonly key: string;
  readonly version: number;
  readonly writeId: string;
  readonly storedAt: number;
}

/** An item in the queue of a lane. Its key names life and epoch, so no other item has it. */
export interface FoundQueued {
  readonly kind: 'queued';
  readonly executionId: string;
  readonly lane: string;
  readonly queued: Queued;
}

/** A mailbox, or a message to an execution. */
export interface FoundMail {
  readonly kind: 'mail';
  readonly executionId: string;
  readonly life: string;
  /** The id of a message; absent for the mailbox itself. */
  readonly message?: string;
  readonly version: number;
  readonly writeId: string;
}

/** Records that an audit may remove. */
export type Removable = Exclude<Found, { kind: 'unreadable' }>;

export const recordOf = (
  found: Exclude<Removable, FoundQueued>,
): { readonly version: number; readonly writeId: string } =>
  found.kind === 'execution'
    ? found.execution
    : found.kind === 'input' || found.kind === 'mail'
      ? found
      : besideOf(found);

/** Records beside an execution's own one. */
export type Beside = Extract<Found, { kind: 'step' | 'question' }>;

export const isBeside = (found: Found): found is Beside => found.kind === 'step' || found.kind === 'question';

export const besideOf = (found: Beside): Step | Question =>
  found.kind === 'step' ? found.step : found.question;

/**
 * Sets the wake time to now, in a swept shard, so that the next sweep evaluates it. Undefined for an
 * execution that is in order.
 */
export function heal(
  found: Extract<Found, { kind: 'execution' }>,
  inputs: DecisionInputs,
): Decision | undefined {
  const { execution, wake } = found;
  const isLost = wake === 'unswept' || (wake === 'none' && !isTerminal(execution.status));
  if (!isLost) return undefined;
  const healed = executionAfter(execution, 'set-wake-time', inputs, {
    // An overdue wake time stays: the delay of its evaluation must not be hidden.
    wakeAt: Math.min(execution.wakeAt ?? inputs.now, inputs.now),
  });
  return writing(execution.id, { execution: healed }, IDLE, { what: 'wake-time-healed', detail: wake });
}

/** True if the execution must be read to decide; for an item in a queue, only long after it came. */
export const mayBeLeftBehind = (found: Found, now: number): boolean =>
  found.kind !== 'queued' || isLongAgo(found.queued.place, now);

/** @param execution the one that it is beside, or that waits, if there is one */
export function isLeftBehind(
  found: Beside | FoundInput | FoundQueued | FoundMail,
  execution: Execution | undefined,
  now: number,
): boolean {
  if (found.kind === 'queued') return !mayBePlaced(found.queued, execution);
  // An input exists before its execution: one that no record names may belong to a start under way.
  if (found.kind === 'input') return execution?.inputKey !== found.key && isLongAgo(found.storedAt, now);
  // A message is made after its execution, and belongs to one life of it.
  if (found.kind === 'mail') return execution?.life !== found.life;
  const record = besideOf(found);
  const isOfNone = execution === undefined || isLeftover(record, execution);
  return isOfNone && isAbandoned(record, now);
}
