/**
 * The records that an ended execution leaves behind, and how long they are kept.
 *
 * Owns: recognising a record of an earlier life of the same id. Does not own: when an execution's own record
 * expires (the store does that), who removes what it leaves behind (`supervisor/audit.ts`).
 *
 * The record of an execution expires some time after its end. Those of its steps and questions do not,
 * because no timer may delete records that an open execution depends on. So a start with the same idempotency
 * key may meet older records; each names its life. S11 until the record expires, it is the same execution. S6
 * an older record does not belong to the new one: a step that was done before is not done.
 */

import type { Parent } from './children.ts';
import type { Question } from './question.ts';
import { type Execution, isTerminal, type Step } from './state.ts';

/** The shortest time after an execution's end for which its idempotency key is remembered. */
export const MIN_RETENTION_MS = 86_400_000;

/**
 * The longest time from the first object that a start stores to the record that names it: no function runs
 * longer.
 */
export const START_MS = 900_000;

/**
 * The oldest read that proves that an execution exists: an erasure waits longer than this after the beginning
 * of a step. An act that begins on an older read would find no record in its way, so it must first check that
 * the execution still exists.
 */
export const READ_HOLDS_MS = 30_000;

/** When the record was last written, by the latest time in it; 0 if it has none. */
export const touchedAt = (record: Step | Question): number =>
  'openedAt' in record
    ? Math.max(record.openedAt, record.closedAt ?? record.remindedAt ?? 0)
    : Math.max(record.changedAt, record.claimedAt ?? 0, record.leaseUntil ?? 0, record.processDeadlineAt);

/** True if the record belongs to another execution that had the same id. */
export const isLeftover = (record: Step | Question, { life }: Pick<Execution, 'life'>): boolean =>
  record.life !== life;

/**
 * True if a record without an execution may be removed: its last write is longer ago than a key is
 * remembered.
 */
export const isAbandoned = (record: Step | Question, now: number): boolean =>
  // A record without a time of writing is never old.
  touchedAt(record) > 0 && isLongAgo(touchedAt(record), now);

/** True if the time is longer ago than a start, or any other process under way, can take. */
export const isLongAgo = (at: number, now: number): boolean => at < now - MIN_RETENTION_MS;

/**
 * When an execution's record expires; undefined while it is open or its end is not announced. A child's never
 * expires: its parent may recall it long after it has succeeded.
 */
export const expiresAt = (execution: Execution, retentionMs: number): number | undefined =>
  execution.parent === undefined ? keptUntil(execution, retentionMs) : undefined;

/**
 * True if a child is from an earlier life of its parent's id: it is kept longer than its parent, so the next
 * life may meet it. S6 the new life does not count its work as done. S10 nor is it undone with the new life.
 */
export const isOfEarlierLife = ({ parent }: Pick<Execution, 'parent'>, now: Parent | undefined): boolean =>
  parent?.since !== undefined && now?.since !== undefined && parent.since < now.since;

/** True if a child may be removed as soon as its parent is gone. */
export const isPastChild = (execution: Execution, retentionMs: number, now: number): boolean =>
  execution.parent !== undefined && (keptUntil(execution, retentionMs) ?? now) < now;

const keptUntil = (execution: Execution, retentionMs: number): number | undefined =>
  isTerminal(execution.status) && execution.wakeAt === undefined && execution.endedAt !== undefined
    ? execution.endedAt + retentionMs
    : undefined;
