/** References that a workflow's function creates but that do not end up in the plan. */

import { agent, and, concat, eq, exists, orElse, required, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { leftReferences } from '../../lib/author/left-references.ts';

const pay = agent('pay', { input: z.any(), output: z.any(), effect: 'none' });

// An author writes it like this without help from types: a linter that knows types would report it.
// oxlint-disable-next-line typescript/no-explicit-any
type Free = any;
const flow = (build: (w: Free, paid: Free) => unknown): Free =>
  workflow('flow', { input: z.any(), within: '1h' }, (w: Free) => {
    const paid = w.step('pay', pay, {});
    build(w, paid);
  });
const left = (build: (w: Free, paid: Free) => unknown): string[] =>
  leftReferences(flow(build)).map(({ reference }) => reference);
const step = (w: Free, name: string, input: unknown = {}): void => w.step(name, pay, input);

test.each<[string, (w: Free, paid: Free) => unknown, string[]]>([
  ['tested', (w) => w.input.gift && step(w, 'wrap'), ['input.gift']],
  ['tested, of an output', (w, paid) => (paid.output.id ? step(w, 'wrap') : undefined), ['pay.output.id']],
  ['destructured and negated', ({ input: { gift }, ...w }) => !gift && step(w, 'wrap'), ['input.gift']],
  [
    'filtered',
    (w) => step(w, 'wrap', { all: [w.input.gift].filter((one) => one === 'box') }),
    ['input.gift'],
  ],
  ['of an item', (w) => w.map('m', pay, w.input.list, (i: Free) => ({ x: i.gift ? 1 : 2 })), ['item.gift']],
  ['of two', (w) => (w.input.gift || w.input.no) && step(w, 'wrap'), ['input.gift']],
  ['compared', (w) => w.input.gift === 'box' && step(w, 'wrap'), ['input.gift']],
  ['compared by its type', (w) => typeof w.input.gift === 'string' && step(w, 'wrap'), ['input.gift']],
  ['compared in the language, outside `when`', (w) => eq(w.input.gift, 1) && step(w, 'wrap'), ['input.gift']],
  ['asked for', (w) => step(w, 'wrap', { x: exists(w.input.gift) ? 1 : 2 }), ['input.gift']],
  ['twice', (w) => [w.input.gift, w.input.gift].every(Boolean) && step(w, 'wrap'), ['input.gift']],
])('one that is %s is found, once', (_, build, expected) => {
  expect(left(build)).toEqual(expected);
});

test.each<[string, (w: Free, paid: Free) => unknown]>([
  [
    'given, compared and asked in the language',
    (w, paid) => {
      const { gift, list } = w.input;
      const of = concat('gift ', paid.output.id);
      w.step('a', pay, { gift, of }, { when: and(exists(w.input.at), eq(w.input.kind, 1)) });
      w.map('b', pay, list, (item: Free, at: Free) => ({ sku: item.sku, at, x: orElse(item.y, gift) }));
      w.approval('c', { within: '1h', show: { city: required(w.input.address.city) } });
      w.wait('d', { until: w.input.until, after: [paid] });
      const rounds = {
        next: (last: Free) => ({ x: last.x }),
        until: (last: Free) => eq(last.y, 1),
        maxRounds: 2,
      };
      w.repeat('e', pay, { gift }, rounds);
      w.onFailure('f', pay, { id: orElse(paid.output.name, 'none'), code: w.failure.code });
    },
  ],
  ['read further', (w) => step(w, 'wrap', { sku: w.input.gift?.sku })],
  ['beside keys with $', (w) => step(w, 'wrap', { $where: w.input.gift, of: { $eq: 1 } })],
  ['given as well, which is not noticed', (w) => step(w, 'wrap', { gift: w.input.gift ?? 'none' })],
  ['whole, which is not noticed', (w, paid) => paid.output && step(w, 'wrap')],
])('one that is %s is not found', (_, build) => {
  expect(left(build)).toEqual([]);
});

test('the returned object uses a reference, and nothing reads the returned object', () => {
  const of = (build: (w: Free) => Free): string[] =>
    leftReferences(
      workflow('flow', { input: z.any(), within: '1h' }, (w: Free): Free => {
        step(w, 'x');
        return build(w);
      }) as Free,
    ).map(({ reference }) => reference);
  expect(of((w) => ({ gift: w.input.gift }))).toEqual([]);
  expect(of((w) => w.input)).toEqual([]);
});

test('one of a workflow that another one runs is found, also where that is declared inside', () => {
  const inner = (): Free => flow((w) => w.input.gift && step(w, 'wrap'));
  const outer = workflow('outer', { input: z.any(), within: '2h' }, (w: Free) => {
    const { kind } = w.input;
    w.child('c', inner(), {});
    if (kind) w.child('d', inner(), {});
  });
  const found = leftReferences(outer as Free).map(({ workflow: of, reference }) => `${of} ${reference}`);
  expect([...new Set(found)]).toEqual(['outer input.kind', 'flow input.gift']);
});
