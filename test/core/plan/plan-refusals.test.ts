/** A bad workflow is refused when it is built, with the step's name and the reason; P1: what could wait for ever too. */

import { MAX_DURATION_MS } from '../../../lib/core/plan/duration.ts';
import type { Json } from '../../../lib/core/records/json.ts';
import { checkPlan } from '../../../lib/core/plan/check.ts';
import { type Plan, PLAN_LIMITS, type AgentStep } from '../../../lib/core/plan/plan.ts';
import { eq, ref } from '../../../lib/core/plan/refs.ts';
import { retry, type StepOptions, type WorkflowBuilder, workflow } from '../../../lib/core/plan/workflow.ts';
import { agent, any, type Anything, planStep, planWith, refusalOf, rows } from '../refusals.ts';

type Build = (w: WorkflowBuilder<Anything>) => Readonly<Record<string, unknown>> | undefined | void;
const define = (build: Build, within: unknown = '1h') =>
  workflow('flow', { input: any as never, within: within as string }, build);

/** A workflow with the step 'first' and, with these options, the step 'it'. */
const stepWith =
  (options: StepOptions, input: Anything = {}): Build =>
  (w) => {
    w.step('first', agent, {});
    w.step('it', agent, input as never, options);
  };

const later = (name: string) => ({ name, output: ref<Anything>(`step:${name}`) });
const rung = (changes: Anything) => ({ ...retry(3), ...changes }) as never;

