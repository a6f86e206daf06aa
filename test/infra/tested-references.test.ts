/**
 * References that a workflow's function tests as if they were values: found by what it builds with
 * something false in their place.
 */

import { agent, and, concat, eq, exists, orElse, present, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { testedReferences } from '../../lib/infra/tested-references.ts';
import { AGENT_MODULE, project } from './fixture.ts';

const pay = agent('pay', { input: z.any(), output: z.any(), effect: 'none' });

// As an author who gets no help from types writes it: a linter that knows them would say so.
// oxlint-disable-next-line typescript/no-explicit-any
type Free = any;
const flow = (build: (w: Free, paid: Free) => unknown) =>
  workflow('flow', { input: z.any(), within: '1h' }, (w: Free) => {
    const paid = w.step('pay', pay, {});
    build(w, paid);
  });
const told = (build: (w: Free, paid: Free) => unknown): string[] =>
  testedReferences(flow(build), import.meta.filename, 'workflow.ts').map(({ id }) => id);
const named = (...references: string[]): string[] =>
  references.map((reference) => `steadfast:testedReference[flow/${reference}]`);
const step = (w: Free, name: string, input: unknown = {}): void => w.step(name, pay, input);

test.each<[string, (w: Free, paid: Free) => unknown, string]>([
  ['if', (w) => w.input.gift && step(w, 'wrap'), 'input.gift'],
  ['of an output', (w, paid) => (paid.output.id ? step(w, 'wrap') : undefined), 'pay.output.id'],
  ['of a whole output', (w, paid) => paid.output && step(w, 'wrap'), 'pay.output'],
  [
    'destructured',
    (w) => {
      const { gift } = w.input;
      if (gift) step(w, 'wrap');
    },
    'input.gift',
  ],
  [
    'negated',
    (w) => {
      if (!w.input.gift) step(w, 'wrap');
    },
    'input.gift',
  ],
  ['a right operand', (w) => step(w, 'wrap', { x: w.name ?? (w.input.gift || 1) }), 'input.gift'],
  [
    'read further',
    (w) => {
      const { gift } = w.input;
      if (gift) step(w, 'wrap', { sku: gift.sku });
    },
    'input.gift',
  ],
  ['in a list', (w) => step(w, 'wrap', { all: [w.input.gift].filter(Boolean) }), 'input.gift'],
  ['an item', (w) => w.map('m', pay, w.input.list, (item: Free) => ({ x: item.gift ? 1 : 2 })), 'item.gift'],
  ['for another one', (w) => step(w, 'x', { x: w.input.gift || w.input.no }), 'input.gift'],
  [
    'of two of which one would do',
    (w) => {
      if (w.input.gift || w.input.present) step(w, 'wrap');
    },
    'input.present',
  ],
  ['in what is returned', (w) => step(w, 'x', { x: !w.input.gift }), 'input.gift'],
  [
    'where it throws',
    (w) => {
      if (!w.input.gift) throw new Error('a gift is needed');
    },
    'input.gift',
  ],
])('%s is told', (_, build, reference) => {
  expect(told(build)).toEqual(named(reference));
});

test.each<[string, (w: Free) => Free, string[]]>([
  ['a default', (w) => ({ gift: w.input.gift ?? 'none' }), named('input.gift')],
  ['none', (w) => w.input.gift, []],
])('%s in what is returned is told or not', (_, build, expected) => {
  const returning = workflow('flow', { input: z.any(), within: '1h' }, (w: Free): Free => {
    step(w, 'x');
    return build(w);
  });
  expect(testedReferences(returning, '', '').map(({ id }) => id)).toEqual(expected);
});

test('each is told once, with the line that reads it and what to write', () => {
  const found = testedReferences(
    flow((w, paid) => {
      if (w.input.gift) step(w, 'wrap');
      if (w.input.gift && paid.output.id) step(w, 'ship');
    }),
    import.meta.filename,
    'workflow.ts',
  );
  expect(found.map(({ id }) => id)).toEqual(named('input.gift', 'pay.output.id'));
  expect(found[0]?.message).toMatch(
    /^workflow\.ts:\d+: workflow 'flow' tests input\.gift as if it were a value/,
  );
  expect(found[0]?.message).toContain('when: exists(input.gift)');
});

test.each<[string, (w: Free, paid: Free) => unknown]>([
  ['with undefined', (w) => w.input.gift !== undefined && step(w, 'wrap', { x: w.input.gift })],
  ['with null', (w) => w.input.gift == null || step(w, 'wrap')],
  ['with a text', (w) => w.input.gift === 'box' && step(w, 'wrap')],
  ['by its type', (w) => typeof w.input.gift === 'string' && step(w, 'wrap')],
  ['as a list', (w) => Array.isArray(w.input.gift) && step(w, 'wrap')],
  ['in a list', (w) => ['box', 'bag'].includes(w.input.gift) && step(w, 'wrap')],
  ['in the language, outside `when`', (w) => eq(w.input.gift, 'box') && step(w, 'wrap')],
  ['whether it exists', (w) => step(w, 'wrap', { x: exists(w.input.gift) ? 1 : 2 })],
  ['with a default', (w) => orElse(w.input.gift, false) && step(w, 'wrap')],
  [
    'in a switch',
    (w) => {
      switch (w.input.gift) {
        case 'box':
          return step(w, 'wrap');
        default:
          return step(w, 'ship');
      }
    },
  ],
])('one that is compared %s is told', (_, build) => {
  expect(told(build)).toEqual(named('input.gift'));
  const [found] = testedReferences(flow(build), import.meta.filename, 'workflow.ts');
  expect(found?.message).toMatch(
    /^workflow\.ts:\d+: workflow 'flow' (tests input\.gift as|reads input\.gift and gives it to no step: compared) /,
  );
});

test.each<[string, (w: Free, paid: Free) => unknown]>([
  ['with ??', (w) => step(w, 'wrap', { gift: w.input.gift ?? false })],
  ['with ?? by a reference', (w) => step(w, 'wrap', { gift: w.input.gift ?? w.input.present })],
  [
    'in a pattern',
    (w) => {
      const { gift = false } = w.input;
      step(w, 'wrap', { gift });
    },
  ],
  [
    'in a pattern, under another name',
    (w) => {
      const { gift: wrapped = null } = w.input;
      step(w, 'wrap', { wrapped });
    },
  ],
  ['in a list', (w) => step(w, 'wrap', { all: [1, w.input.gift ?? 2] })],
  ['in an expression', (w) => step(w, 'wrap', { of: concat('gift ', w.input.gift ?? 'none') })],
  ['beside a key with $', (w) => step(w, 'wrap', { $gift: w.input.gift ?? 'none' })],
  [
    'by asking whether it is null',
    (w) => {
      const { gift } = w.input;
      step(w, 'wrap', gift == null ? { kind: 'none' } : { kind: 'some', gift });
    },
  ],
])('a default that is taken %s is told', (_, build) => {
  const found = testedReferences(flow(build), import.meta.filename, 'workflow.ts');
  expect(found.map(({ id }) => id).filter((id) => id.includes('gift]'))).toEqual(named('input.gift'));
  expect(found[0]?.message).toMatch(
    /^workflow\.ts:\d+: workflow 'flow' asks whether input\.gift is there \(\?\?, .* the default never applies: .* or take a default with orElse$/,
  );
});

// Names of their own: where a file compares one with undefined, it may mean every reference of that name.
test.each<[string, (w: Free) => unknown]>([
  [
    'with undefined',
    (w) => {
      const { ribbon } = w.input;
      step(w, 'wrap', ribbon === undefined ? { kind: 'none' } : { kind: 'some', ribbon });
    },
  ],
  [
    'by its type',
    (w) => {
      const { bow } = w.input;
      step(w, 'wrap', typeof bow !== 'undefined' ? { bow } : { kind: 'none' });
    },
  ],
])('a reference that is compared %s, and given to a step, is told', (_, build) => {
  const found = testedReferences(flow(build), import.meta.filename, 'workflow.ts');
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringMatching(/asks whether input\.(?:ribbon|bow) is there \(.*=== undefined\)/),
  ]);
});

