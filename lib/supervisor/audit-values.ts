/**
 * The audit of large values: each run lists a piece of the bucket, and removes the objects of executions that
 * are gone.
 *
 * Owns: the pass through the list, its bounds, where the next run continues. Does not own: how long an object
 * is kept (`core/supervision/stored-values.ts`, V5 and V6), the state table (`audit.ts`).
 *
 * A pass begins once a day at most. Each execution that may be gone, because it is marked or older than the
 * retention, is read strongly. A list has the mark of a life first, so a page that begins in the middle of a
 * life reads its mark.
 */

import type { LargeValueInventory, LargeValues, Ports, SideRecords } from '../core/ports.ts';
import {
  byLife,
  mayBeGone,
  together,
  type ValuesAudit,
  type ValuesOfLife,
  verdictOf,
} from '../core/supervision/stored-values.ts';
import { valuesPrefixOf } from '../core/records/large-values.ts';
import { sayable } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { sideBySide } from '../engine/side-by-side.ts';

const PASS_EVERY_MS = 86_400_000;
/** How many lives of a page are handled at a time. */
const LIVES_AT_A_TIME = 8;

/** All operations that the audit needs on stored values. */
export type Values = LargeValues & LargeValueInventory;

export interface ValuesAuditPorts extends Pick<Ports, 'store' | 'clock' | 'random' | 'log'> {
  /** @default there are no values */
  readonly values?: Values;
  readonly valuesAudit: SideRecords<ValuesAudit>;
}

export interface ValuesAuditOptions {
  /** No page is listed after this time. */
  readonly untilAt: number;
  /** The most pages of one run, up to 1,000 objects each. */
  readonly maxPages: number;
  /** How long an ended execution is kept; absent: for ever, and its values too. */
  readonly retentionMs?: number;
}

type Counts = Pick<ValuesAudit, 'listed' | 'marked' | 'removed' | 'failed'>;
const NOTHING: Counts = { listed: 0, marked: 0, removed: 0, failed: 0 };

/** Makes one run. @returns the counts of this run alone */
export async function auditValues(ports: ValuesAuditPorts, options: ValuesAuditOptions): Promise<Counts> {
  const { clock, random, values, valuesAudit, log } = ports;
  const { retentionMs, maxPages, untilAt } = options;
  if (values === undefined || retentionMs === undefined) return NOTHING;
  const before = await valuesAudit.read();
  const isUnderWay = before?.cursor !== undefined;
  if (!isUnderWay && before !== undefined && clock.now() < before.startedAt + PASS_EVERY_MS) return NOTHING;
  const { startedAt, ...begun } = isUnderWay ? before : { ...NOTHING, startedAt: clock.now() };
  let own = NOTHING;
  let cursor = isUnderWay ? before.cursor : undefined;
  for (let pages = 0; pages < maxPages && (pages === 0 || clock.now() < untilAt); pages += 1) {
    const page = await values.list('', cursor);
    const lives = await withMarks(values, byLife(page.items), cursor !== undefined);
    own = sum(own, { ...NOTHING, listed: page.items.length });
    for (const counts of await sideBySide(lives, LIVES_AT_A_TIME, (life) =>
      auditLife({ ...ports, values }, life, retentionMs),
    ))
      own = sum(own, counts);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  const receipt: ValuesAudit = {
    ...sum(begun, own),
    startedAt,
    version: (before?.version ?? 0) + 1,
    writeId: random.id(),
    ...defined({ cursor }),
  };
  if ((await valuesAudit.write(receipt)) === 'conflict')
    log.note({ what: 'receipt-failed', detail: 'another audit of values was faster' });
  return own;
}

const prefixOf = ({ executionId, life }: ValuesOfLife): string => valuesPrefixOf({ id: executionId, life });

/** Adds the first life's mark: if the page continues another one, the mark may be in that page. */
async function withMarks(
  values: Values,
  lives: readonly ValuesOfLife[],
  isContinued: boolean,
): Promise<readonly ValuesOfLife[]> {
  const [first, ...others] = lives;
  if (!isContinued || first === undefined) return lives;
  const { items } = await values.list(`${prefixOf(first)}!`);
  const [marks] = byLife(items.filter(({ key }) => !first.marks.includes(key)));
  return marks === undefined ? lives : [together(first, marks), ...others];
}

/** Audits one life. If that fails, it delays no other (L4). */
async function auditLife(
  ports: ValuesAuditPorts & { readonly values: Values },
  life: ValuesOfLife,
  retentionMs: number,
): Promise<Counts> {
  const { store, clock, values, log } = ports;
  const { executionId, marks } = life;
  if (!mayBeGone(life, retentionMs, clock.now())) return NOTHING;
  try {
    const execution = await store.readExecution(executionId);
    const verdict = verdictOf(life, execution, clock.now());
    switch (verdict.kind) {
      case 'keep':
        return NOTHING;
      case 'mark':
        await values.put(verdict.key, '');
        return { ...NOTHING, marked: 1 };
      case 'unmark':
        await values.remove(verdict.keys);
        return NOTHING;
      case 'remove': {
        await values.remove(verdict.keys);
        // A page may have only a part of the life: without its mark, the rest would be kept that long again.
        const rest = await values.list(prefixOf(life));
        if (rest.items.every(({ key }) => marks.includes(key))) await values.remove(marks);
        if (verdict.keys.length > 0) log.note({ what: 'leftover-removed', executionId });
        return { ...NOTHING, removed: verdict.keys.length };
      }
    }
  } catch (error) {
    log.note({ what: 'audit-failed', executionId, detail: sayable(error) });
    return { ...NOTHING, failed: 1 };
  }
}

const sum = (one: Counts, other: Counts): Counts => ({
  listed: one.listed + other.listed,
  marked: one.marked + other.marked,
  removed: one.removed + other.removed,
  failed: one.failed + other.failed,
});
