/**
 * The audit of large values: lists the bucket, a piece at each run, and removes what executions that are gone
 * have left in it.
 *
 * Owns: the pass through the list, its bounds, where the next run goes on. Does not own: how long an object
 * is kept (`core/supervision/stored-values.ts`, V5 and V6), the state table (`audit.ts`).
 *
 * A pass begins once a day at most. It reads, strongly, each execution that may be gone: older than the
 * retention, or marked. A list shows the mark of a life first, so that a page which begins in the middle of a
 * life asks for it.
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
import { given } from '../core/values/given.ts';
import { sideBySide } from '../engine/side-by-side.ts';

const PASS_EVERY_MS = 86_400_000;
/** Lives of a page that are handled at a time. */
const LIVES_AT_A_TIME = 8;

/** All there is to be done with them. */
export type Values = LargeValues & LargeValueInventory;

export interface ValuesAuditPorts extends Pick<Ports, 'store' | 'clock' | 'random' | 'log'> {
  /** @default there are none */
  readonly values?: Values;
  readonly valuesAudit: SideRecords<ValuesAudit>;
}

export interface ValuesAuditOptions {
  /** No page is listed after that. */
  readonly untilAt: number;
  /** Pages of one run, up to 1,000 objects each. */
  readonly maxPages: number;
  /** How long an ended execution is kept; absent: for ever, and so are its values. */
  readonly retentionMs?: number;
}

type Counts = Pick<ValuesAudit, 'listed' | 'marked' | 'removed' | 'failed'>;
const NOTHING: Counts = { listed: 0, marked: 0, removed: 0, failed: 0 };

/** One run. @returns what it did itself */
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
    ...given({ cursor }),
  };
  if ((await valuesAudit.write(receipt)) === 'conflict')
    log.note({ what: 'receipt-failed', detail: 'another audit of values was faster' });
  return own;
}

const prefixOf = ({ executionId, life }: ValuesOfLife): string => valuesPrefixOf({ id: executionId, life });

/** A page that begins behind another one may have the first life's mark in that one. */
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

/** A life that cannot be handled delays no other (L4). */
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
        // A page may hold a part of a life: with its mark all the rest would be kept for as long again.
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
