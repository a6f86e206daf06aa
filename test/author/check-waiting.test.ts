/** Refused steps without an agent, tested at the exact limits, and the text of each refusal (P1). */

import { waitingStepProblem, sourceProblem } from '../../lib/author/checks/check-waiting.ts';
import { checkPlan } from '../../lib/author/checks/check.ts';
import type {
  AgentStep,
  CallbackStep,
  ChildStep,
  MapStep,
  Plan,
  PlanStep,
  WaitStep,
} from '../../lib/core/plan/plan.ts';
import { child, map } from '../core/family.ts';
import { planOf } from '../core/one-step.ts';
import { planStep, planWith } from './refusals.ts';

const problem = (step: PlanStep, withinMs = 60_000, of?: Plan) =>
  waitingStepProblem(step as Exclude<PlanStep, AgentStep>, of ?? { ...planOf(step), withinMs }, (each) =>
    each.timeoutMs === 1 ? { reason: 'each', message: 'of its agent' } : undefined,
  );
const wait = (more: Partial<WaitStep>): WaitStep => ({ kind: 'wait', name: 'w', after: [], ...more });
/** Fills missing columns with null. */
const filled = <T>(table: readonly [T, string?, string?][]): [T, string | null, string | null][] =>
  table.map(([given, reason, message]) => [given, reason ?? null, message ?? null]);
const one = "a wait needs either 'for' or 'until'";
const zone = "'until' is neither epoch ms nor a date in ISO form with its zone";

it.each(
  filled<Partial<WaitStep>>([
    [{ forMs: 60_000 }],
    [{ forMs: 60_001 }, 'longer-than-within', 'it waits for 1m1ms, but the workflow must end within 1m'],
    [{ forMs: 0 }, 'unbounded', 'its wait is 0 ms long'],
    [{ forMs: Number.NaN }, 'unbounded', 'its wait is NaN ms long'],
    [{}, 'unbounded', one],
    [{ forMs: 5, until: 5 }, 'unbounded', one],
    [{ until: 2e12 }],
    [{ until: 5 }, 'bad-time', "'until' is 5, as epoch ms a time before 2001"],
    [
      { until: 1_750_000_000_000_000 },
      'bad-time',
      "'until' is 1750000000000000, as epoch ms a time after 9999; in microseconds it would be 2025-06-15T15:06:40.000Z: divide it by 1000",
    ],
    [
      { until: 1.75e18 },
      'bad-time',
      "'until' is 1750000000000000000, as epoch ms a time after 9999; in nanoseconds it would be 2025-06-15T15:06:40.000Z: divide it by 1000000",
    ],
    // No Date can represent it: why could not show it.
    [{ until: 1e300 }, 'bad-time', "'until' is 1e+300, as epoch ms a time after 9999"],
    [{ until: '2026-01-01' }],
    [{ until: { $ref: 'input', path: [] } }],
    [{ until: 'soon' }, 'bad-time', zone],
    [{ until: true }, 'bad-time', zone],
    [{ until: null }, 'bad-time', zone],
  ]),
)('a wait %j: %s', (more, reason, message) => {
  expect(problem(wait(more))).toEqual(reason === null ? undefined : { reason, message });
});

it.each<[Partial<CallbackStep>, string | undefined]>([
  [{ withinMs: 1 }, undefined],
  [{ withinMs: 0 }, "a step of kind 'callback' needs 'within', or it could wait for ever"],
  [
    { withinMs: Number.NaN, kind: 'approval' },
    "a step of kind 'approval' needs 'within', or it could wait for ever",
  ],
  [{ heartbeatMs: 1 }, undefined],
  [{ heartbeatMs: 0 }, "'heartbeatEvery' is not a time"],
  [{ withinMs: 60_000 }, undefined],
])('a callback %j: %s', (more, message) => {
  const step: CallbackStep = { kind: 'callback', name: 'c', after: [], withinMs: 5, ...more };
  expect(problem(step)).toEqual(message === undefined ? undefined : { reason: 'unbounded', message });
});

