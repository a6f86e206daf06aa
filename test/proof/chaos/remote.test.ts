/** The audit of the remote agent's journal finds each planted mistake. */

import { auditJournal, type JournalEntry } from '../../../proof/chaos/remote-audit.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';

const ended = (id: string, status: string, label?: string): Snapshot =>
  ({ execution: { id, status }, steps: { print: { output: label && { label } } } }) as never;
const label = (key: string, pid = 1): JournalEntry => ({ key, label: `${key}/${pid}` });
const audit = (entries: readonly JournalEntry[], snapshots: readonly Snapshot[], killed: number[] = []) =>
  auditJournal(entries, snapshots, new Set(killed));

const NOTHING = { doubled: [], lost: [], found: 0 };

it('finds nothing where each has its label, or none', () => {
  const entries = [label('e1.print.a'), label('e2.print.a'), { key: 'e2.print.a', voids: 'e2.print.a/1' }];
  const snapshots = [ended('e1', 'succeeded', 'e1.print.a/1'), ended('e2', 'compensated')];
  expect(audit(entries, snapshots)).toEqual(NOTHING);
});

it('counts a label that a killed call has left as found', () => {
  const one = [ended('e1', 'succeeded', 'e1.print.a/7')];
  expect(audit([label('e1.print.a', 7)], one, [7]).found).toBe(1);
  expect(audit([label('e1.print.a', 7)], one, [8]).found).toBe(0);
});

it.each<[string, readonly JournalEntry[], Snapshot, Partial<typeof NOTHING>]>([
  [
    'two labels under one key',
    [label('e.print.a', 1), label('e.print.a', 2)],
    ended('e', 'succeeded', 'e.print.a/2'),
    { doubled: ['e.print.a has 2 labels', 'e has 2 labels that stand'] as never },
  ],
  [
    'a second label although the first was voided',
    [label('e.print.a', 1), { key: 'e.print.a', voids: 'e.print.a/1' }, label('e.print.a', 2)],
    ended('e', 'succeeded', 'e.print.a/2'),
    { doubled: ['e.print.a has 2 labels'] as never },
  ],
  [
    'two labels under two keys of one execution',
    [label('e.print.a'), label('e.print.a-2')],
    ended('e', 'succeeded', 'e.print.a/1'),
    { doubled: ['e has 2 labels that stand'] as never },
  ],
  [
    'a label that stands where all was undone',
    [label('e.print.a')],
    ended('e', 'compensated'),
    { doubled: ['e is compensated, and a label stands'] as never },
  ],
  ['no label', [], ended('e', 'succeeded', 'e.print.a/1'), { lost: ['e has no label'] as never }],
  [
    'another label',
    [label('e.print.a', 2)],
    ended('e', 'succeeded', 'e.print.a/1'),
    { lost: ['e has no label'] as never },
  ],
])('notices %s', (_, entries, snapshot, found) => {
  expect(audit(entries, [snapshot])).toEqual({ ...NOTHING, ...found });
});