describe('a workflow is refused as it is built', () => {
  it.each<[string, Build, string, string | null]>(
    rows([
      ['no steps', () => {}, 'no-end'],
      ['a step after itself', stepWith({ after: ['it'] }), 'cycle', 'it'],
      ['a step that reads itself', stepWith({}, { a: ref('step:it') }), 'cycle', 'it'],
      [
        'two steps that wait for each other',
        (w) => {
          w.step('a', agent, {}, { after: ['b'] });
          w.step('b', agent, {}, { after: ['a'] });
        },
        'cycle',
        'a',
      ],
      [
        'a cycle of three behind a step that is fine',
        (w) => {
          w.step('fine', agent, {});
          w.step('a', agent, {}, { after: ['fine', 'c'] });
          w.step('b', agent, {}, { after: ['a'] });
          w.step('c', agent, {}, { after: ['b'] });
        },
        'cycle',
        'a',
      ],
      [
        'a cycle made of what is read',
        (w) => {
          w.step('a', agent, { x: later('b').output['y'] } as never);
          w.step('b', agent, { x: later('a').output['y'] } as never);
        },
        'cycle',
        'a',
      ],
      [
        'a cycle through a condition',
        (w) => {
          w.step('a', agent, {}, { when: eq(later('b').output['y'] as never, 1 as never) });
          w.step('b', agent, {}, { after: ['a'] });
        },
        'cycle',
        'a',
      ],
      ['a step after an unknown one', stepWith({ after: ['nobody'] }), 'unknown-step', 'it'],
      ['a step after an inherited name', stepWith({ after: ['toString'] }), 'unknown-step', 'it'],
      ['a reference to an unknown step', stepWith({}, { a: ref('step:nobody') }), 'unknown-step', 'it'],
      [
        'a condition on an unknown step',
        stepWith({ when: eq(ref<{ a: number }>('step:nobody').a, 1) }),
        'unknown-step',
        'it',
      ],
      [
        'two steps of one name',
        (w) => {
          w.step('a', agent, {});
          w.step('a', agent, {});
        },
        'duplicate-name',
        'a',
      ],
      [
        'an output that reads an unknown step',
        (w) => (w.step('a', agent, {}), { x: ref('step:b') }),
        'bad-output',
      ],
      ['an output that holds a function', (w) => (w.step('a', agent, {}), { x: () => 1 }), 'bad-output'],
      [
        'an output with __proto__',
        (w) => (w.step('a', agent, {}), JSON.parse('{"__proto__":1}')),
        'bad-output',
      ],
      ['a key __proto__', stepWith({}, JSON.parse('{"a":{"__proto__":{"b":1}}}')), 'bad-expression', 'it'],
      ['a key constructor', stepWith({}, { constructor: 1 }), 'bad-expression', 'it'],
      ['a key prototype', stepWith({}, { a: [{ prototype: 1 }] }), 'bad-expression', 'it'],
      [
        'a forbidden key in a quoted literal',
        stepWith({}, { $a: { constructor: 1 } }),
        'bad-expression',
        'it',
      ],
      ['a function in an input', stepWith({}, { a: () => 1 }), 'bad-expression', 'it'],
      ['a date in an input', stepWith({}, { a: new Date(0) }), 'bad-expression', 'it'],
      ['a map in an input', stepWith({}, { a: new Map() }), 'bad-expression', 'it'],
      ['NaN in an input', stepWith({}, { a: Number.NaN }), 'bad-expression', 'it'],
      ['a bigint in an input', stepWith({}, { a: 1n }), 'bad-expression', 'it'],
      ['undefined in a list', stepWith({}, { a: [undefined] }), 'bad-expression', 'it'],
      ['a very deep input', stepWith({}, { a: deep(100) }), 'bad-expression', 'it'],
      [
        'a reference where nothing is evaluated',
        stepWith({}, { $set: { a: ref('input') } }),
        'bad-expression',
        'it',
      ],
      ['no attempt to retry', stepWith({ ladder: [retry(-1)] }), 'endless-ladder', 'it'],
      ['endless attempts', stepWith({ ladder: [retry(Number.POSITIVE_INFINITY)] }), 'endless-ladder', 'it'],
      ['NaN attempts', stepWith({ ladder: [retry(Number.NaN)] }), 'endless-ladder', 'it'],
      ['half an attempt', stepWith({ ladder: [retry(1.5)] }), 'endless-ladder', 'it'],
      ['too many attempts', stepWith({ ladder: [retry(PLAN_LIMITS.attempts + 1)] }), 'endless-ladder', 'it'],
      ['too many on the second rung', stepWith({ ladder: [retry(1), retry(1e9)] }), 'endless-ladder', 'it'],
      ['an endless undo', stepWith({ undo: retry(Number.POSITIVE_INFINITY) }), 'endless-ladder', 'it'],
      ['an unknown rung', stepWith({ ladder: [rung({ kind: 'for-ever' })] }), 'endless-ladder', 'it'],
      [
        'a backoff that shrinks',
        stepWith({ ladder: [retry(1, { first: '2m', max: '1s' })] }),
        'bad-backoff',
        'it',
      ],
      ['a backoff of NaN', stepWith({ ladder: [rung({ firstMs: Number.NaN })] }), 'bad-backoff', 'it'],
      ['a backoff of 0', stepWith({ ladder: [rung({ firstMs: 0 })] }), 'bad-backoff', 'it'],
      [
        'an endless backoff',
        stepWith({ ladder: [rung({ maxMs: Number.POSITIVE_INFINITY })] }),
        'bad-backoff',
        'it',
      ],
      ['a bad backoff of an undo', stepWith({ undo: rung({ maxMs: -1 }) }), 'bad-backoff', 'it'],
      ['a timeout longer than the agent’s', stepWith({ timeout: '61s' }), 'bad-timeout', 'it'],
      ['what is no agent', (w) => void w.step('it', { name: 'worker' } as never, {}), 'not-an-agent', 'it'],
      ['no agent at all', (w) => void w.step('it', undefined as never, {}), 'not-an-agent', 'it'],
      ['too large an input', stepWith({}, { a: 'x'.repeat(PLAN_LIMITS.bytes) }), 'too-large'],
      ['too large in bytes, not in characters', stepWith({}, { a: '€'.repeat(100_000) }), 'too-large'],
      [
        'an input of too many values',
        stepWith({}, { a: Array.from({ length: 300_000 }, () => 0) }),
        'bad-expression',
        'it',
      ],
      [
        'too many steps',
        (w) => {
          for (let at = 0; at <= PLAN_LIMITS.steps; at += 1) w.step(`s-${at}`, agent, {});
        },
        'too-many-steps',
      ],
      ...[
        '',
        'A',
        '1a',
        '-a',
        'a_b',
        'a b',
        'a#b',
        'a/b',
        'ä',
        'a\n',
        'x'.repeat(49),
        'constructor',
        'prototype',
      ].map((name): [string, Build, string, string] => [
        `the step name ${JSON.stringify(name)}`,
        (w) => void w.step(name, agent, {}),
        'bad-name',
        name,
      ]),
    ]),
  )('%s', (_, build, reason, step) => {
    const refusal = refusalOf(() => define(build));
    expect(refusal.code).toBe('workflow-refused');
    expect(refusal.details).toEqual({ workflow: 'flow', ...(step === null ? {} : { step }), reason });
    expect(refusal.message).toContain(step === null ? "workflow 'flow'" : `workflow 'flow', step '${step}'`);
  });

  it('without a time within which it must be over', () => {
    const refusal = refusalOf(() => define(stepWith({}), undefined as never) && define(stepWith({}), null));
    expect(['workflow-refused', 'bad-duration']).toContain(refusal.code);
    const options = { input: any } as never;
    expect(refusalOf(() => workflow('flow', options, stepWith({}) as never)).details).toEqual({
      workflow: 'flow',
      reason: 'unbounded',
    });
  });

  it.each(['0s', '-1s', '400d', 'soon', '', 5, Number.POSITIVE_INFINITY])('within %j', (within) => {
    expect(refusalOf(() => define(stepWith({}), within)).code).toBe('bad-duration');
  });

  it.each(['', 'Flow', 'a b', 'x'.repeat(49), 'constructor', undefined])('with the name %j', (name) => {
    const options = { input: any as never, within: '1h' };
    expect(refusalOf(() => workflow(name as string, options, stepWith({}) as never)).code).toBe('bad-name');
  });

  it.each([['first'], ['max']])('with a bad %s in retry', (key) => {
    expect(refusalOf(() => retry(1, { [key]: 'soon' })).code).toBe('bad-duration');
  });
});

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const ENDLESS = [Number.NaN, 0, -1, Number.POSITIVE_INFINITY, MAX_DURATION_MS + 1, undefined, '1h'];

