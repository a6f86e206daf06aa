/**
 * An invalid workflow is refused when it is built, with the step's name and the reason; P1: also one that
 * could wait for ever. Tests at the exact limits, and of the texts: `check-plan.test.ts`,
 * `check-step.test.ts`, `check-waiting.test.ts`.
 */

import * as z from 'zod/mini';
import { checkPlan } from '../../lib/author/checks/check.ts';
import { MAX_DURATION_MS } from '../../lib/core/values/duration.ts';
import { type AgentStep, type Plan, PLAN_LIMITS } from '../../lib/core/plan/plan.ts';
import { eq, ref } from '../../lib/author/references.ts';
import {
  retry,
  type StepOptions,
  type WorkflowBuilder,
  workflow,
} from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { agent, any, type Anything, planStep, planWith, refusalOf, rows } from './refusals.ts';

type Build = (w: WorkflowBuilder<Anything>) => Readonly<Record<string, unknown>> | undefined | void;
type Row = [name: string, build: Build, reason: string, step?: string];
const define = (build: Build, within: unknown = '1h'): Workflow =>
  workflow('flow', { input: any as never, within: within as string }, build) as Workflow;

/** Makes a workflow with the step 'first' and then the step 'it' with these options. */
const stepWith =
  (options: StepOptions, input: Anything = {}): Build =>
  (w) => {
    w.step('first', agent, {});
    w.step('it', agent, input as never, options);
  };
const given = (input: Anything): Build => stepWith({}, input);
/** Steps by name, each with its predecessors. */
const chain =
  (...steps: readonly [name: string, ...after: string[]][]): Build =>
  (w) => {
    for (const [name, ...after] of steps) w.step(name, agent, {}, { after });
  };
const output =
  (value: unknown): Build =>
  (w) => (w.step('a', agent, {}), value as Anything);
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
  (options: object, input: unknown = {}, over = list): Build =>
  (w) =>
    void w.map('it', agent, over, () => input as never, options);
const child =
  (of: unknown, input: unknown = {}): Build =>
  (w) =>
    void w.child('it', of as never, input as never);
const inner = define(chain(['x']));
const nested = (levels: number): Workflow => (levels === 1 ? inner : define(child(nested(levels - 1))));
const strict = workflow('strict', { input: z.object({ must: z.string() }), within: '1h' }, (w) => {
  w.step('x', agent, {});
});
const read = (name: string, ...path: string[]) => ref<Anything>(`step:${name}`, path);
const texts = (source: string) => ref<readonly string[]>(source as never);
const nobody = eq(ref<{ a: number }>('step:nobody').a, 1);
const oddKey = (json: string): Build => given(JSON.parse(json));

const graph: Row[] = [
  ['no steps', () => {}, 'no-end'],
  ['a step after itself', stepWith({ after: ['it'] }), 'cycle', 'it'],
  ['a step that reads itself', given({ a: ref('step:it') }), 'cycle', 'it'],
  ['two steps that wait for each other', chain(['a', 'b'], ['b', 'a']), 'cycle', 'a'],
  ['a cycle behind a step that is fine', chain(['x'], ['a', 'x', 'c'], ['b', 'a'], ['c', 'b']), 'cycle', 'a'],
  [
    'a cycle made of what is read, and of a condition',
    (w) => {
      w.step('a', agent, {}, { when: eq(read('b', 'y') as never, 1 as never) });
      w.step('b', agent, { x: read('a', 'y') } as never);
    },
    'cycle',
    'a',
  ],
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
      w.map('b', agent, texts('step:a'), () => ({}));
      w.approval('c', { within: '1h', when: eq(ref<{ total: number }>('step:b').total, 1) });
    },
    'cycle',
    'a',
  ],
  ['a wait until its own end', wait({ until: ref<number>('step:it') }), 'cycle', 'it'],
  ['a list of a step that need not be done', map({}, {}, texts('step:it')), 'cycle', 'it'],
  ['a step after an unknown one', stepWith({ after: ['nobody'] }), 'unknown-step', 'it'],
  ['a step after an inherited name', stepWith({ after: ['toString'] }), 'unknown-step', 'it'],
  ['a wait after a stranger', wait({ for: '1h', after: ['nobody'] }), 'unknown-step', 'it'],
  ['a reference to an unknown step', given({ a: ref('step:nobody') }), 'unknown-step', 'it'],
  ['a condition on an unknown step', stepWith({ when: nobody }), 'unknown-step', 'it'],
  ['items that read a stranger', map({}, { a: ref('step:nobody') }), 'unknown-step', 'it'],
  ['a child that reads a stranger', child(inner, ref('step:nobody')), 'unknown-step', 'it'],
  ['a token of nobody', given({ t: ref('token:nobody' as never) }), 'unknown-step', 'it'],
  ['a token of a step that is no callback', given({ t: ref('token:first' as never) }), 'unknown-step', 'it'],
  ['two steps of one name', chain(['a'], ['a']), 'duplicate-name', 'a'],
  [
    'a wait named like a step',
    (w) => (w.step('it', agent, {}), wait({ for: '1h' })(w)),
    'duplicate-name',
    'it',
  ],
];

