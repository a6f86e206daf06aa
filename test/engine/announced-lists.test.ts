/**
 * Which questions of a list are announced where something fails between the place being taken
 * and the question being written.
 */

import { quietIfAnnounced, mayRepeatInList } from '../../lib/engine/announced-lists.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { type Incident, asIncident } from '../../lib/core/records/question.ts';
import { memoryAnnouncedLists } from '../../lib/memory/side-records.ts';

const around = { 'of-flow': { executionId: 'flow', step: 'all', index: 0, part: true } } as const;
type Asked = Partial<Incident>;
const portsWith = (announcedLists = memoryAnnouncedLists(), asked: Record<string, Asked[]> = {}): Ports =>
  ({
    announcedLists,
    store: {
      readExecution: async (id: string) => ({ id, parent: around[id as keyof typeof around] }),
      read: async (id: string) => ({ questions: asked[id] }),
    },
  }) as never;
let writes = 0;
const asking = (id: string, parent?: object, incident: object = {}): Write => {
  writes += 1;
  return {
    executionId: id,
    execution: { id, parent },
    question: {
      number: 1,
      version: 1,
      writeId: `w-${writes}`,
      step: 'list[0]',
      wrongAnswer: '5',
      openedAt: 1,
      ...incident,
    },
  } as never;
};
const part = (index: number, more = {}) => ({ executionId: 'flow', step: 'all', index, part: true, ...more });
const isQuiet = async (ports: Ports, write: Write): Promise<boolean> =>
  mayRepeatInList(write) && asIncident((await quietIfAnnounced(ports, write)).question)?.quiet === true;

it('the execution that was first stays it, also after a process that died before its write', async () => {
  const ports = portsWith();
  expect(await isQuiet(ports, asking('a', part(0)))).toBe(false);
  expect(await isQuiet(ports, asking('b', part(1)))).toBe(true);
  expect(await isQuiet(ports, asking('a', part(0)))).toBe(false);
});

it('another list, and the same one tried again, are announced', async () => {
  const ports = portsWith();
  expect(await isQuiet(ports, asking('a', part(0)))).toBe(false);
  expect(await isQuiet(ports, asking('b', part(1, { step: 'others' })))).toBe(false);
  expect(await isQuiet(ports, asking('c', part(1, { epoch: 2 })))).toBe(false);
  expect(await isQuiet(ports, asking('d', part(2, { epoch: 2 })))).toBe(true);
});

it('of a workflow for each item each step is; one above that is no list is none', async () => {
  const ports = portsWith();
  const item = { executionId: 'of-flow', step: 'list[0]', index: 0 };
  expect(await isQuiet(ports, asking('a', item, { step: 'x' }))).toBe(false);
  expect(await isQuiet(ports, asking('b', item, { step: 'x' }))).toBe(true);
  expect(await isQuiet(ports, asking('c', item, { step: 'y' }))).toBe(false);
  const child = { executionId: 'plain', step: 'x', index: 0 };
  expect(await isQuiet(ports, asking('d', child, { step: 'x' }))).toBe(false);
  expect(await isQuiet(ports, asking('e', child, { step: 'x' }))).toBe(false);
});

const announced = { number: 1, step: 'list[0]', wrongAnswer: '5', openedAt: 1 };
it.each<[string, Asked[], number, boolean]>([
  ['that is open', [announced], 90_000, true],
  ['that is answered', [{ ...announced, closedAt: 2 }], 3, false],
  [
    'that is answered, and one that is not announced is open',
    [
      { ...announced, closedAt: 2 },
      { ...announced, quiet: true },
    ],
    3,
    false,
  ],
  ['that is about to be written', [], 60_000, true],
  ['that was never written', [], 60_001, false],
  ['that is open, of another kind', [{ number: 1, step: 'list[0]', openedAt: 1 }], 60_001, false],
])('beside an announced one %s', async (_, asked, openedAt, expected) => {
  const ports = portsWith(memoryAnnouncedLists(), { a: asked });
  expect(await isQuiet(ports, asking('a', part(0)))).toBe(false);
  expect(await isQuiet(ports, asking('b', part(1), { openedAt }))).toBe(expected);
});

it('of a workflow for each item an answered question is not open for another step’s', async () => {
  const item = { executionId: 'of-flow', step: 'list[0]', index: 0 };
  const [x, y] = [
    { ...announced, step: 'x', closedAt: 2 },
    { ...announced, step: 'y' },
  ];
  const ports = portsWith(memoryAnnouncedLists(), { a: [x, y] });
  for (const step of ['x', 'y']) await isQuiet(ports, asking('a', item, { step }));
  expect(await isQuiet(ports, asking('b', item, { step: 'y', openedAt: 3 }))).toBe(true);
  expect(await isQuiet(ports, asking('b', item, { step: 'x', openedAt: 3 }))).toBe(false);
});

it('of two that find it answered at once one is announced', async () => {
  const ports = portsWith(memoryAnnouncedLists(), { a: [{ ...announced, closedAt: 2 }] });
  expect(await isQuiet(ports, asking('a', part(0)))).toBe(false);
  const both = ['b', 'c'].map(async (id) => isQuiet(ports, asking(id, part(1), { openedAt: 3 })));
  expect(await Promise.all(both)).toEqual([false, true]);
});

it('other questions are never quiet', async () => {
  const ports = portsWith();
  for (const id of ['a', 'b']) {
    expect(await isQuiet(ports, asking(id, part(0), { wrongAnswer: undefined }))).toBe(false);
    expect(await isQuiet(ports, asking(id))).toBe(false);
  }
});

it('what cannot be read or written is announced', async () => {
  const away = async (): Promise<never> => Promise.reject(new Error('away'));
  const ports = portsWith({ ...memoryAnnouncedLists(), write: away, read: away });
  for (const id of ['a', 'b']) expect(await isQuiet(ports, asking(id, part(0)))).toBe(false);
});
