/** Conditions on outcomes, and outputs that may be missing: the refusals and their advice (S20). */

import * as z from 'zod/mini';
import { evaluateExpression } from '../../lib/core/plan/refs.ts';
import {
  and,
  eq,
  exists,
  failed,
  not,
  or,
  orElse,
  required,
  ref,
  skipped,
  succeeded,
  toExpr,
} from '../../lib/author/references.ts';
import { outputsIn, stepsIn } from '../../lib/core/plan/refs-in.ts';
import { isOutcomeRead } from '../../lib/core/plan/outcomes.ts';
import { workflow, type WorkflowBuilder } from '../../lib/author/builder/workflow.ts';
import { declareAgent } from '../../lib/core/plan/agent.ts';
import type { Agent } from '../../lib/core/plan/agent.ts';

const Out = z.object({ id: z.string() });
const Any = z.object({ x: z.optional(z.any()) });
const cars = declareAgent('cars', { input: Any, output: Out, effect: 'idempotent' }) as Agent<
  { x?: unknown },
  { id: string }
>;
const flow = (build: (w: WorkflowBuilder<{ ok: boolean }>) => object | undefined) =>
  workflow(
    'flow',
    { input: z.object({ ok: z.boolean() }), within: '1h' },
    (w) => build(w) as Record<string, unknown>,
  );
const refusalOf = (build: (w: WorkflowBuilder<{ ok: boolean }>) => object | undefined) => {
  try {
    flow(build);
  } catch (error) {
    const { message, details } = error as { message: string; details: { reason: string; step?: string } };
    return { message, ...details };
  }
  throw new Error('not refused');
};

// The plan's check also reports what the types refuse, for authors in JavaScript.
describe('refused is', () => {
  it.each<[string, Parameters<typeof refusalOf>[0], string, string]>([
    [
      'a condition on the failure of a step that must not fail',
      (w) => {
        const car = w.step('car', cars, {});
        w.step('b', cars, {}, { when: or(failed(car), eq(w.input.ok, true)) });
        return undefined;
      },
      'failure-not-tolerated',
      "say 'mayFail: true' on 'car'",
    ],
    [
      'the failure of a step that must not fail',
      (w) => {
        const car = w.step('car', cars, {}) as never as { failure: { code: never } };
        w.step('b', cars, { x: orElse(car.failure.code, 'none') });
        return undefined;
      },
      'failure-not-tolerated',
      "say 'mayFail: true' on 'car'",
    ],
    [
      'the failure of a list',
      (w) => {
        const all = w.map('all', cars, w.input as never, () => ({}), { mayFail: 1 });
        w.step('b', cars, {}, { when: failed(all) });
        return undefined;
      },
      'failure-not-tolerated',
      'read all.output.failed',
    ],
    [
      'the output of a step that may fail',
      (w) => {
        const car = w.step('car', cars, {}, { mayFail: true });
        w.step('b', cars, { x: car.output.id as never });
        return undefined;
      },
      'output-may-be-missing',
      "it reads car.output.id, and 'car' may fail: write orElse(car.output.id, …), or 'when: succeeded(car)'",
    ],
    [
      'what is returned of a step that may fail, which no condition could guard',
      (w) => ({ x: w.step('car', cars, {}, { mayFail: true }).output.id as never }),
      'output-may-be-missing',
      "'car' may fail: write orElse(car.output.id, …)",
    ],
    [
      'the output of a step that may be skipped',
      (w) => {
        const car = w.step('car', cars, {}, { when: eq(w.input.ok, true) });
        w.step('b', cars, { x: car.output.id as never });
        return undefined;
      },
      'output-may-be-missing',
      "'car' may be skipped",
    ],
    [
      'a failure that need not be one',
      (w) => {
        const car = w.step('car', cars, {}, { mayFail: true });
        w.step('b', cars, { x: required(car.failure.code) }, { when: not(succeeded(car)) });
        return undefined;
      },
      'output-may-be-missing',
      "'when: and(failed(car), …)'",
    ],
    [
      'a condition of which only a part says so',
      (w) => {
        const car = w.step('car', cars, {}, { mayFail: true });
        w.step('b', cars, { x: required(car.output.id) }, { when: or(succeeded(car), eq(w.input.ok, true)) });
        return undefined;
      },
      'output-may-be-missing',
      'orElse(car.output.id',
    ],
    [
      'a missing value in the output',
      (w) => ({ id: w.step('car', cars, {}, { mayFail: true }).output.id }),
      'output-may-be-missing',
      'orElse(car.output.id',
    ],
    [
      'a point of no return',
      (w) => {
        w.step('car', cars, {}, { mayFail: true, pointOfNoReturn: true });
        return undefined;
      },
      'tolerated-point-of-no-return',
      "Leave 'mayFail' out",
    ],
    [
      'a share of a step that is no list',
      (w) => {
        w.step('car', cars, {}, { mayFail: '5%' as never });
        return undefined;
      },
      'bad-tolerance',
      "write 'mayFail: true'",
    ],
  ])('%s', (_name, build, reason, says) => {
    const refusal = refusalOf(build);
    expect(refusal.reason).toBe(reason);
    expect(refusal.message).toContain(says);
  });
});

