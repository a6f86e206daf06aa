/**
 * The observer of lanes and rounds: its findings, the reasons for a failed verdict, and the draws from the
 * seed.
 */

import type { EntryKind, OrderEntry as Entry } from '../../../examples/order-fulfilment/world.ts';
import { observed } from '../../../proof/chaos/lanes/observed.ts';
import { plannedLaned } from '../../../proof/chaos/lanes/plan.ts';
import { failuresOf, reportLanes } from '../../../proof/chaos/lanes/report.ts';
import { snapshot } from './failure-evidence.ts';
import { TALLY } from './tally.ts';

/** Reads lines `kind execution account part`. */
const ledger = (...lines: readonly string[]): Entry[] =>
  lines.map((line, at) => {
    const [kind, executionId, account, part] = line.split(' ') as [EntryKind, string, string, string];
    const [id, orderId] = [`${kind}-${at}`, `laned-${executionId.charAt(0)}-${account}/${part}`];
    return { seq: at, at, service: 'payment', kind, id, reference: id, executionId, orderId };
  });

const PAGES = ['shipment a.pages acc1 page-1', 'shipment a.pages acc1 page-2'];
const WHOLE = [
  'charge a acc1 pay',
  'charge b acc1 pay',
  ...PAGES,
  'charge a acc1 job',
  'refund a acc1 job',
  'cancellation a.pages acc1 page-2',
  'cancellation a.pages acc1 page-1',
  'refund a acc1 pay',
  'charge c acc1 pay',
  'charge b acc1 job',
  'charge d acc2 pay',
];

it('finds nothing where two are in a lane, and rounds are undone in reverse', () => {
  expect(observed(ledger(...WHOLE), 2)).toEqual({
    findings: [],
    mostInLane: 2,
    timesFull: 2,
    longestRounds: 2,
    walkedBack: 1,
  });
});

it.each([
  ['a third one in a lane', ['charge c acc1 pay', ...WHOLE], 'lane acc1: 3 at entry 2 (b)'],
  ['a page before the one before', ['charge a acc1 pay', ...PAGES.toReversed()], 'rounds of a: pages 2, 1'],
  [
    'a page undone before the one after',
    [...PAGES, 'cancellation a.pages acc1 page-1', 'cancellation a.pages acc1 page-2'],
    'rounds of a: undone 1, 2',
  ],
  [
    'a page read after the undoing had begun',
    ['charge a acc1 pay', 'refund a acc1 pay', 'shipment a.pages acc1 page-1'],
    'forward a: shipment-2 was done after the undoing had begun',
  ],
])('finds %s', (_, lines, first) => {
  expect(observed(ledger(...lines), 2).findings[0]).toBe(first);
});

const verdict = (minutes: number, declined: readonly string[]) =>
  reportLanes({
    minutes,
    seed: 1,
    seconds: 70,
    healSeconds: 3,
    table: { snapshots: [snapshot('a', { name: 'laned' }, 'failed', {})], plans: new Map() },
    entries: [],
    keys: [{ key: 'laned-a', executionIds: ['a'] }],
    clientProblems: [],
    tally: TALLY,
    strikes: [],
    claims: [],
    withoutSupervisor: [],
    deadLetters: [],
    events: [],
    machine: { processors: 2, load: 1, lateMs: 12 },
    declined: new Set(declined),
  });

it('finds a failed execution that no service declined', () => {
  const line = 'a has failed, and nothing of it was declined: no cause';
  const lines = (declined: readonly string[]) =>
    verdict(1, declined).lines.filter((one) => one.includes(line));
  expect(lines([])).toEqual([`finding   ${line}`]);
  expect(lines(['laned-a'])).toEqual([]);
});

it('fails by each count, and a long run by what never came about', () => {
  const { summary } = verdict(5, ['laned-a']);
  const good = { ...summary, lost: 0, doubled: 0, left: 0, stuck: 0, findings: 0 };
  const all = { timesFull: 1, longestRounds: 1, walkedBack: 1, keptApart: 1, accepted: 1 };
  expect(failuresOf({ ...good, cameAbout: all })).toEqual([]);
  for (const key of ['lost', 'doubled', 'left', 'stuck', 'findings'] as const)
    expect(failuresOf({ ...good, cameAbout: all, [key]: 2 })).toEqual([`2 ${key}`]);
  expect(failuresOf({ ...good, cameAbout: { ...all, timesFull: 0 } })).toEqual([
    'timesFull: it never came about, so it was not tested',
  ]);
  expect(failuresOf({ ...good, minutes: 1, cameAbout: { ...all, timesFull: 0 } })).toEqual([]);
});

it('draws the same for the same seed: some are declined, canceled, repeated', () => {
  const drawn = Array.from({ length: 200 }, (_, index) => plannedLaned(7, index));
  expect(plannedLaned(7, 3)).toEqual(drawn[3]);
  expect(new Set(drawn.map(({ key }) => key)).size).toBe(200);
  for (const isOf of [
    (one: (typeof drawn)[number]) => one.isDeclined,
    (one: (typeof drawn)[number]) => one.cancelAfterMs !== undefined,
    (one: (typeof drawn)[number]) => one.repeatAfterMs !== undefined,
  ]) {
    expect(drawn.filter(isOf).length).toBeGreaterThan(5);
    expect(drawn.filter(isOf).length).toBeLessThan(100);
  }
});
