/** What is refused of a step that an agent performs, at its very limits, and the words with which it is (P1). */

import { checkPlan } from '../../../lib/core/plan/check.ts';
import { MAX_DURATION_MS } from '../../../lib/core/plan/duration.ts';
import type { Json } from '../../../lib/core/records/json.ts';
import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import { planStep, planWith, refusalOf } from '../refusals.ts';
import { human, retry, useAgent } from '../rungs.ts';

const said = (plan: Plan) => {
  const { code, message, details } = refusalOf(() => checkPlan(plan));
  expect(code).toBe('workflow-refused');
  return { message, ...(details as object) };
};
const ofPlan = (changes: Partial<Plan>, reason: string, message: string): void =>
  expect(said(planWith({}, changes))).toEqual({
    workflow: 'flow',
    reason,
    message: `workflow 'flow': ${message}`,
  });
const ofStep = (changes: Partial<AgentStep>, reason: string, message: string): void =>
  expect(said(planWith(changes))).toEqual({
    workflow: 'flow',
    step: 'it',
    reason,
    message: `workflow 'flow', step 'it': ${message}`,
  });
const fine = (changes: Partial<AgentStep>, plan: Partial<Plan> = {}): void =>
  expect(() => checkPlan(planWith(changes, plan))).not.toThrow();

const unbounded = (what: string): string => `${what}, so it could wait for ever`;
const endless = (kind: string, least: number): string =>
  `a ladder must end: ${kind} takes ${least} to 1000 attempts`;

it.each<[string, Partial<AgentStep>, string, string]>([
  ['its agent', { agent: 'No' }, 'bad-name', "its agent 'No' has no legal name"],
  ['its time', { timeoutMs: 0 }, 'unbounded', unbounded('timeoutMs is 0')],
  ['its lease', { leaseMs: Number.NaN }, 'unbounded', unbounded('leaseMs is NaN')],
  [
    'its pickup',
    { pickupMs: MAX_DURATION_MS + 1 },
    'unbounded',
    unbounded(`pickupMs is ${MAX_DURATION_MS + 1}`),
  ],
  ['its settling', { settleMs: -1 }, 'unbounded', unbounded('settleMs is -1')],
  ['no progress', { maxNoProgressMs: 0 }, 'unbounded', 'maxNoProgressMs is 0; leave it out or give a time'],
  [
    'its effect',
    { effect: 'x' as never },
    'bad-effect',
    "effect 'x' is not 'idempotent', 'probed' or 'unsafe'",
  ],
  ['too many tries', { ladder: [retry({ attempts: 1_001 })] }, 'endless-ladder', endless('retry', 0)],
  ['negative tries', { ladder: [retry({ attempts: -1 })] }, 'endless-ladder', endless('retry', 0)],
  ['half a try', { ladder: [retry({ attempts: 1.5 })] }, 'endless-ladder', endless('retry', 0)],
  [
    'no try of another input',
    { ladder: [retry({ kind: 'withInput', input: {}, attempts: 0 })] },
    'endless-ladder',
    endless('withInput', 1),
  ],
  [
    'no try of another agent',
    { ladder: [useAgent({ attempts: 0 })] },
    'endless-ladder',
    endless('useAgent', 1),
  ],
  ['an unknown rung', { ladder: [retry({ kind: 'x' })] }, 'endless-ladder', endless('a rung', 1)],
  ['tries of its undo', { undo: retry({ attempts: 1_001 }) as never }, 'endless-ladder', endless('retry', 0)],
  ['no first', { ladder: [retry({ firstMs: 0 })] }, 'bad-backoff', "retry needs 0 < 'first' ≤ 'max'"],
  ['no max', { ladder: [retry({ maxMs: Number.NaN })] }, 'bad-backoff', "retry needs 0 < 'first' ≤ 'max'"],
  ['a first over max', { ladder: [retry({ firstMs: 2 })] }, 'bad-backoff', "retry needs 0 < 'first' ≤ 'max'"],
  ['another agent', { ladder: [useAgent({ agent: '' })] }, 'bad-name', "useAgent: '' is no legal name"],
  [
    'limits of another agent',
    { ladder: [useAgent({ settleMs: 0 })] },
    'unbounded',
    unbounded("agent 'other': settleMs is 0"),
  ],
  [
    'progress of another agent',
    { ladder: [useAgent({ maxNoProgressMs: 0 })] },
    'unbounded',
    "agent 'other': maxNoProgressMs is 0; leave it out or give a time",
  ],
  [
    'the effect of another agent',
    { ladder: [useAgent({ effect: 'x' })] },
    'bad-effect',
    "agent 'other': effect 'x' is not 'idempotent', 'probed' or 'unsafe'",
  ],
  [
    'a person without end',
    { ladder: [human({ withinMs: Number.NaN })] },
    'unbounded',
    "its human rung has no 'within', so it could wait for ever",
  ],
  [
    'a person who does something else',
    { ladder: [human({ otherwise: 'x' as never })] },
    'bad-rung',
    "human's 'otherwise' is 'undo' or 'fail'",
  ],
  [
    'what comes after a person',
    { ladder: [human(), retry()] },
    'unreachable-rung',
    'human is the last rung: what comes after it is never tried',
  ],
  [
    'an unsafe repetition',
    { effect: 'unsafe', ladder: [retry(), human()] },
    'unsafe-retry',
    "an 'unsafe' effect must not be tried again by itself: its ladder is [human(…)]",
  ],
  [
    'an unsafe repetition by another agent',
    { ladder: [useAgent({ effect: 'unsafe' })] },
    'unsafe-retry',
    "an 'unsafe' effect must not be tried again by itself: its ladder is [human(…)]",
  ],
  [
    'an unsafe end',
    { effect: 'unsafe', ladder: [] },
    'unsafe-without-human',
    "an 'unsafe' effect needs a human rung: only a person can say what follows",
  ],
  [
    'an undo after no return',
    { pointOfNoReturn: true, undo: retry() as never },
    'undo-after-no-return',
    "it is a point of no return, which is never undone: leave its 'undo' out, or say 'none'",
  ],
  [
    'another agent’s undo after no return',
    { pointOfNoReturn: true, ladder: [useAgent({ undo: retry() })] },
    'undo-after-no-return',
    "it is a point of no return, which is never undone: leave its 'undo' out, or say 'none'",
  ],
  ['whom it comes after', { after: ['x'] }, 'unknown-step', "it comes after 'x', which does not exist"],
  [
    'an operator',
    { input: { a: [{ $x: 1 }] } },
    'bad-expression',
    "an expression has the unknown operator '$x'",
  ],
  [
    'no JSON',
    { input: { at: new Date(0) } as never },
    'bad-expression',
    'an expression must become JSON: /at is not plain JSON',
  ],
  [
    'what it reads',
    { when: { $ref: 'step:x', path: [] } },
    'not-a-predecessor',
    "it reads the output of 'x', which need not be done before it",
  ],
  [
    'where it points',
    { input: { $ref: 'x', path: [] } },
    'bad-expression',
    "an expression points to 'x', which is nothing",
  ],
])('%s is refused', (_, changes, reason, message) => {
  ofStep(changes, reason, message);
});