describe('a plan that could wait for ever is refused (P1)', () => {
  const keys = ['timeoutMs', 'leaseMs', 'pickupMs', 'settleMs'] as const;
  it.each(keys.flatMap((key) => ENDLESS.map((ms) => [key, ms] as const)))('%s is %p', (key, ms) => {
    const refusal = refusalOf(() => checkPlan(planWith({ [key]: ms })));
    expect(refusal.details).toEqual({ workflow: 'flow', step: 'it', reason: 'unbounded' });
    expect(refusal.message).toContain(key);
  });

  it.each(ENDLESS)('withinMs is %p', (ms) => {
    const refusal = refusalOf(() => checkPlan(planWith({}, { withinMs: ms as number })));
    expect(refusal.details).toEqual({ workflow: 'flow', reason: 'unbounded' });
  });

  it.each<[string, Plan, string, string | null]>(
    rows([
      ['an unknown effect', planWith({ effect: 'maybe' as never }), 'bad-effect', 'it'],
      ['an agent without a legal name', planWith({ agent: 'No Agent' }), 'bad-name', 'it'],
      ['a workflow without a legal name', planWith({}, { workflow: 'a#b' }), 'bad-name'],
      ['an unknown operator', planWith({ input: { a: { $eval: '1' } } }), 'bad-expression', 'it'],
      ['an unknown operator in a condition', planWith({ when: { $lte: [1, 2] } }), 'bad-expression', 'it'],
      ['an unknown operator in the output', planWith({}, { output: { $x: 1 } }), 'bad-output'],
      [
        'a reference to no predecessor',
        twoSteps({ input: { $ref: 'step:other', path: [] } }),
        'not-a-predecessor',
        'it',
      ],
      [
        'a condition on no predecessor',
        twoSteps({ when: { $exists: { $ref: 'step:other', path: [] } } }),
        'not-a-predecessor',
        'it',
      ],
    ]),
  )('%s', (_, plan, reason, step) => {
    const { details } = refusalOf(() => checkPlan(plan));
    expect(details).toEqual({ workflow: plan.workflow, ...(step === null ? {} : { step }), reason });
  });

  it('and one without a fault is accepted', () => {
    expect(() => checkPlan(planWith({}))).not.toThrow();
    expect(() =>
      checkPlan(twoSteps({ after: ['other'], input: { $ref: 'step:other', path: ['a'] } })),
    ).not.toThrow();
  });
});

function twoSteps(changes: Partial<AgentStep>): Plan {
  return planWith(
    {},
    {
      steps: [
        { ...planStep, name: 'other' },
        { ...planStep, ...changes },
      ],
    },
  );
}