test.each<[string, (w: Free, paid: Free) => unknown]>([
  [
    'a default of what is no reference, and a parameter of a function of one’s own',
    (w, paid) => {
      const { gift } = w.input;
      const settings: Free = {};
      const { retries = 3 } = settings;
      const put = (at?: Free): object => (at === undefined ? {} : { at });
      step(w, 'a', { gift, sku: gift?.sku, n: settings.n ?? 1, retries, ...put(gift), all: [gift, 1] });
      step(w, 'b', { $where: gift, of: { $eq: 1 }, deep: { $in: { gift } } });
      step(w, 'c', w.input.order);
      w.child(
        'd',
        flow((v) => step(v, 'x')),
        { gift },
      );
      w.approval('e', { within: '1h', show: { gift: orElse(gift, 'none') } });
      w.repeat(
        'f',
        pay,
        { gift },
        { next: (last: Free) => ({ x: last.x }), until: (last: Free) => eq(last.x, 1), atMost: 2 },
      );
      w.onFailure('g', pay, { id: orElse(paid.output.id, 'none'), code: w.failure.code });
    },
  ],
  [
    'what is given, compared and asked in the language',
    (w, paid) => {
      const { gift, list } = w.input;
      w.step(
        'a',
        pay,
        { gift, of: concat('gift ', paid.output.id) },
        { when: and(exists(gift), eq(gift, 1)) },
      );
      w.map('b', pay, list, (item: Free, index: Free) => ({
        sku: item.sku,
        at: index,
        x: orElse(item.y, gift),
      }));
      w.approval('c', { within: '1h', show: { gift, city: present(gift.address.city) } });
      w.wait('d', { until: gift.at, after: [paid] });
    },
  ],
  [
    'one of a function’s own',
    (w) => [1, 2].map((one) => (one > 1 ? step(w, `s${one}`, { x: w.input.gift }) : undefined)),
  ],
  [
    'where the steps are others each time',
    (() => {
      let times = 0;
      return (w: Free) => {
        times += 1;
        if (w.input.gift) step(w, `s${times}`);
      };
    })(),
  ],
])('%s is not told', (_, build) => {
  expect(told(build)).toEqual([]);
});