it('what is at a limit is fine', () => {
  fine({}, { pauseWithinMs: 1 });
  fine({}, { withinMs: MAX_DURATION_MS });
  fine({
    maxNoProgressMs: 1,
    ladder: [retry({ attempts: 0 }), retry({ attempts: 1_000 }), useAgent(), human()],
  });
  fine({ ladder: [human({ otherwise: 'undo' })] });
  fine({ ladder: [] });
  fine({ effect: 'unsafe', ladder: [human()] });
  fine({ pointOfNoReturn: true, ladder: [useAgent(), human()] });
  fine({ input: { $literal: { $x: { $y: [1] } } } });
  fine({ input: { $concat: ['a', { $exists: { $ref: 'input', path: [] } }] } });
});

it('a thousand steps are fine', () => {
  fine({}, { steps: Array.from({ length: 1_000 }, (_, at) => ({ ...planStep, name: `s${at}` })) });
});

it('an expression is 64 deep and has 20 000 values at most, within literals, too', () => {
  const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)]);
  const list = (count: number): Json => Array.from({ length: count }, () => 0);
  fine({ input: nested(64) });
  ofStep(
    { input: nested(65) },
    'bad-expression',
    'an expression must become JSON: nested deeper than 64 levels',
  );
  fine({ input: list(19_999) });
  ofStep({ input: list(20_000) }, 'bad-expression', 'an expression must become JSON: more than 20000 values');
});

it('a plan has 256 KB at most', () => {
  const frame = JSON.stringify(planWith({ input: '' })).length;
  fine({ input: 'x'.repeat(256 * 1024 - frame) });
  ofPlan(
    { steps: [{ ...planStep, input: 'x'.repeat(256 * 1024 - frame + 1) }] },
    'too-large',
    'its plan has 262145 bytes; allowed are 262144',
  );
});
