/**
 * The records that an ended execution leaves behind, and for how long.
 *
 * Owns: how a record of an earlier life of the same id is recognised. Does not own: when an execution's own
 * record expires (the store does), or who removes what it leaves behind (`supervisor/audit.ts`).
 *
 * The record of an execution expires by itself, some time after its end; those of its steps and questions do
 * not, because no timer may delete records that an open execution depends on. So the same idempotency key may
 * start an execution beside older records; each names its life. S11 until then it is the same execution. S6
 * such a record does not belong to the new one: a step that was done before is not done.
 */

import type { Parent } from './children.ts';
import type { Question } from './question.ts';
import { type Execution, isTerminal, type Step } from './state.ts';

/** An idempotency key is remembered at least this long after its execution's end. */
export const MIN_RETENTION_MS = 86_400_000;

/** No start takes this long from its first put to the record that names it: no function runs longer. */
export const START_MS = 900_000;

/**
 * An older read may be of an execution that was erased since: an erasure waits longer than this after the
 * beginning of a step. An act that then begins finds nothing in its way, and must know that the execution
 * still exists.
 */
export const READ_HOLDS_MS = 30_000;

/** When the record was last written, as far as it says. */
export const touchedAt = (record: Step | Question): number =>
  'openedAt' in record
    ? Math.max(record.openedAt, record.closedAt ?? record.remindedAt ?? 0)
    : Math.max(record.changedAt, record.claimedAt ?? 0, record.leaseUntil ?? 0, record.processDeadlineAt);

/** Whether it belongs to another execution that had the same id. */
export const isLeftover = (record: Step | Question, { life }: Pick<Execution, 'life'>): boolean =>
  record.life !== life;

/**
 * Whether a record that belongs to no execution any more may be removed: it was last written longer ago than
 * a key is remembered.
 */
export const isAbandoned = (record: Step | Question, now: number): boolean =>
  // A record without a time of writing does not count as old.
  touchedAt(record) > 0 && isLongAgo(touchedAt(record), now);

/** No start, and nothing else under way, takes this long. */
export const isLongAgo = (at: number, now: number): boolean => at < now - MIN_RETENTION_MS;

/**
 * When the record of an execution expires; never while it is open, or its end was not announced. A child's
 * does not expire by itself: its parent may be undone long after the child has succeeded, and then recalls
 * it.
 */
export const expiresAt = (execution: Execution, retentionMs: number): number | undefined =>
  execution.parent === undefined ? keptUntil(execution, retentionMs) : undefined;

/**
 * Whether a child is from an earlier life of its parent's id: it is kept longer than the parent, so the
 * parent's next life may meet it. S6 its work is not done for the new one. S10 nor is it undone with the new
 * one.
 */
export const isOfEarlierLife = ({ parent }: Pick<Execution, 'parent'>, now: Parent | undefined): boolean =>
  parent?.since !== undefined && now?.since !== undefined && parent.since < now.since;

/** Whether a child may be removed as soon as its parent is gone. */
export const isPastChild = (execution: Execution, retentionMs: number, now: number): boolean =>
  execution.parent !== undefined && (keptUntil(execution, retentionMs) ?? now) < now;

const keptUntil = (execution: Execution, retentionMs: number): number | undefined =>
  isTerminal(execution.status) && execution.wakeAt === undefined && execution.endedAt !== undefined
    ? execution.endedAt + retentionMs
    : undefined;
