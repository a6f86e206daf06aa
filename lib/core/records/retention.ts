/**
 * What an ended execution leaves behind, and for how long.
 *
 * Owns: how a record of an earlier life of the same id is known. Does not own: when an execution's own record
 * expires (the store's), or who removes what it leaves behind (`supervisor/audit.ts`).
 *
 * The record of an execution expires by itself, some time after its end; those of its steps and
 * questions do not, for no timer may delete what an open execution stands on. So the same idempotency key may
 * start an execution beside records from before; each says of which life it is. S11 until then it is the same
 * execution. S6 such a record is not the new one's: a step that was done before is not done.
 */

import type { Parent } from './children.ts';
import type { Question } from './question.ts';
import { type Execution, isTerminal, type Step } from './state.ts';

/** An idempotency key is remembered for so long after its execution's end, at least. */
export const MIN_RETENTION_MS = 86_400_000;

/** No start takes as long from what it puts to the record that names it: no function runs for longer. */
export const START_MS = 900_000;

/**
 * What was read longer ago may be erased since: an erasure waits for longer after the beginning of a step.
 * What then begins it finds nothing in its way, and has to know that the execution is still there.
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
 * Whether a record that belongs to no execution any more may be removed: it was not written for
 * as long as a key is remembered.
 */
export const isAbandoned = (record: Step | Question, now: number): boolean =>
  // A record that does not say when it was written is older than nothing.
  touchedAt(record) > 0 && isLongAgo(touchedAt(record), now);

/** No start, and nothing else under way, takes as long. */
export const isLongAgo = (at: number, now: number): boolean => at < now - MIN_RETENTION_MS;

/**
 * When the record of an execution expires; never while it is open, or its end was not announced. A child's
 * does not by itself: its parent may be undone long after the child has succeeded, and then recalls it.
 */
export const expiresAt = (execution: Execution, retentionMs: number): number | undefined =>
  execution.parent === undefined ? keptUntil(execution, retentionMs) : undefined;

/**
 * Whether a child is from an earlier life of its parent's id: it is kept longer than the parent, so the
 * parent's next life may meet it. S6 what it did is not done for the new one. S10 nor is it undone with it.
 */
export const isOfEarlierLife = ({ parent }: Pick<Execution, 'parent'>, now: Parent | undefined): boolean =>
  parent?.since !== undefined && now?.since !== undefined && parent.since < now.since;

/** Whether a child may go as soon as its parent has gone. */
export const isPastChild = (execution: Execution, retentionMs: number, now: number): boolean =>
  execution.parent !== undefined && (keptUntil(execution, retentionMs) ?? now) < now;

const keptUntil = (execution: Execution, retentionMs: number): number | undefined =>
  isTerminal(execution.status) && execution.wakeAt === undefined && execution.endedAt !== undefined
    ? execution.endedAt + retentionMs
    : undefined;
