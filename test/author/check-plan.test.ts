/** Refused plans, tested at the exact limits, and the text of each refusal (P1). */

import { checkPlan } from '../../lib/author/checks/check.ts';
import { expressionsOf } from '../../lib/core/plan/plan.ts';
import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { child, map } from '../core/family.ts';
import { planStep, planWith, refusalOf } from './refusals.ts';
import { askPerson, retry } from '../core/stages.ts';

const said = (plan: Plan) => {
  const { code, message, details } = refusalOf(() => checkPlan(plan));
  expect(code).toBe('workflow-refused');
  return { message, ...(details as object) };
};
const ofPlan = (changes: Partial<Plan>, reason: string, message: string): void =>
  expect(said(planWith({}, changes))).toStrictEqual({
    workflow: 'flow',
    reason,
    message: `workflow 'flow': ${message}`,
  });
const refusals: readonly [Partial<Plan>, string, string][] = [
  [
    { withinMs: Number.NaN },
    'unbounded',
    "it has no 'within': say how long an execution may take at most, for example '1h'",
  ],
  [{ pauseWithinMs: 0 }, 'unbounded', 'its pauseWithinMs is 0; leave it out or give a time'],
  [
    { search: ['a', 'b', 'c', 'd'] },
    'bad-tags',
    'tags has 4 names; at most 3 are allowed, because each needs an index',
  ],
  [{ search: ['a', 'a'] }, 'bad-tags', "tags has 'a' twice"],
  [{ search: ['a:b'] }, 'bad-tags', 'tags has "a:b"; a tag\'s name has up to 64 letters, digits and . _ -'],
  ...[5, 'tenant', { $concat: ['a'] }, { $ref: 'step:it', path: [] }].map(
    (fairBy): (typeof refusals)[number] => [
      { fairBy },
      'bad-fair-by',
      "'fairBy' reads nothing of the input: return a text or a number of it, for example fairBy: (input) => input.tenant",
    ],
  ),
  ...[
    { of: { $ref: 'input', path: ['tenant'] } },
    [{ $ref: 'input', path: ['tenant'] }],
    { $exists: { $ref: 'input', path: ['tenant'] } },
  ].map((fairBy): (typeof refusals)[number] => [
    { fairBy },
    'bad-fair-by',
    "'fairBy' is never a text or a number: return a text or a number of it, for example fairBy: (input) => input.tenant",
  ]),
  [{ fairBy: { $what: 1 } }, 'bad-fair-by', "its 'fairBy' has the unknown operator '$what'"],
  [{ steps: [] }, 'no-end', 'it has no steps, so it would never end'],
  [
    { steps: Array.from({ length: 1_001 }, (_, at) => ({ ...planStep, name: `s${at}` })) },
    'too-many-steps',
    'it has 1001 steps; at most 1000 are allowed',
  ],
  [
    { output: { $ref: 'step:x', path: [] } },
    'bad-output',
    "the output reads the output of 'x', which does not exist",
  ],
  [{ output: { $x: 1 } }, 'bad-output', "the output has the unknown operator '$x'"],
  [
    { output: { $ref: 'item', path: [] } },
    'bad-output',
    'in its output: an expression reads the item of a list outside of the list',
  ],
  [
    { output: { $ref: 'token:it', path: [] } },
    'bad-output',
    "in its output: it reads the token of 'it', which is not a callback",
  ],
];
it.each(
  refusals.map(([changes, reason, message]): [string, string, Partial<Plan>] => [message, reason, changes]),
)('%s', (message, reason, changes) => {
  ofPlan(changes, reason, message);
});

it('a workflow has a legal name', () => {
  expect(said(planWith({}, { workflow: 'Flow' }))).toEqual({
    workflow: 'Flow',
    reason: 'bad-name',
    message:
      "workflow 'Flow': the name is not allowed: a lower-case letter, then up to 47 lower-case letters, digits or dashes; not 'constructor', not 'prototype'",
  });
});

describe('steps', () => {
  const named = (name: string, ...after: readonly string[]): AgentStep => ({ ...planStep, name, after });
  const refused = (...steps: readonly PlanStep[]) => said(planWith({}, { steps }));

  it('have legal names, each its own', () => {
    expect(refused(named('No'))).toEqual({
      workflow: 'flow',
      step: 'No',
      reason: 'bad-name',
      message:
        "workflow 'flow', step 'No': the name is not allowed: a lower-case letter, then up to 47 lower-case letters, digits or dashes; not 'constructor', not 'prototype'",
    });
    // It fits the pattern, so the pattern alone would accept it.
    expect(refused(named('constructor'))?.message).toContain("not 'constructor', not 'prototype'");
    expect(refused(named('a'), named('a'))).toEqual({
      workflow: 'flow',
      step: 'a',
      reason: 'duplicate-name',
      message: "workflow 'flow', step 'a': two steps have this name; give one of them another",
    });
  });

  it.each<[readonly PlanStep[], string, string]>([
    [[named('a', 'a')], 'a', 'a → a'],
    [[named('a', 'b'), named('b', 'a')], 'a', 'a → b → a'],
    [[named('x'), named('a', 'x', 'c'), named('b', 'a'), named('c', 'b')], 'a', 'a → b → c → a'],
    [[named('z', 'b'), named('a', 'b'), named('b', 'a')], 'b', 'b → a → b'],
  ])('do not wait for themselves: %#', (steps, first, path) => {
    expect(refused(...steps)).toEqual({
      workflow: 'flow',
      step: first,
      reason: 'cycle',
      message: `workflow 'flow', step '${first}': its steps wait for each other: ${path}`,
    });
  });

  it('of another kind cannot be points of no return', () => {
    const message = 'only a step that an agent performs, or a child, can be a point of no return';
    const point = { pointOfNoReturn: true } as const;
    for (const step of [{ kind: 'wait', name: 'w', after: [], forMs: 1, ...point }] as const)
      expect(refused(step)).toMatchObject({
        step: step.name,
        reason: 'bad-point-of-no-return',
        message: `workflow 'flow', step '${step.name}': ${message}`,
      });
    expect(refused({ ...map, each: { ...planStep, ...point } })).toMatchObject({
      step: 'list',
      reason: 'bad-point-of-no-return',
      message: expect.stringContaining('some items of a list would be past it'),
    });
  });
});

it('a step reads in its condition, and in what its kind evaluates', () => {
  const [when, input, other] = [{ $ref: 'input', path: ['w'] }, { i: 1 }, { o: 1 }];
  const recovery = [retry(), retry({ kind: 'withInput', input: other }), askPerson()];
  expect(expressionsOf({ ...planStep, input, when, recovery })).toEqual([when, input, other]);
  expect(expressionsOf({ ...planStep, input, recovery: [] })).toEqual([input]);
  expect(expressionsOf({ kind: 'wait', name: 'w', after: [], until: 5, when })).toEqual([when, 5]);
  expect(expressionsOf({ kind: 'wait', name: 'w', after: [], forMs: 5 })).toEqual([]);
  expect(expressionsOf({ ...child, input })).toEqual([input]);
  expect(expressionsOf({ ...map, over: [1], each: { ...planStep, input, recovery } })).toEqual([
    [1],
    input,
    other,
  ]);
  expect(expressionsOf({ kind: 'callback', name: 'c', after: [], withinMs: 1 })).toEqual([]);
});