it('accepted is what says what holds instead, or when it is there', () => {
  const { plan } = flow((w) => {
    const car = w.step('car', cars, {}, { mayFail: true });
    const bus = w.step(
      'bus',
      cars,
      { x: required(car.failure.code) },
      { when: and(failed(car), eq(w.input.ok, true)), mayFail: true },
    );
    // The success of the bus implies that the car failed.
    w.step(
      'b',
      cars,
      { x: [required(bus.output.id), required(car.failure.message)] },
      { when: succeeded(bus) },
    );
    w.step(
      'c',
      cars,
      { x: orElse(car.output.id, orElse(bus.output.id, 'none')) },
      { when: exists(bus.output.id) },
    );
    w.step('d', cars, {}, { after: [car, bus] });
    return { id: orElse(car.output.id, null) };
  });
  expect(plan.steps.map(({ name, after }) => [name, after])).toEqual([
    ['car', []],
    ['bus', ['car']],
    ['b', ['bus', 'car']],
    ['c', ['bus', 'car']],
    ['d', ['car', 'bus']],
  ]);
  expect(['car', 'bus', 'd'].map((name) => isOutcomeRead(plan, name))).toEqual([true, true, false]);
});

it('a plan that uses none of it is what it was', () => {
  const { plan } = flow((w) => {
    w.step('car', cars, {}, { mayFail: false });
    return undefined;
  });
  expect(plan.steps[0]).not.toHaveProperty('tolerate');
});

it('types say what may be missing', () => {
  flow((w) => {
    const sure = w.step('sure', cars, {});
    const car = w.step('car', cars, {}, { mayFail: true });
    const gift = w.wait('gift', { for: '1m', when: eq(w.input.ok, true) });
    const strict = declareAgent('strict', { input: Out, output: Out, effect: 'idempotent' }) as Agent<
      { id: string },
      { id: string }
    >;
    w.step('a', strict, { id: sure.output.id });
    w.step('b', strict, { id: orElse(car.output.id, 'none') });
    w.step('c', strict, { id: required(car.output.id) }, { when: succeeded(car) });
    // @ts-expect-error it may be missing
    w.step('d', strict, { id: car.output.id }, { when: succeeded(car) });
    // @ts-expect-error the replacement is not a text
    w.step('e', strict, { id: orElse(car.output.id, 5) });
    // @ts-expect-error it must not fail, so there is no failure
    expect(sure.failure).toBeDefined();
    expect(gift.failure).toBeDefined();
    return undefined;
  });
});

it('an outcome is read like an output: it orders the steps, and has a value once the step has passed', () => {
  const condition = toExpr(and(skipped('a'), not(failed('b')), succeeded('a')));
  expect(stepsIn(condition)).toEqual(['a', 'b']);
  expect(outputsIn(condition)).toEqual([]);
  const scope = {
    input: null,
    output: () => undefined,
    outcome: (step: string) => (step === 'a' ? 'failed' : undefined),
  };
  const holds = (value: unknown) => evaluateExpression(toExpr(value), scope);
  expect([holds(failed('a')), holds(succeeded('a')), holds(skipped('b')), holds(not(failed('b')))]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  const missing = ref<string>('input', ['no']);
  const instead = toExpr(orElse(missing, { x: 1 }));
  expect(evaluateExpression(instead, { input: {}, output: () => undefined })).toEqual({ x: 1 });
});