const expressions: Row[] = [
  ['an output that reads an unknown step', output({ x: ref('step:b') }), 'bad-output'],
  ['an output that reads an item', output({ x: ref('item') }), 'bad-output'],
  ['an output with a token of nobody', output({ x: ref('token:nobody' as never) }), 'bad-output'],
  ['an output of nothing', output({ x: ref('secrets' as never) }), 'bad-output'],
  ['an output that holds a function', output({ x: () => 1 }), 'bad-output'],
  ['an output with __proto__', output(JSON.parse('{"__proto__":1}')), 'bad-output'],
  ['a key __proto__', oddKey('{"a":{"__proto__":{"b":1}}}'), 'bad-expression', 'it'],
  [
    'a forbidden key in a quoted literal',
    oddKey('{"a":{"$literal":{"__proto__":1}}}'),
    'bad-expression',
    'it',
  ],
  ['a function in an input', given({ a: () => 1 }), 'bad-expression', 'it'],
  ['a map in an input', given({ a: new Map() }), 'bad-expression', 'it'],
  ['NaN in an input', given({ a: Number.NaN }), 'bad-expression', 'it'],
  ['a bigint in an input', given({ a: 1n }), 'bad-expression', 'it'],
  ['undefined in a list', given({ a: [undefined] }), 'bad-expression', 'it'],
  ['a reference to nothing below a $', given({ $set: { a: ref('env' as never) } }), 'bad-expression', 'it'],
  ['a function below a $', given({ $set: { a: ref('input'), b: () => 1 } }), 'bad-expression', 'it'],
  ['a reference to nothing', given({ a: ref('env' as never) }), 'bad-expression', 'it'],
  ['an item outside of a map', given({ a: ref('item') }), 'bad-expression', 'it'],
  ['an index outside of a map', wait({ until: ref<number>('index') }), 'bad-expression', 'it'],
  [
    'an item in the condition of its own map',
    map({ when: eq(ref<string>('item'), 'x') }),
    'bad-expression',
    'it',
  ],
  ['a list that is an item of itself', map({}, {}, texts('item')), 'bad-expression', 'it'],
  ['items that hold a function', map({}, { a: () => 1 }), 'bad-expression', 'it'],
];

const limits: Row[] = [
  ['endless attempts', stepWith({ recovery: [retry(Number.POSITIVE_INFINITY)] }), 'endless-recovery', 'it'],
  ['too many on the second stage', stepWith({ recovery: [retry(1), retry(1e9)] }), 'endless-recovery', 'it'],
  ['an endless undo', stepWith({ retryUndo: retry(Number.NaN) }), 'endless-recovery', 'it'],
  ['items that are tried for ever', map({ recovery: [retry(1e9)] }), 'endless-recovery', 'it'],
  [
    'a backoff that shrinks',
    stepWith({ recovery: [retry(1, { delay: '2m', maxDelay: '1s' })] }),
    'bad-backoff',
    'it',
  ],
  ['a timeout longer than the agent’s', stepWith({ timeout: '61s' }), 'bad-timeout', 'it'],
  ['items with a longer timeout than their agent’s', map({ timeout: '2h' }), 'bad-timeout', 'it'],
  ['what is no agent', (w) => void w.step('it', { name: 'worker' } as never, {}), 'not-an-agent', 'it'],
  ['no agent at all', (w) => void w.step('it', undefined as never, {}), 'not-an-agent', 'it'],
  ['no agent for the items', (w) => void w.map('it', {} as never, list, () => ({})), 'not-an-agent', 'it'],
  ['too large in bytes, not in characters', given({ a: '€'.repeat(100_000) }), 'too-large'],
  [
    'children whose plans are too large together',
    (w) => {
      const large = define((v) => void v.step('x', agent, { a: 'x'.repeat(100_000) }));
      for (const name of ['a', 'b', 'c']) w.child(name, large, {});
    },
    'too-large',
  ],
  [
    'an input of too many values',
    given({ a: Array.from({ length: 300_000 }, () => 0) }),
    'bad-expression',
    'it',
  ],
  ['workflows eleven deep', child(nested(10)), 'too-deep', 'it'],
  ['an input that the other workflow does not accept', child(strict, { must: 5 }), 'bad-input', 'it'],
  ...[undefined, null, {}, agent, 'inner', inner.plan].map(
    (other): Row => [
      `no workflow: ${JSON.stringify(other)?.slice(0, 30)}`,
      child(other),
      'not-a-workflow',
      'it',
    ],
  ),
  ['a wait for nothing', wait({}), 'unbounded', 'it'],
  ['a wait that is longer than the workflow may take', wait({ for: '61m' }), 'longer-than-within', 'it'],
  ['a wait until a time without a zone', wait({ until: '2026-01-01T10:00' }), 'bad-time', 'it'],
  ['a wait until a day that no calendar has', wait({ until: '2026-13-45' }), 'bad-time', 'it'],
  ['a wait until infinity', wait({ until: Number.POSITIVE_INFINITY }), 'bad-time', 'it'],
  ['a callback without an end', callback({ within: undefined }), 'unbounded', 'it'],
  ['an approval without an end', (w) => void w.approval('it', {} as never), 'unbounded', 'it'],
  ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3'].map(
    (concurrency): Row => [`a concurrency of ${concurrency}`, map({ concurrency }), 'bad-concurrency', 'it'],
  ),
  ...[-1, 1.5, Number.NaN, 10_001, '5', '%', '-1%', '101%', '1e1%', 'all'].map(
    (tolerate): Row => [`a tolerance of ${tolerate}`, map({ mayFail: tolerate }), 'bad-tolerance', 'it'],
  ),
];

