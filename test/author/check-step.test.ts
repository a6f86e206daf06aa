/** Refused steps of agents, tested at the exact limits, and the text of each refusal (P1). */

import { checkPlan } from '../../lib/author/checks/check.ts';
import { MAX_DURATION_MS } from '../../lib/core/values/duration.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { AgentStep, Plan } from '../../lib/core/plan/plan.ts';
import { planStep, planWith, refusalOf } from './refusals.ts';
import { askPerson, retry, useAgent } from '../core/stages.ts';

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
  `a recovery must end: ${kind} takes ${least} to 1000 attempts`;

const backoff = "retry needs 0 < 'first' ≤ 'max'";
const notAnEffect = "effect 'x' is not 'idempotent', 'probed', 'unsafe' or 'none'";
const noWayBack = "it is a point of no return, which is never undone: leave its 'undo' out, or write 'none'";
const notAgain = "an 'unsafe' effect must not be retried automatically: its recovery is [askPerson(…)]";
const noProgress = 'maxNoProgressMs is 0; leave it out or give a time';
const neverTried = 'askPerson must be the last stage: a stage after it is never tried';
const needsHuman = "an 'unsafe' effect needs an askPerson stage: only a person can decide how to continue";
const notJson =
  'an expression must become JSON: /at is not plain JSON but of class Date: give its toISOString()';
const notBefore = "it reads the output of 'x', which may not be done before it: add 'x' to 'after'";
const noInput = retry({ kind: 'withInput', input: {}, attempts: 0 });
const refusals: readonly [changes: Partial<AgentStep>, reason: string, message: string][] = [
  [{ agent: 'No' }, 'bad-name', "its agent 'No' has no valid name"],
  [{ timeoutMs: 0 }, 'unbounded', unbounded('timeoutMs is 0')],
  [{ leaseMs: Number.NaN }, 'unbounded', unbounded('leaseMs is NaN')],
  [{ pickupMs: MAX_DURATION_MS + 1 }, 'unbounded', unbounded(`pickupMs is ${MAX_DURATION_MS + 1}`)],
  [{ settleMs: -1 }, 'unbounded', unbounded('settleMs is -1')],
  [{ maxNoProgressMs: 0 }, 'unbounded', noProgress],
  [{ effect: 'x' as never }, 'bad-effect', notAnEffect],
  [{ recovery: [retry({ attempts: 1_001 })] }, 'endless-recovery', endless('retry', 0)],
  [{ recovery: [retry({ attempts: -1 })] }, 'endless-recovery', endless('retry', 0)],
  [{ recovery: [retry({ attempts: 1.5 })] }, 'endless-recovery', endless('retry', 0)],
  [{ recovery: [noInput] }, 'endless-recovery', endless('withInput', 1)],
  [{ recovery: [useAgent({ attempts: 0 })] }, 'endless-recovery', endless('useAgent', 1)],
  [{ recovery: [retry({ kind: 'x' })] }, 'endless-recovery', endless('a stage', 1)],
  [{ undo: retry({ attempts: 1_001 }) as never }, 'endless-recovery', endless('retry', 0)],
  [{ recovery: [retry({ firstMs: 0 })] }, 'bad-backoff', backoff],
  [{ recovery: [retry({ maxMs: Number.NaN })] }, 'bad-backoff', backoff],
  [{ recovery: [retry({ firstMs: 2 })] }, 'bad-backoff', backoff],
  [{ recovery: [useAgent({ agent: '' })] }, 'bad-name', "useAgent: '' is not a legal name"],
  [{ recovery: [useAgent({ settleMs: 0 })] }, 'unbounded', unbounded("agent 'other': settleMs is 0")],
  [{ recovery: [useAgent({ maxNoProgressMs: 0 })] }, 'unbounded', `agent 'other': ${noProgress}`],
  [{ recovery: [useAgent({ effect: 'x' })] }, 'bad-effect', `agent 'other': ${notAnEffect}`],
  [
    { recovery: [askPerson({ withinMs: Number.NaN })] },
    'unbounded',
    unbounded("its askPerson stage has no 'within'"),
  ],
  [
    { recovery: [askPerson({ otherwise: 'x' as never })] },
    'bad-stage',
    "askPerson's 'otherwise' must be 'undo' or 'keep'",
  ],
  [{ recovery: [askPerson({ remindMs: Number.NaN })] }, 'unbounded', "'remindEvery' is not a time"],
  [
    { recovery: [askPerson({ remindMs: 59_999 })] },
    'bad-reminder',
    "its askPerson stage reminds every 59s999ms; write remindEvery: '1m' or more",
  ],
  [
    { recovery: [askPerson({ withinMs: 60_000, remindMs: 60_000 })] },
    'bad-reminder',
    "its askPerson stage reminds every 1m, and it waits for only 1m: nobody would be reminded; write a 'remindEvery' that is less than 'within', or leave it out",
  ],
  [{ recovery: [askPerson(), retry()] }, 'unreachable-stage', neverTried],
  [{ effect: 'unsafe', recovery: [retry(), askPerson()] }, 'unsafe-retry', notAgain],
  [{ recovery: [useAgent({ effect: 'unsafe' })] }, 'unsafe-retry', notAgain],
  [{ effect: 'unsafe', recovery: [] }, 'unsafe-without-person', needsHuman],
  [{ pointOfNoReturn: true, undo: retry() as never }, 'undo-after-no-return', noWayBack],
  [{ pointOfNoReturn: true, recovery: [useAgent({ undo: retry() })] }, 'undo-after-no-return', noWayBack],
  [{ after: ['x'] }, 'unknown-step', "it comes after 'x', which does not exist"],
  [{ input: { a: [{ $x: 1 }] } }, 'bad-expression', "an expression has the unknown operator '$x'"],
  [{ input: { at: new Date(0) } as never }, 'bad-expression', notJson],
  [{ when: { $ref: 'step:x', path: [] } }, 'not-a-predecessor', notBefore],
  [{ input: { $ref: 'x', path: [] } }, 'bad-expression', "an expression reads 'x', which does not exist"],
];
it.each(refusals.map(([changes, reason, message]) => [message, reason, changes] as const))(
  '%s',
  (message, reason, changes) => {
    ofStep(changes, reason, message);
  },
);

it('what is at a limit is fine', () => {
  fine({}, { pauseWithinMs: 1 });
  fine({}, { withinMs: MAX_DURATION_MS });
  fine({
    maxNoProgressMs: 1,
    recovery: [retry({ attempts: 0 }), retry({ attempts: 1_000 }), useAgent(), askPerson()],
  });
  fine({ recovery: [askPerson({ otherwise: 'undo' })] });
  fine({ recovery: [] });
  fine({ effect: 'unsafe', recovery: [askPerson()] });
  fine({ pointOfNoReturn: true, recovery: [useAgent(), askPerson()] });
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
    'its plan has 262145 bytes; at most 262144 are allowed',
  );
});