test('a workflow that another one runs is looked at; what has no function is believed', () => {
  const inner = flow((w) => w.input.gift && step(w, 'wrap'));
  const outer = workflow(
    'outer',
    { input: z.any(), within: '2h' },
    (w: Free) => void w.child('c', inner, {}),
  );
  expect(testedReferences(outer, '', '').map(({ id }) => id)).toEqual(named('input.gift'));
  expect(testedReferences({ name: 'none' }, '', '')).toEqual([]);
  // What was put in its place is gone.
  expect((0n as Free).gift).toBeUndefined();
});

test('discovery warns of each by its kind and place', async () => {
  const root = project({
    'examples/order/workflow.ts': `const kind = 'steadfast:workflow';
      const build = (make) => {
        const gift = make('input', ['gift']);
        return { steps: gift ? [] : [1], onFailure: [], output: {} };
      };
      const input = {};
      const rest = { input, plan: { steps: [], output: {} }, children: [], callbacks: {} };
      export const it = { kind, name: 'order', agents: [{ spec: { name: 'pay', timeoutMs: 1000 } }], ...rest };
      Object.defineProperty(it, Symbol.for('steadfast.rebuild'), { value: build });\n`,
    'examples/order/agents/pay.ts': AGENT_MODULE,
    'examples/order/agents/fly.ts': AGENT_MODULE,
    'examples/order/agents/sail.ts': AGENT_MODULE,
  });
  const { warnings } = await discoverWorkflows({ root, folders: ['examples'] });
  expect(warnings.map(({ id }) => id)).toEqual([
    'steadfast:testedReference[order/input.gift]',
    'steadfast:unusedAgent[examples/order/agents/fly.ts]',
    'steadfast:unusedAgent[examples/order/agents/sail.ts]',
  ]);
  expect(warnings[0]?.message).toMatch(
    /^examples\/order\/workflow\.ts:3: workflow 'order' tests input\.gift/,
  );
});
