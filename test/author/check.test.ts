/**
 * Plan validation for random plans: it accepts every valid plan, and refuses every other with one of the
 * named reasons.
 */

import * as fc from 'fast-check';
import { checkPlan } from '../../lib/author/checks/check.ts';
import { MAX_DURATION_MS } from '../../lib/core/values/duration.ts';
import { SteadfastError } from '../../lib/core/values/errors.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import { check } from '../core/check.ts';
import { mixedCases } from '../core/states.ts';

/** All reasons for refusing a plan. Authors' tools may depend on these words. */
const REASONS: ReadonlySet<string> = new Set([
  'bad-backoff',
  'bad-concurrency',
  'bad-effect',
  'bad-expression',
  'bad-kind',
  'bad-name',
  'bad-output',
  'bad-point-of-no-return',
  'bad-stage',
  'bad-time',
  'bad-tolerance',
  'cycle',
  'duplicate-name',
  'endless-recovery',
  'failure-not-tolerated',
  'longer-than-within',
  'no-end',
  'not-a-predecessor',
  'output-may-be-missing',
  'tolerated-point-of-no-return',
  'too-deep',
  'too-large',
  'too-many-steps',
  'unbounded',
  'undo-after-no-return',
  'unknown-step',
  'unreachable-stage',
  'unsafe-retry',
  'unsafe-without-person',
]);

const NAMES = ['a', 'b', 'c', 'd', 'e', 'nobody', 'constructor', 'A', '', 'a b'];
const name = fc.constantFrom(...NAMES);
const ms = fc.oneof(
  fc.constantFrom(1, 1_000, 60_000, MAX_DURATION_MS, MAX_DURATION_MS + 1, 0, -1, 0.5, Number.NaN, Infinity),
  fc.integer(),
);
const source = fc.oneof(
  fc.constantFrom('input', 'item', 'index', 'env'),
  fc.tuple(fc.constantFrom('step:', 'token:', 'outcome:', 'failure:'), name).map((parts) => parts.join('')),
);
const expression = fc.oneof(
  source.map(($ref) => ({ $ref, path: [] })),
  source.map(($ref) => ({ $exists: { $ref, path: ['x'] } })),
  fc.constantFrom<unknown>({ $eval: '1' }, { deep: { constructor: 1 } }, 5, null, 'text', {
    $literal: { $x: 1 },
  }),
);

/** Values of the right type for each field, so that only the value can be wrong. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...Object.fromEntries(
    [
      'withinMs',
      'timeoutMs',
      'leaseMs',
      'pickupMs',
      'settleMs',
      'forMs',
      'heartbeatMs',
      'firstMs',
      'maxMs',
    ].map((key) => [key, ms]),
  ),
  attempts: ms,
  concurrency: ms,
  workflow: name,
  name,
  agent: name,
  after: fc.array(name, { maxLength: 3 }),
  effect: fc.constantFrom('idempotent', 'probed', 'unsafe', 'maybe'),
  pointOfNoReturn: fc.constant(true),
  input: expression,
  when: expression,
  output: expression,
  over: expression,
  until: expression,
};

const CLOSED: ReadonlySet<string> = new Set(['input', 'when', 'output', 'over', 'until', 'plan']);

/**
 * The paths of all fields that may be changed, except in children's plans: those were checked with their own
 * workflow.
 */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Object.hasOwn(VALUES, key) ? [[...path, key]] : []),
    ...(CLOSED.has(key) ? [] : pathsOf(inner, [...path, key])),
  ]);
}

function withValue(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  (copy as Record<string, unknown>)[key] = withValue((value as Record<string, unknown>)[key], rest, to);
  return copy;
}

/** Plans in which steps that are never undone are marked. */
const plans: fc.Arbitrary<Plan> = mixedCases.map(({ plan }) => ({
  ...plan,
  steps: plan.steps.map((step) =>
    step.kind === 'agent' && step.pointOfNoReturn === true ? { ...step, undo: 'none' } : step,
  ),
}));
const spoiled: fc.Arbitrary<Plan> = plans.chain((plan) =>
  fc
    .array(
      fc
        .constantFrom(...pathsOf(plan))
        .chain((path) => (VALUES[path.at(-1) ?? ''] ?? ms).map((to) => ({ path, to }))),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) => changes.reduce<unknown>((so, { path, to }) => withValue(so, path, to), plan) as Plan),
);

function refusalOf(plan: Plan): string | undefined {
  try {
    checkPlan(plan);
    return undefined;
  } catch (error) {
    if (!(error instanceof SteadfastError) || error.code !== 'workflow-refused') throw error;
    expect(error.message).toContain(`workflow '${plan.workflow}'`);
    return String((error.details as { reason: unknown }).reason);
  }
}

/** A second implementation of the conditions of a valid plan. @returns the violated ones */
function faultsOf(plan: Plan): string[] {
  const seen = new Set<string>();
  const faults: string[] = [];
  let open = [...plan.steps];
  while (open.length > 0) {
    const free = open.filter(({ after }) => after.every((before) => seen.has(before)));
    if (free.length === 0) return ['it waits for itself or for nobody'];
    for (const step of free) seen.add(step.name);
    open = open.filter((step) => !free.includes(step));
  }
  if (seen.size !== plan.steps.length) faults.push('two steps of one name');
  const times = pathsOf(plan).filter((path) => path.at(-1)?.endsWith('Ms') === true);
  for (const path of times) {
    const value = path.reduce<unknown>((so, key) => (so as Record<string, unknown>)[key], plan);
    if (!((value as number) > 0 && (value as number) <= MAX_DURATION_MS))
      faults.push(`${path.join('.')} is ${String(value)}`);
  }
  return faults;
}

describe('the check of a plan (P1)', () => {
  it('accepts any plan without a fault', () => {
    check(
      fc.property(plans, (plan) => refusalOf(plan) === undefined),
      300,
    );
  });

  it('accepts a spoiled plan only if it is sound all the same, and refuses it with a reason that has a name', () => {
    const reasons = new Set<string>();
    let accepted = 0;
    check(
      fc.property(spoiled, (plan) => {
        const reason = refusalOf(plan);
        if (reason === undefined) {
          accepted += 1;
          expect(faultsOf(plan)).toEqual([]);
        } else {
          reasons.add(reason);
          expect(REASONS).toContain(reason);
        }
      }),
      1_200,
    );
    expect(accepted).toBeGreaterThan(50);
    expect(reasons.size).toBeGreaterThan(10);
  });

  it('is the same each time, and keeps the plan as it is', () => {
    check(
      fc.property(spoiled, (plan) => {
        const before = JSON.stringify(plan);
        expect(refusalOf(plan)).toBe(refusalOf(plan));
        expect(JSON.stringify(plan)).toBe(before);
      }),
      300,
    );
  });
});
