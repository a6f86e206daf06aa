/**
 * Changes a record beside the executions: reads it, writes its next version, and repeats both if another
 * process was faster.
 *
 * Owns: how often. Does not own: the next version, and what follows if it cannot be written (the caller).
 */

import type { SideRecord, SideRecords } from '../core/ports.ts';

/** The most races lost in a row: while a service is in trouble, every failed call writes its breaker. */
const MAX_LAPS = 20;

/**
 * @param change returns the record's next version, or undefined if there is nothing to write
 * @param known the record as the caller last wrote it; it may have changed since. @default it is read
 * @returns the record before and after
 */
export async function changeRecord<Kept extends SideRecord, Key extends readonly unknown[]>(
  records: SideRecords<Kept, Key>,
  key: Key,
  change: (before: Kept | undefined) => Kept | undefined,
  known?: Kept,
): Promise<{ readonly before: Kept | undefined; readonly written?: Kept }> {
  let before = known ?? (await records.read(...key));
  for (let lap = 0; lap < MAX_LAPS; lap += 1) {
    const next = change(before);
    if (next === undefined) return { before };
    if ((await records.write(next)) === 'written') return { before, written: next };
    before = await records.read(...key);
  }
  throw new Error(`other processes changed a record first, at each of ${MAX_LAPS} tries: ${key.join(' ')}`);
}