const LONG = 'x'.repeat(49);
const NAMES = ['', 'A', '1a', '-a', 'a_b', 'a b', 'a#b', 'a/b', 'ä', 'a\n', LONG, 'constructor', 'prototype'];
const names: Row[] = [
  ...NAMES.map((name): Row => [`the step name ${JSON.stringify(name)}`, chain([name]), 'bad-name', name]),
  ['an illegal name of a wait', (w) => void w.wait('Pause', { for: '1h' }), 'bad-name', 'Pause'],
  ['an illegal name of a child', (w) => void w.child('a.b', inner, {}), 'bad-name', 'a.b'],
];

describe('a workflow is refused as it is built', () => {
  const all = [...graph, ...expressions, ...limits, ...names];
  it.each<[string, Build, string, string | null]>(rows(all))('%s', (_, build, reason, step) => {
    const refusal = refusalOf(() => define(build));
    expect(refusal.code).toBe('workflow-refused');
    expect(refusal.details).toEqual({ workflow: 'flow', ...(step === null ? {} : { step }), reason });
    expect(refusal.message).toContain(step === null ? "workflow 'flow'" : `workflow 'flow', step '${step}'`);
  });
});

const ENDLESS = [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, MAX_DURATION_MS + 1, undefined, '1h'];
const twoSteps = (changes: Partial<AgentStep>): Plan =>
  planWith(
    {},
    {
      steps: [
        { ...planStep, name: 'other' },
        { ...planStep, ...changes },
      ],
    },
  );

describe('a plan that could wait for ever is refused (P1)', () => {
  const keys = ['timeoutMs', 'leaseMs', 'pickupMs', 'settleMs'] as const;
  it.each(keys.flatMap((key) => ENDLESS.map((ms) => [key, ms] as const)))('%s is %p', (key, ms) => {
    const refusal = refusalOf(() => checkPlan(planWith({ [key]: ms })));
    expect(refusal.details).toEqual({ workflow: 'flow', step: 'it', reason: 'unbounded' });
    expect(refusal.message).toContain(key);
  });

  it('as is one that reads what need not be done before', () => {
    const reads = { $ref: 'step:other', path: [] };
    for (const changes of [{ input: reads }, { when: { $exists: reads } }])
      expect(refusalOf(() => checkPlan(twoSteps(changes))).details).toMatchObject({
        reason: 'not-a-predecessor',
      });
    expect(() => checkPlan(twoSteps({ after: ['other'], input: reads }))).not.toThrow();
  });

  it('as is one of too many steps', () => {
    const many: Build = (w) => {
      for (let at = 0; at <= PLAN_LIMITS.steps; at += 1) w.step(`s-${at}`, agent, {});
    };
    expect(refusalOf(() => define(many)).details).toEqual({ workflow: 'flow', reason: 'too-many-steps' });
  });
});
