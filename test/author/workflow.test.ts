/** The compiled form of a workflow, field by field, its defaults, and the texts of immediate refusals. */

import { type AgentOptions, declareAgent } from '../../lib/core/plan/agent.ts';
import { eq, ref } from '../../lib/author/references.ts';
import {
  askPerson,
  retry,
  useAgent,
  withInput,
  type WorkflowBuilder,
  type WorkflowOptions,
  workflow,
} from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { agent, any, type Anything, base, refusalOf } from './refusals.ts';

type Build = (w: WorkflowBuilder<Anything>) => Readonly<Record<string, unknown>> | undefined | void;
const define = (build: Build, more: object = {}): Workflow =>
  workflow(
    'flow',
    { input: any, within: '1h', ...more } as unknown as WorkflowOptions<Anything>,
    build,
  ) as Workflow;
const stepsOf = (build: Build) => define(build).plan.steps;
const other = (name: string, more: object = {}) =>
  declareAgent<Anything, Anything>(name, { ...base, ...more } as unknown as AgentOptions<Anything, Anything>);
const free = other('free', { undo: 'none' });
const sure = other('worker', { probe: 'required' });

const limits = {
  effect: 'idempotent',
  timeoutMs: 60_000,
  leaseMs: 30_000,
  pickupMs: 30_000,
  settleMs: 5_000,
};
const usual = { kind: 'retry', attempts: 3, firstMs: 1_000, maxMs: 30_000 };
const undo = { kind: 'retry', attempts: 10, firstMs: 1_000, maxMs: 60_000 };
const step = {
  kind: 'agent',
  name: 'a',
  agent: 'worker',
  input: {},
  after: [],
  ...limits,
  recovery: [usual],
  undo,
};

it('a workflow is a plan, and what runs it', () => {
  const flow = define((w) => {
    const a = w.step('a', agent, { n: w.input['n'] } as never);
    return { x: a.output['x'] };
  });
  const x = { $ref: 'step:a', path: ['x'] };
  expect(flow).toStrictEqual({
    kind: 'steadfast:workflow',
    name: 'flow',
    input: any,
    plan: {
      v: 1,
      workflow: 'flow',
      withinMs: 3_600_000,
      steps: [{ ...step, input: { n: { $ref: 'input', path: ['n'] } } }],
      output: { x },
    },
    agents: [agent],
    children: [],
    callbacks: {},
  });
  expect(define((w) => void w.step('a', agent, {})).plan.output).toStrictEqual({});
  expect(define((w) => void w.step('a', agent, {}), { pauseWithin: '2d' }).plan.pauseWithinMs).toBe(
    172_800_000,
  );
});

it('refusals of invalid times name their owner', () => {
  const build: Build = (w) => void w.step('a', agent, {});
  const said = (more: object) => refusalOf(() => define(build, more)).message;
  expect(said({ within: 'soon' })).toContain("within of 'flow'");
  expect(said({ pauseWithin: 'soon' })).toContain("pauseWithin of 'flow'");
  expect(said({ within: undefined })).toContain("it has no 'within'");
  expect(refusalOf(() => workflow('No', { input: any as never, within: '1h' }, build as never)).code).toBe(
    'bad-name',
  );
});

describe('a stage', () => {
  it('with another input, or another agent, is tried once', () => {
    const once = { attempts: 1, firstMs: 1_000, maxMs: 30_000 };
    expect(withInput({ a: ref('input') })).toStrictEqual({
      kind: 'withInput',
      input: { a: { $ref: 'input', path: [] } },
      ...once,
    });
    expect(withInput({}, { attempts: 2, delay: '2s', maxDelay: '4s' })).toMatchObject({
      attempts: 2,
      firstMs: 2_000,
      maxMs: 4_000,
    });
    const stage = useAgent(agent);
    expect({ ...stage }).toEqual({ kind: 'useAgent', agent: 'worker', undo, ...limits, ...once });
    expect(JSON.parse(JSON.stringify(stage))).toEqual({ ...stage });
    expect(useAgent(free, { attempts: 5 })).toMatchObject({ agent: 'free', undo: 'none', attempts: 5 });
  });
  it('pauses for up to 30 s, or as long as its first pause is', () => {
    expect(retry(1, { delay: '20s' })).toMatchObject({ firstMs: 20_000, maxMs: 30_000 });
    expect(retry(1, { delay: '1m' })).toMatchObject({ firstMs: 60_000, maxMs: 60_000 });
    expect(retry(1, { delay: '1m', maxDelay: '30s' })).toMatchObject({ firstMs: 60_000, maxMs: 30_000 });
  });

  it('is a person, who has seven days', () => {
    expect(askPerson()).toStrictEqual({ kind: 'askPerson', withinMs: 604_800_000, otherwise: 'undo' });
    expect(askPerson({ within: '1h', otherwise: 'keep' })).toStrictEqual({
      kind: 'askPerson',
      withinMs: 3_600_000,
      otherwise: 'keep',
    });
    expect(askPerson({ remindEvery: '4h' })).toStrictEqual({
      kind: 'askPerson',
      withinMs: 604_800_000,
      otherwise: 'undo',
      remindMs: 14_400_000,
    });
  });
  it.each<[() => unknown, string]>([
    [() => retry(1, { delay: 'soon' }), "retry's delay"],
    [() => retry(1, { maxDelay: 'soon' }), "retry's maxDelay"],
    [() => withInput({}, { delay: 'soon' }), "withInput's delay"],
    [() => useAgent(agent, { maxDelay: 'soon' }), "useAgent's maxDelay"],
    [() => askPerson({ within: 'soon' }), "askPerson's within"],
    [() => askPerson({ remindEvery: 'often' }), "askPerson's remindEvery"],
  ])('has times: %#', (build, whose) => {
    const { code, message } = refusalOf(build);
    expect(code).toBe('bad-duration');
    expect(message).toContain(whose);
  });
});