it.each<[CallbackStep['kind'], unknown, string | undefined]>([
  ['approval', 'another', undefined],
  [
    'approval',
    'ann',
    "by is \"ann\"; allowed: 'another', a person other than those who have acted in it. The API's authorizer decides who may answer at all",
  ],
  [
    'approval',
    true,
    "by is true; allowed: 'another', a person other than those who have acted in it. The API's authorizer decides who may answer at all",
  ],
  [
    'callback',
    'another',
    "a callback has no 'by': anyone with its token may answer it; to ask a person, use w.approval",
  ],
])('by of a step of kind %s: %j', (kind, by, message) => {
  const step = { kind, name: 'c', after: [], withinMs: 5, by } as CallbackStep;
  expect(problem(step)).toEqual(message === undefined ? undefined : { reason: 'bad-by', message });
});

const approval: CallbackStep = { kind: 'approval', name: 'c', after: [], withinMs: 120_000 };
it.each<[Partial<CallbackStep>, string, string]>([
  [
    { kind: 'callback', otherwise: 'approve' },
    'bad-default',
    "'otherwise' is 'approve', and only the external party knows the output of a callback; write otherwise: 'fail' or leave it out, or make the step an approval",
  ],
  [
    { otherwise: 'skip' as never },
    'bad-default',
    "'otherwise' is 'skip'; allowed: 'approve', 'reject' and 'fail'",
  ],
  [
    { otherwise: 'approve', by: 'another' },
    'bad-default',
    "'otherwise' is 'approve', and another person has to approve it: without an answer, no other person would have approved it; write 'reject' or 'fail'",
  ],
  [
    { kind: 'callback', show: { amount: 1 } },
    'bad-show',
    "a callback has no 'show', because a system answers it; to ask a person, use w.approval",
  ],
  [{ show: {} }, 'bad-show', "'show' names 1 to 16 values, such as { amount: w.input.amount }; it names 0"],
  [
    { show: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`a${at}`, at])) },
    'bad-show',
    "'show' names 1 to 16 values, such as { amount: w.input.amount }; it names 17",
  ],
  [
    { show: { $literal: { amount: 1 } } },
    'bad-show',
    "'show' names '$literal'; allowed: up to 40 letters, digits, blanks, '-' and '_', a letter first",
  ],
  [{ remindMs: Number.NaN }, 'unbounded', "'remindEvery' is not a time"],
  [{ remindMs: 59_999 }, 'bad-reminder', "it reminds every 59s999ms; write remindEvery: '1m' or more"],
  [
    { remindMs: 120_000 },
    'bad-reminder',
    "it reminds every 2m, and it waits for only 2m: nobody would be reminded; write a 'remindEvery' that is less than 'within', or leave it out",
  ],
])('what holds without an answer, and reminders: %j', (more, reason, message) => {
  expect(problem({ ...approval, ...more }, 120_000)).toEqual({ reason, message });
});

it('an approval may be approved or rejected without an answer, and both kinds may remind', () => {
  for (const otherwise of ['approve', 'reject'] as const)
    expect(problem({ ...approval, otherwise, remindMs: 119_999 }, 120_000)).toBeUndefined();
  expect(problem({ ...approval, kind: 'callback', remindMs: 60_000 }, 120_000)).toBeUndefined();
});

it.each(['callback', 'approval'] as const)('a %s that promises more time than the workflow has', (kind) => {
  const message = 'it waits for an answer for 1m1ms, but the workflow must end within 1m';
  expect(problem({ kind, name: 'c', after: [], withinMs: 60_001 })).toEqual({
    reason: 'longer-than-within',
    message,
  });
});

