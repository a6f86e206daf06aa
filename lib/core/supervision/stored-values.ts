/**
 * Large values of executions that are gone: how long their objects are kept, and when they may be removed.
 *
 * Owns: the mark that says since when an execution is gone, and what follows from a read. Does not own: the
 * keys of values (`records/large-values.ts`), the listing and the reads (`supervisor/audit-values.ts`).
 *
 * Invariants
 * - V5 no object is removed while the record of its execution, in its life, exists: an object is only removed
 *   if no record was found twice, 35 days apart, both strongly read, and at no pass in between was there one.
 *   A restore of the table brings records of the last 35 days back, and finds their values.
 * - V6 no object stays for ever: an object that no record names, because its write failed, is removed with
 *   its execution, or like a value of an execution that was never made.
 */

import { isOf, valueKeyIn, valuesPrefixOf } from '../records/large-values.ts';
import { isLongAgo } from '../records/retention.ts';
import type { Execution } from '../records/state.ts';

/** How far back DynamoDB can restore a table. */
export const VALUES_KEPT_MS: number = 35 * 86_400_000;

/** Comes before every holder of a value in the order of keys, so that a listing shows it first. */
const MARK = '!absent';

/** The mark of an execution's life: an object without content. */
export const absentMark = (executionId: string, life: string, at: number): string =>
  `${valuesPrefixOf({ id: executionId, life })}${MARK}/${at}`;

/** An object, as a listing shows it. */
interface Stored {
  readonly key: string;
  readonly storedAt: number;
}

/** The part of a listing that belongs to one life of an execution, or some of it. */
export interface ValuesOfLife {
  readonly executionId: string;
  readonly life: string;
  readonly values: readonly Stored[];
  /** Keys of marks: two audits at once may leave two. */
  readonly marks: readonly string[];
  /** The latest of them: a read at that time found no record. */
  readonly absentSince?: number;
}

/** Adds a listed object to those of its life; nothing for one that is neither a value nor a mark. */
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
 * Whether its execution may be gone: an execution is kept for the retention after its end, and no value of it
 * was put after that end. Other executions need not be read.
 */
export const mayBeGone = ({ values, marks }: ValuesOfLife, retentionMs: number, now: number): boolean =>
  marks.length > 0 || values.some(({ storedAt }) => storedAt < now - retentionMs);

export type ValuesVerdict =
  | { readonly kind: 'keep' }
  /** It was found gone for the first time. */
  | { readonly kind: 'mark'; readonly key: string }
  /** It exists again. */
  | { readonly kind: 'unmark'; readonly keys: readonly string[] }
  /** Includes the marks, once there is nothing else. */
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
  // A value that was put since is impossible unless a clock was set: it waits for its turn.
  const keys = values.filter(({ storedAt }) => isLongAgo(storedAt, now)).map(({ key }) => key);
  return keys.length === 0 && values.length > 0 ? KEEP : { kind: 'remove', keys };
}

/** The audit's position in the list of all objects. */
export interface ValuesAudit {
  readonly version: number;
  readonly writeId: string;
  /** When the pass began. */
  readonly startedAt: number;
  /** Where the next run continues; absent: the pass is over. */
  readonly cursor?: string;
  /** Objects listed, executions newly marked as gone, objects removed, lives that could not be handled. */
  readonly listed: number;
  readonly marked: number;
  readonly removed: number;
  readonly failed: number;
}
