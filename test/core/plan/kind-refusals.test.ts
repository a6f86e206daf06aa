/** A bad step that no agent performs is refused when the workflow is built, by name: P1 also what could wait for ever. */

import * as z from 'zod/mini';
import { checkPlan } from '../../../lib/core/plan/check.ts';
import type { CallbackStep, MapStep, Plan, PlanStep, WaitStep } from '../../../lib/core/plan/plan.ts';
import { eq, ref } from '../../../lib/core/plan/refs.ts';
import { retry, type Workflow, type WorkflowBuilder, workflow } from '../../../lib/core/plan/workflow.ts';
import { agent, any, type Anything, planStep, planWith, refusalOf, rows } from '../refusals.ts';

type Build = (w: WorkflowBuilder<Anything>) => Readonly<Record<string, unknown>> | undefined | void;
const define = (build: Build): Workflow =>
  workflow('flow', { input: any as never, within: '1h' }, build) as Workflow;

const inner = define((w) => void w.step('x', agent, {}));
const nested = (levels: number): Workflow => {
  let last = inner;
  for (let level = 1; level < levels; level += 1) {
    const { name, ...rest } = last;
    last = define((w) => void w.child('sub', { name, ...rest } as Workflow, {}));
  }
  return last;
};

const wait =
  (options: object): Build =>
  (w) =>
    void w.wait('it', options);
const callback =
  (options: object): Build =>
  (w) =>
    void w.callback('it', { output: z.any(), within: '1h', ...options } as never);
const list = ref<readonly string[]>('input', ['list']);
const map =
  (options: object, input: (item: never, index: never) => unknown = () => ({})): Build =>
  (w) => {
    w.map('it', agent, list, input as never, options);
  };
const token = (name: string) => ref<string>(`token:${name}` as never);

const unbounded: [string, Build, string, string?][] = [
  ['a wait for nothing', wait({}), 'unbounded', 'it'],
  ['a wait that is longer than the workflow may take', wait({ for: '61m' }), 'longer-than-within', 'it'],
  ['a wait for two things', wait({ for: '1h', until: 5 }), 'unbounded', 'it'],
  ['a wait until a text that is no time', wait({ until: 'tomorrow' }), 'bad-time', 'it'],
  ['a wait until a time without a zone', wait({ until: '2026-01-01T10:00' }), 'bad-time', 'it'],
  ['a wait until a day that no calendar has', wait({ until: '2026-13-45' }), 'bad-time', 'it'],
  ['a wait until true', wait({ until: true }), 'bad-time', 'it'],
  ['a wait until infinity', wait({ until: Number.POSITIVE_INFINITY }), 'bad-time', 'it'],
  ['a callback without an end', callback({ within: undefined }), 'unbounded', 'it'],
  ['an approval without an end', (w) => void w.approval('it', {} as never), 'unbounded', 'it'],
];

const lists: [string, Build, string, string?][] = [
  ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3'].map(
    (concurrency): [string, Build, string, string] => [
      `a concurrency of ${JSON.stringify(concurrency)} (${String(concurrency)})`,
      map({ concurrency }),
      'bad-concurrency',
      'it',
    ],
  ),
  ...[-1, 1.5, Number.NaN, 10_001, '5', '%', '-1%', '101%', '1e1%', 'all'].map(
    (tolerate): [string, Build, string, string] => [
      `a tolerance of ${JSON.stringify(tolerate)} (${String(tolerate)})`,
      map({ tolerate }),
      'bad-tolerance',
      'it',
    ],
  ),
  [
    'what is no agent for the items',
    (w) => void w.map('it', {} as never, list, () => ({})),
    'not-an-agent',
    'it',
  ],
  ['items that are tried for ever', map({ ladder: [retry(1e9)] }), 'endless-ladder', 'it'],
  ['items with a longer timeout than their agent’s', map({ timeout: '2h' }), 'bad-timeout', 'it'],
  ['items that read a stranger', map({}, () => ({ a: ref('step:nobody') })), 'unknown-step', 'it'],
  ['items that hold a function', map({}, () => ({ a: () => 1 })), 'bad-expression', 'it'],
  [
    'a list of a step that need not be done',
    (w) => {
      w.map('it', agent, ref<readonly string[]>('step:it'), () => ({}));
    },
    'cycle',
    'it',
  ],
  [
    'an item in the condition of its own map',
    map({ when: eq(ref<string>('item'), 'x') }),
    'bad-expression',
    'it',
  ],
  [
    'a list that is an item of itself',
    (w) => void w.map('it', agent, ref<readonly string[]>('item'), () => ({})),
    'bad-expression',
    'it',
  ],
  [
    'an item outside of a map',
    (w) => void w.step('it', agent, { a: ref('item') } as never),
    'bad-expression',
    'it',
  ],
  [
    'an index outside of a map',
    (w) => void w.wait('it', { until: ref<number>('index') }),
    'bad-expression',
    'it',
  ],
  ['an output that reads an item', (w) => (w.step('a', agent, {}), { x: ref('item') }), 'bad-output'],
];

