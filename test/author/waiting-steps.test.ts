/** The compiled form of steps without an agent, field by field, and the texts of immediate refusals. */

import * as z from 'zod/mini';
import { eq, ref, toExpr } from '../../lib/author/references.ts';
import { retry, type WorkflowBuilder, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { agent, any, type Anything, refusalOf } from './refusals.ts';

type Build = (w: WorkflowBuilder<Anything>) => Readonly<Record<string, unknown>> | undefined | void;
const define = (build: Build, input: unknown = any): Workflow =>
  workflow('flow', { input: input as never, within: '3h' }, build as never) as unknown as Workflow;
const first = (build: Build) => define(build).plan.steps[0];
const when = eq(ref<number>('input'), 1);
const condition = { $eq: [{ $ref: 'input', path: [] }, 1] };
const behind = (build: (w: WorkflowBuilder<Anything>, options: object) => void) =>
  define((w) => {
    const a = w.step('a', agent, {});
    build(w, { after: [a, 'b'], when });
    w.step('b', agent, {});
  }).plan.steps[2];

it('a wait', () => {
  expect(first((w) => void w.wait('w', { for: '1h' }))).toStrictEqual({
    kind: 'wait',
    name: 'w',
    after: [],
    forMs: 3_600_000,
  });
  expect(first((w) => void w.wait('w', { until: ref<string>('input') }))).toStrictEqual({
    kind: 'wait',
    name: 'w',
    after: [],
    until: { $ref: 'input', path: [] },
  });
  expect(behind((w, options) => void w.wait('w', { for: '1h', ...options }))).toStrictEqual({
    kind: 'wait',
    name: 'w',
    after: ['a', 'b'],
    when: condition,
    forMs: 3_600_000,
  });
  expect(refusalOf(() => first((w) => void w.wait('w', { for: 'soon' }))).message).toContain(
    "for of step 'w'",
  );
});

it('what holds without an answer, and how often somebody is reminded; nothing where nothing is said', () => {
  const output = z.any();
  const plain = first((w) => void w.callback('c', { output, within: '1h' }));
  expect(first((w) => void w.callback('c', { output, within: '1h', otherwise: 'fail' }))).toStrictEqual(
    plain,
  );
  const approval = first((w) => void w.approval('c', { within: '1h' }));
  expect(first((w) => void w.approval('c', { within: '1h', otherwise: 'fail' }))).toStrictEqual(approval);
  expect(
    first((w) => void w.approval('c', { within: '1h', otherwise: 'reject', remindEvery: '10m' })),
  ).toStrictEqual({ ...approval, otherwise: 'reject', remindMs: 600_000 });
  expect(
    refusalOf(() => first((w) => void w.approval('c', { within: '1h', remindEvery: 'often' }))).message,
  ).toContain("remindEvery of step 'c'");
});

it('a callback, and an approval', () => {
  const output = z.any();
  expect(first((w) => void w.callback('c', { output, within: '1h' }))).toStrictEqual({
    kind: 'callback',
    name: 'c',
    after: [],
    withinMs: 3_600_000,
  });
  expect(first((w) => void w.callback('c', { output, within: '1h', heartbeatEvery: '1m' }))).toMatchObject({
    heartbeatMs: 60_000,
  });
  expect(behind((w, options) => void w.approval('c', { within: '2h', ...options }))).toStrictEqual({
    kind: 'approval',
    name: 'c',
    after: ['a', 'b'],
    when: condition,
    withinMs: 7_200_000,
  });
  expect(first((w) => void w.approval('c', { within: '2h', by: 'another' }))).toStrictEqual({
    kind: 'approval',
    name: 'c',
    after: [],
    withinMs: 7_200_000,
    by: 'another',
  });
  const said = (more: object) =>
    refusalOf(() => first((w) => void w.callback('c', { output, within: '1h', ...more }))).message;
  expect(said({ within: 'soon' })).toContain("within of step 'c'");
  expect(said({ heartbeatEvery: 'soon' })).toContain("heartbeatEvery of step 'c'");
  expect(said({ within: undefined })).toContain("needs 'within'");
  expect(said({ by: 'another' })).toContain("a callback has no 'by'");
  const asked = refusalOf(() => first((w) => void w.approval('c', { within: '1h', by: 'ann' as never })));
  expect(asked.message).toContain('by is "ann"; allowed: \'another\'');
});

it('a callback’s token and answer may be given to others', () => {
  const [callback, approval] = [{ output: z.any(), within: '1h' }, { within: '1h' }] as const;
  const handles: unknown[] = [];
  define((w) => {
    for (const { name, output, token } of [w.callback('c', callback), w.approval('d', approval)])
      handles.push([name, toExpr(output), toExpr(token)]);
  });
  expect(handles).toEqual([
    ['c', { $ref: 'step:c', path: [] }, { $ref: 'token:c', path: [] }],
    ['d', { $ref: 'step:d', path: [] }, { $ref: 'token:d', path: [] }],
  ]);
});

describe('another workflow', () => {
  const inner = define((w) => void w.step('x', agent, {}), z.object({ n: z.number() }));
  const of = (input: unknown, options: object = {}) =>
    first((w) => void w.child('sub', inner as never, input as never, options));

  it('is run with its plan', () => {
    const sub = {
      kind: 'child',
      name: 'sub',
      after: [],
      plan: inner.plan,
      input: { n: 1 },
      undo: 'required',
    };
    expect(of({ n: 1 })).toStrictEqual(sub);
    expect(of({ n: 1 }, { undo: 'none' })).toStrictEqual({ ...sub, undo: 'none' });
    const behindOthers = behind(
      (w, options) => void w.child('sub', inner as never, { n: 1 } as never, options),
    );
    expect(behindOthers).toStrictEqual({ ...sub, after: ['a', 'b'], when: condition });
  });

  it('accepts what it is given where that is known', () => {
    const refused = refusalOf(() => of({ n: 'x' }));
    expect(refused.code).toBe('workflow-refused');
    expect(refused.message).toMatch(
      /^workflow 'flow', step 'sub': workflow 'flow' does not accept its input: ./,
    );
    expect(refused.details).toEqual({ workflow: 'flow', step: 'sub', reason: 'bad-input' });
    expect(() => of({ n: ref('input') })).not.toThrow();
    expect(refusalOf(() => of({ n: () => 1 })).details).toMatchObject({ reason: 'bad-expression' });
    expect(() => of({ $x: 1 })).toThrow(/does not accept/);
  });

  it('says in few words what it does not accept', () => {
    const issue = { message: 'x'.repeat(200) };
    const schema = (answer: unknown) => ({
      '~standard': { version: 1, vendor: 'v', validate: () => answer },
    });
    const given = (answer: unknown) =>
      first((w) => void w.child('sub', { ...inner, input: schema(answer) } as never, {} as never));
    const { message } = refusalOf(() => given({ issues: [issue, issue] }));
    expect(message.split('its input: ')[1]).toBe(
      `(the value): ${'x'.repeat(200)}; (the value): ${'x'.repeat(72)}`,
    );
    expect(() => given({ value: 1 })).not.toThrow();
    // A schema that answers later is asked when the workflow runs.
    expect(() => given(Promise.resolve({ issues: [issue] }))).not.toThrow();
  });
});

describe('a list', () => {
  const list = ref<readonly { id: string }[]>('input', ['list']);
  const of = (options: object = {}) =>
    first((w) => void w.map('m', agent, list, (item, index) => ({ id: item.id, at: index }), options));
  const each = {
    kind: 'agent',
    name: 'item',
    agent: 'worker',
    input: { id: { $ref: 'item', path: ['id'] }, at: { $ref: 'index', path: [] } },
    after: [],
    effect: 'idempotent',
    timeoutMs: 60_000,
    leaseMs: 30_000,
    pickupMs: 30_000,
    settleMs: 5_000,
    recovery: [retry(3)],
    undo: retry(10, { delay: '1s', maxDelay: '1m' }),
  };
  it('has what every step has beside its items, who have none of that', () => {
    const over = { $ref: 'input', path: ['list'] };
    const mapped = { kind: 'map', name: 'm', after: ['a', 'b'], over, each, tolerate: { items: 0 } };
    const step = behind(
      (w, options) => void w.map('m', agent, list, (item, index) => ({ id: item.id, at: index }), options),
    );
    expect(step).toStrictEqual({ ...mapped, when: condition });
  });
  it.each<[unknown, object]>([
    [3, { items: 3 }],
    ['5%', { percent: 5 }],
    ['100%', { percent: 100 }],
    ['12.25%', { percent: 12.25 }],
  ])('tolerates %j', (tolerate, expected) => {
    expect(of({ mayFail: tolerate })).toMatchObject({ tolerate: expected });
  });
  it.each(['5', '%', 'x5%', '5%x', '1000%', '5.%', '.5%', '5.x%', '-5%', '5 %'])(
    'does not tolerate %j',
    (tolerate) => {
      const refused = refusalOf(() => of({ mayFail: tolerate }));
      expect([refused.code, refused.message, refused.details]).toEqual([
        'workflow-refused',
        `workflow 'flow', step 'm': mayFail is '${tolerate}'; allowed: a number of items and '5%'`,
        { workflow: 'flow', step: 'm', reason: 'bad-tolerance' },
      ]);
    },
  );
});