describe('a step that an agent performs', () => {
  const one = (...given: Parameters<WorkflowBuilder<Anything>['step']>) =>
    stepsOf((w) => void w.step(...given))[0];

  it('that is unsafe goes to a person at once', () => {
    expect(one('a', other('bold', { effect: 'unsafe' }), {})).toMatchObject({
      recovery: [askPerson({ within: '1h' })],
    });
  });

  it('gives a person no longer than the workflow has', () => {
    const given = (within: string | undefined, more: object = {}) =>
      define((w) => void w.step('a', agent, {}, { recovery: [askPerson(more)] }), { within }).plan.steps[0];
    expect(given('9d')).toMatchObject({ recovery: [{ withinMs: 7 * 86_400_000 }] });
    expect(given('6d')).toMatchObject({ recovery: [{ withinMs: 6 * 86_400_000 }] });
    expect(given('6d', { within: '6d' })).toMatchObject({ recovery: [askPerson({ within: '6d' })] });
    expect(refusalOf(() => given('6d', { within: '7d' })).message).toBe(
      "workflow 'flow', step 'a': its askPerson stage gives a person 7d, but the workflow must end within 6d",
    );
  });

  it('that cannot be taken back has no undo', () => {
    expect(one('a', agent, {}, { pointOfNoReturn: true })).toStrictEqual({
      ...step,
      undo: 'none',
      pointOfNoReturn: true,
    });
    expect(one('a', agent, {}, { pointOfNoReturn: false })).toStrictEqual(step);
    const recovery = [useAgent(other('b'))];
    expect(one('a', sure, {}, { pointOfNoReturn: true, recovery })).toMatchObject({
      recovery: [{ undo: 'none' }],
    });
    expect(one('a', sure, {}, { recovery })).toMatchObject({ recovery: [{ undo }] });
    expect(one('a', sure, {}, { retryUndo: retry(2), recovery })).toMatchObject({
      recovery: [{ undo: retry(2) }],
      undo: retry(2),
    });
    expect(one('a', agent, {}, { retryUndo: retry(2) })).toStrictEqual({ ...step, undo: retry(2) });
  });

  it('may ask for no more time than its agent has', () => {
    expect(one('a', agent, {}, { timeout: '1m' })).toStrictEqual(step);
    const refused = refusalOf(() => one('a', agent, {}, { timeout: '61s' }));
    expect([refused.code, refused.message, refused.details]).toEqual([
      'workflow-refused',
      "workflow 'flow', step 'a': its timeout 61s is longer than that of agent 'worker' (1m)",
      { workflow: 'flow', step: 'a', reason: 'bad-timeout' },
    ]);
    expect(refusalOf(() => one('a', agent, {}, { timeout: 'soon' })).message).toContain(
      "timeout of step 'a'",
    );
  });

  it('comes after those it names, and those it reads, each once', () => {
    const [, , third] = stepsOf((w) => {
      const a = w.step('a', agent, {});
      const b = w.step('b', agent, {});
      const reads = { x: a.output, y: [b.output['z']] } as never;
      w.step('c', agent, reads, { after: [b, 'a'], when: eq(b.output['n'] as never, 1) });
    });
    expect(third).toMatchObject({ name: 'c', after: ['b', 'a'] });
  });
});

describe('two agents of one name are refused', () => {
  const twin = other('worker');
  const inner = define((w) => void w.step('x', twin, {}));
  it.each<[string, Build, string]>([
    ['in two steps', (w) => void w.step('b', twin, {}), 'b'],
    [
      'on a recovery',
      (w) => void w.step('b', other('c', { effect: 'probed' }), {}, { recovery: [useAgent(twin)] }),
      'b',
    ],
    ['in a list', (w) => void w.map('b', twin, ref<readonly string[]>('input'), () => ({})), 'b'],
    ['in a child', (w) => void w.child('b', inner, {}), 'b'],
  ])('%s', (_, more, place) => {
    const refused = refusalOf(() =>
      define((w) => {
        w.step('a', agent, {});
        w.step('same', agent, {});
        more(w);
      }),
    );
    expect([refused.message, refused.details]).toEqual([
      `workflow 'flow', step '${place}': two agents are named 'worker'; give one of them another name, or declare it once and use it in both places`,
      { workflow: 'flow', step: place, reason: 'duplicate-agent' },
    ]);
  });
});

describe('an error that an author’s function throws is reported with its place', () => {
  it.each<[string, Build, string]>([
    [
      'a reference in a text',
      (w) => void w.step('b', agent, { text: `Dear ${w.input['name'] as unknown as string}` } as never),
      "workflow 'flow', after step 'a': input.name has no value while the workflow is built: join texts with concat('…', input.name), and compare in `when` with eq, ne, lt, gt",
    ],
    [
      'an error of its own',
      () => {
        throw new TypeError('no such thing');
      },
      "workflow 'flow', after step 'a': no such thing",
    ],
  ])('%s', (_, more, message) => {
    expect(() =>
      define((w) => {
        w.step('a', agent, {});
        more(w);
      }),
    ).toThrow(message);
  });

  it('before its first step', () => {
    const early: Build = (w) => void `a ${w.input['x'] as unknown as string}`;
    expect(() => define(early)).toThrow(/^workflow 'flow', before its first step: input\.x has no value/);
  });
});
