/** Plants doubles, losses and leftovers in a ledger. */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { auditDeeds } from './audit.ts';
import type { Played, Scene } from './example.ts';

const DEEDS: readonly Deed[] = [
  {
    service: 'hotel',
    kind: 'room',
    action: 'book',
    data: z.object({ guest: z.string() }),
    about: 'guest',
    undo: { kind: 'release', action: 'release' },
  },
];
const scene: Scene = { name: 's', wrong: '', ends: [], play: async () => '', tell: () => '' };
const played = [
  { scene, subject: 'ann', end: { status: 'succeeded' } },
  { scene, subject: 'bob', end: { status: 'compensated' } },
] as unknown as Played[];

const entry = (seq: number, kind: string, more: object): Entry =>
  ({ seq, at: seq, service: 'hotel', kind, id: `${kind}-${seq}`, reference: `r-${seq}`, ...more }) as Entry;
const room = (seq: number, guest: string, more: object = {}): Entry => entry(seq, 'room', { guest, ...more });

const found = (entries: readonly Entry[]): string[] =>
  auditDeeds(DEEDS, entries, played, ({ end }) =>
    end.status === 'succeeded' ? { room: 1 } : {},
  ).findings.map(({ kind, subject }) => `${kind} ${subject ?? '-'}`);

test('what must stand stands, and what was taken back does not', () => {
  const entries = [room(1, 'ann/hotel'), room(2, 'bob'), entry(3, 'release', { guest: 'bob', of: 'room-2' })];
  expect(found(entries)).toEqual([]);
  const { ledger } = auditDeeds(DEEDS, entries, played, () => undefined);
  expect(ledger).toBe('2 rooms, 1 taken back');
});

test('a loss, and what is left behind', () => {
  expect(found([room(2, 'bob')])).toEqual(['lost ann', 'leftBehind bob']);
});

test('a double under another reference, and one under the same, also where it was taken back', () => {
  expect(found([room(1, 'ann'), room(2, 'ann')])).toEqual(['doubled ann']);
  const taken = [
    room(1, 'ann'),
    room(2, 'ann', { reference: 'r-1' }),
    entry(3, 'release', { guest: 'ann', of: 'room-2' }),
  ];
  expect(found(taken)).toEqual(['doubled ann']);
});

test('an undo that was done twice, and a key that stands for two requests', () => {
  const twice = [3, 4].map((seq) => entry(seq, 'release', { guest: 'bob', of: 'room-2' }));
  expect(found([room(1, 'ann'), room(2, 'bob'), ...twice])).toEqual(['doubled bob']);
  expect(found([room(1, 'ann'), entry(2, 'misuse', { guest: 'ann' })])).toEqual(['other -']);
});