it('workflows are ten within one another, and no more', () => {
  const nested = (depth: number): Plan =>
    depth === 1 ? planWith({}) : planOf(planStep, { ...child, plan: nested(depth - 1) });
  const deepest = (depth: number) => problem(child, 5, nested(depth));
  expect(deepest(10)).toBeUndefined();
  expect(deepest(11)).toEqual({ reason: 'too-deep', message: 'workflows within workflows, over 10 deep' });
  const both: ChildStep = { ...child, name: 'b', plan: nested(1) };
  expect(problem(child, 5, planOf({ ...child, plan: nested(10) }, both))).toMatchObject({
    reason: 'too-deep',
  });
});

const tolerance = (value: number, most: number): string => `mayFail is ${value}; allowed: 0 to ${most}`;
it.each(
  filled<Partial<MapStep>>([
    [{}],
    [{ concurrency: 1 }],
    [{ concurrency: 0 }, 'bad-concurrency', 'concurrency is 0; at least 1 is allowed'],
    [{ concurrency: 1.5 }, 'bad-concurrency', 'concurrency is 1.5; at least 1 is allowed'],
    [{ tolerate: { items: 10_000 } }],
    [{ tolerate: { items: 10_001 } }, 'bad-tolerance', tolerance(10_001, 10_000)],
    [{ tolerate: { items: -1 } }, 'bad-tolerance', tolerance(-1, 10_000)],
    [{ tolerate: { items: 0.5 } }, 'bad-tolerance', tolerance(0.5, 10_000)],
    [{ tolerate: { percent: 0.5 } }],
    [{ tolerate: { percent: 0 } }],
    [{ tolerate: { percent: 100 } }],
    [{ tolerate: { percent: 100.5 } }, 'bad-tolerance', tolerance(100.5, 100)],
    [{ each: { ...planStep, timeoutMs: 1 } }, 'each', 'of its agent'],
    [
      { each: { ...planStep, timeoutMs: 1 }, concurrency: 0 },
      'bad-concurrency',
      'concurrency is 0; at least 1 is allowed',
    ],
  ]),
)('a list %j: %s', (more, reason, message) => {
  expect(problem({ ...map, ...more })).toEqual(reason === null ? undefined : { reason, message });
});

it('there are no other kinds', () => {
  expect(problem({ ...map, kind: 'x' } as never)).toEqual({
    reason: 'bad-kind',
    message: "'x' is not a kind of step",
  });
});

describe('what a reference points to', () => {
  const callback: CallbackStep = { kind: 'callback', name: 'c', after: [], withinMs: 5 };
  const plan = planOf(planStep, callback, { ...callback, name: 'ok', kind: 'approval' });
  const pointing = ($ref: string, ofItem = false) =>
    sourceProblem({ a: [{ $ref, path: [] }] }, plan, ofItem ? 'item' : undefined);
  const noCallback = (name: string) => ({
    reason: 'unknown-step',
    message: `it reads the token of '${name}', which is not a callback`,
  });
  const noList = (kind: string) => ({
    reason: 'bad-expression',
    message: `an expression reads the ${kind} of a list outside of the list`,
  });
  const isNothing = (source: string) => ({
    reason: 'bad-expression',
    message: `an expression reads '${source}', which does not exist`,
  });
  it.each(['input', 'step:x', 'token:c', 'token:ok'])('may be %s', (source) => {
    expect(pointing(source)).toBeUndefined();
  });
  it.each([
    ['token:it', noCallback('it')],
    ['token:x', noCallback('x')],
    ['token', noCallback('')],
    ['x', isNothing('x')],
    ['x:c', isNothing('x:c')],
    ['', isNothing('')],
    ['item', noList('item')],
    ['index', noList('index')],
  ])('is not %s', (source, given) => {
    expect(pointing(source)).toEqual(given);
  });
  it('of a list is each item of it, and neither the list itself nor its condition', () => {
    const item = { $ref: 'item', path: [] };
    const checked = (more: Partial<MapStep>) => (): void => checkPlan(planOf({ ...map, ...more }));
    expect(checked({ each: { ...planStep, input: item } })).not.toThrow();
    expect(checked({ over: item })).toThrow(/the item of a list outside of the list/);
    expect(checked({ when: item })).toThrow(/the item of a list outside of the list/);
  });
});
