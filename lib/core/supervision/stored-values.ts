/**
 * Large values of executions that are gone: how long their objects are kept, and when they are removed.
 *
 * Owns: the mark that records since when an execution is gone, and the consequence of a read. Does not own:
 * the keys of values (`records/large-values.ts`), listing and reading (`supervisor/audit-values.ts`).
 *
 * Invariants
 * - V5 no object is removed while the record of its execution, in its life, exists: the record must have been
 *   missing twice, 35 days apart, both times strongly read, and in every pass in between. A restore of the
 *   table brings records of the last 35 days back, and finds their values.
 * - V6 no object stays for ever. One that no record names, because its write failed, is removed with its
 *   execution, or like a value of an execution that was never made.
 */

import { isOf, valueKeyIn, valuesPrefixOf } from '../records/large-values.ts';
import { isLongAgo } from '../records/retention.ts';
import type { Execution } from '../records/state.ts';

/** How far back DynamoDB can restore a table. */
export const VALUES_KEPT_MS: number = 35 * 86_400_000;

/** Sorts before every holder of a value, so that a listing shows it first. */
const MARK = '!absent';

/** The mark of an execution's life: an object without content. */
export const absentMark = (executionId: string, life: string, at: number): string =>
  `${valuesPrefixOf({ id: executionId, life })}${MARK}/${at}`;

/** An object, as a listing shows it. */
interface Stored {
  readonly key: string;
  readonly storedAt: number;
}

/** A listing's objects of one life of an execution, or some of them. */
export interface ValuesOfLife {
  readonly executionId: string;
  readonly life: string;
  readonly values: readonly Stored[];
  /** Keys of marks; two audits at once may leave two. */
  readonly marks: readonly string[];
  /** When the latest mark was made: a read at that time found no record. */
  readonly absentSince?: number;
}

/** The part of a life that a listed object is; undefined if it is neither a value nor a mark. */
function partOfLife(stored: Stored): ValuesOfLife | undefined {
  const key = valueKeyIn(stored.key);
  if (key !== undefined) return { executionId: key.executionId, life: key.life, values: [stored], marks: [] };
  const [, executionId = '', life = '', mark, at, ...more] = stored.key.split('/');
  const since = Number(at);
  if (
    mark !== MARK ||
    more.length > 0 ||
    !isOf(executionId, stored.key) ||
    !Number.isSafeInteger(since) ||
    since <= 0
  )
    return undefined;
  return { executionId, life, values: [], marks: [stored.key], absentSince: since };
}

/** Lives, in the order of the listing. */
export function byLife(listed: readonly Stored[]): readonly ValuesOfLife[] {
  const lives = new Map<string, ValuesOfLife>();
  for (const stored of listed) {
    const part = partOfLife(stored);
    if (part === undefined) continue;
    const name = `${part.executionId}/${part.life}`;
    const known = lives.get(name);
    lives.set(name, known === undefined ? part : together(known, part));
  }
  return [...lives.values()];
}

export function together(one: ValuesOfLife, other: ValuesOfLife): ValuesOfLife {
  const absentSince = Math.max(one.absentSince ?? 0, other.absentSince ?? 0);
  return {
    executionId: one.executionId,
    life: one.life,
    values: [...one.values, ...other.values],
    marks: [...one.marks, ...other.marks],
    ...(absentSince === 0 ? {} : { absentSince }),
  };
}

/**
 * True if its execution may be gone. An execution is kept for the retention after its end, and its values
 * were put before that end, so others need not be read.
 */
export const mayBeGone = ({ values, marks }: ValuesOfLife, retentionMs: number, now: number): boolean =>
  marks.length > 0 || values.some(({ storedAt }) => storedAt < now - retentionMs);

export type ValuesVerdict =
  | { readonly kind: 'keep' }
  /** The execution was found gone for the first time. */
  | { readonly kind: 'mark'; readonly key: string }
  /** The execution exists again, so its marks are removed. */
  | { readonly kind: 'unmark'; readonly keys: readonly string[] }
  /** The keys to remove; they include the marks once nothing else is left. */
  | { readonly kind: 'remove'; readonly keys: readonly string[] };

const KEEP: ValuesVerdict = { kind: 'keep' };

/** @param execution as just read, of any life */
export function verdictOf(
  { executionId, life, values, marks, absentSince }: ValuesOfLife,
  execution: Pick<Execution, 'life'> | undefined,
  now: number,
): ValuesVerdict {
  const isThere = execution?.life === life;
  if (isThere) return marks.length === 0 ? KEEP : { kind: 'unmark', keys: marks };
  if (absentSince === undefined) return { kind: 'mark', key: absentMark(executionId, life, now) };
  if (now < absentSince + VALUES_KEPT_MS) return KEEP;
  // Keeps a value that seems younger than the mark, which only a clock that was set can cause, until it is
  // old enough.
  const keys = values.filter(({ storedAt }) => isLongAgo(storedAt, now)).map(({ key }) => key);
  return keys.length === 0 && values.length > 0 ? KEEP : { kind: 'remove', keys };
}

/** The audit's position in the list of all objects. */
export interface ValuesAudit {
  readonly version: number;
  readonly writeId: string;
  /** When the pass began. */
  readonly startedAt: number;
  /** Where the next run continues; absent if the pass is over. */
  readonly cursor?: string;
  /**
   * Counts: objects listed, executions newly marked as gone, objects removed, lives that could not be
   * handled.
   */
  readonly listed: number;
  readonly marked: number;
  readonly removed: number;
  readonly failed: number;
}