const others: [string, Build, string, string?][] = [
  ...[undefined, null, {}, agent, 'inner', inner.plan].map((other): [string, Build, string, string] => [
    `what is no workflow: ${JSON.stringify(other)?.slice(0, 30)}`,
    (w) => void w.child('it', other as never, {} as never),
    'not-a-workflow',
    'it',
  ]),
  [
    'an input that the other workflow does not accept',
    (w) => {
      const strict = workflow('strict', { input: z.object({ must: z.string() }), within: '1h' }, (v) => {
        v.step('x', agent, {});
      });
      w.child('it', strict, { must: 5 } as never);
    },
    'bad-input',
    'it',
  ],
  ['workflows six deep', (w) => void w.child('it', nested(5), {}), 'too-deep', 'it'],
  [
    'a child that reads a stranger',
    (w) => void w.child('it', inner, ref('step:nobody')),
    'unknown-step',
    'it',
  ],
  [
    'a token of nobody',
    (w) => void w.step('it', agent, { t: token('nobody') } as never),
    'unknown-step',
    'it',
  ],
  [
    'a token of a step that is no callback',
    (w) => {
      w.step('a', agent, {});
      w.step('it', agent, { t: token('a') } as never);
    },
    'unknown-step',
    'it',
  ],
  ['an output with a token of nobody', (w) => (w.step('a', agent, {}), { x: token('nobody') }), 'bad-output'],
  [
    'a reference to nothing',
    (w) => void w.step('it', agent, { a: ref('env' as never) } as never),
    'bad-expression',
    'it',
  ],
  ['an output of nothing', (w) => (w.step('a', agent, {}), { x: ref('secrets' as never) }), 'bad-output'],
];

const graph: [string, Build, string, string?][] = [
  [
    'a wait and a callback that wait for each other',
    (w) => {
      w.wait('a', { for: '1h', after: ['b'] });
      w.callback('b', { output: z.any(), within: '1h', after: ['a'] });
    },
    'cycle',
    'a',
  ],
  [
    'a cycle through a child, a list and a condition',
    (w) => {
      w.child('a', inner, ref('step:c') as never);
      w.map('b', agent, ref<readonly string[]>('step:a'), () => ({}));
      w.approval('c', { within: '1h', when: eq(ref<{ total: number }>('step:b').total, 1) });
    },
    'cycle',
    'a',
  ],
  ['a wait until its own end', (w) => void w.wait('it', { until: ref<number>('step:it') }), 'cycle', 'it'],
  ['a wait after a stranger', wait({ for: '1h', after: ['nobody'] }), 'unknown-step', 'it'],
  ['an illegal name of a wait', (w) => void w.wait('Pause', { for: '1h' }), 'bad-name', 'Pause'],
  ['an illegal name of a child', (w) => void w.child('a.b', inner, {}), 'bad-name', 'a.b'],
  [
    'an inherited name of a callback',
    (w) => void w.approval('constructor', { within: '1h' }),
    'bad-name',
    'constructor',
  ],
  [
    'a wait named like a step',
    (w) => {
      w.step('a', agent, {});
      w.wait('a', { for: '1h' });
    },
    'duplicate-name',
    'a',
  ],
  [
    'children whose plans are too large together',
    (w) => {
      const large = define((v) => void v.step('x', agent, { a: 'x'.repeat(100_000) }));
      for (const name of ['a', 'b', 'c']) w.child(name, large, {});
    },
    'too-large',
  ],
];

const all = [...unbounded, ...lists, ...others, ...graph];

describe('a workflow is refused for', () => {
  it.each<[string, Build, string, string | null]>(rows(all))('%s', (_, build, reason, step) => {
    const refusal = refusalOf(() => define(build));
    expect(refusal.code).toBe('workflow-refused');
    expect(refusal.details).toEqual({ workflow: 'flow', ...(step === null ? {} : { step }), reason });
    expect(refusal.message).toContain(step === null ? "workflow 'flow'" : `workflow 'flow', step '${step}'`);
  });

  it.each<[string, Build]>([
    ['a wait of no time', wait({ for: '0s' })],
    ['a wait of years', wait({ for: '400d' })],
    ['a callback within nothing', callback({ within: 'soon' })],
    ['beats of no time', callback({ beatEvery: '0s' })],
  ])('%s', (_, build) => {
    expect(refusalOf(() => define(build)).code).toBe('bad-duration');
  });
});

const ENDLESS = [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, '1h'];
const planOf = (step: object): Plan => planWith({}, { steps: [{ ...planStep, ...step } as PlanStep] });
const wanted: WaitStep = { kind: 'wait', name: 'it', after: [], forMs: 1_000 };
const asked: CallbackStep = { kind: 'callback', name: 'it', after: [], withinMs: 1_000, beatMs: 1_000 };
const mapped: MapStep = {
  kind: 'map',
  name: 'it',
  after: [],
  over: [],
  each: planStep,
  tolerate: { items: 0 },
};

describe('a plan is refused', () => {
  it.each(
    ENDLESS.flatMap((ms): [string, object][] => [
      [`forMs is ${String(ms)}`, { ...wanted, forMs: ms }],
      [`withinMs is ${String(ms)}`, { ...asked, withinMs: ms }],
      [`beatMs is ${String(ms)}`, { ...asked, beatMs: ms }],
      [`the lease of items is ${String(ms)}`, { ...mapped, each: { ...planStep, leaseMs: ms } }],
    ]),
  )('when %s (P1)', (_, step) => {
    const { details } = refusalOf(() => checkPlan(planOf(step)));
    expect(details).toEqual({ workflow: 'flow', step: 'it', reason: 'unbounded' });
  });

  it('when a step is of no kind', () => {
    const { details } = refusalOf(() => checkPlan(planOf({ kind: 'loop' })));
    expect(details).toMatchObject({ reason: 'bad-kind' });
  });

  it('and one without a fault is accepted, of every kind', () => {
    for (const step of [wanted, asked, { ...asked, kind: 'approval' }, mapped]) {
      expect(() => checkPlan(planOf(step))).not.toThrow();
    }
    expect(() => define((w) => void w.child('it', nested(4), {}))).not.toThrow();
    expect(() => define(wait({ until: '2026-01-01' }))).not.toThrow();
    expect(() => define(wait({ until: ref<number>('input', ['at']) }))).not.toThrow();
    expect(() => define(map({ tolerate: '2.5%', concurrency: 1 }, (item) => ({ item })))).not.toThrow();
  });
});
