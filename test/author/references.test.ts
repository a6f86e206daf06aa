/**
 * Typed references, and the JSON that they compile to. Evaluating one is R1 total, R2 bounded, R3 limited to
 * own properties.
 */

import * as fc from 'fast-check';
import type { Json } from '../../lib/core/values/json.ts';
import { evaluateExpression, OPERATORS, type Scope } from '../../lib/core/plan/refs.ts';
import {
  and,
  concat,
  eq,
  exists,
  gt,
  gte,
  isIn,
  length,
  lt,
  lte,
  matches,
  ne,
  not,
  or,
  type Ref,
  ref,
  toExpr,
} from '../../lib/author/references.ts';
import { stepsIn } from '../../lib/core/plan/refs-in.ts';
import { check } from '../core/check.ts';

interface Order {
  readonly id: string;
  readonly total: number;
  readonly items: readonly { readonly sku: string; readonly note?: string }[];
  readonly from: string;
}
const order = ref<Order>('input');
const charge = ref<{ chargeId: string }>('step:charge');
const total = { $ref: 'input', path: ['total'] };

const scope = (input: Json, outputs: Record<string, Json> = {}): Scope => ({
  input,
  output: (step) => (Object.hasOwn(outputs, step) ? outputs[step] : undefined),
});
const value = (written: unknown, input: Json = {}, outputs: Record<string, Json> = {}): Json | undefined =>
  evaluateExpression(toExpr(written), scope(input, outputs));

describe('a reference compiles', () => {
  it.each<[string, unknown, Json]>([
    ['the whole input', order, { $ref: 'input', path: [] }],
    ['a field', order.total, total],
    ['an item of a list', order.items[0]?.sku, { $ref: 'input', path: ['items', '0', 'sku'] }],
    ['a field named like a method', order.from, { $ref: 'input', path: ['from'] }],
    ["a step's output", charge.chargeId, { $ref: 'step:charge', path: ['chargeId'] }],
    ['a structure', { a: [order.id, 1], b: null }, { a: [{ $ref: 'input', path: ['id'] }, 1], b: null }],
    ['an absent field', { a: undefined, b: 1 }, { b: 1 }],
    ['eq', eq(order.total, 5), { $eq: [total, 5] }],
    ['ne', ne(order.total, 5), { $ne: [total, 5] }],
    ['lt', lt(order.total, 5), { $lt: [total, 5] }],
    ['gt', gt(order.total, order.total), { $gt: [total, total] }],
    ['lte', lte(order.total, 5), { $lte: [total, 5] }],
    ['gte', gte(order.total, order.total), { $gte: [total, total] }],
    ['exists', exists(order.total), { $exists: total }],
    ['in', isIn(order.total, [1, 2]), { $in: [total, [1, 2]] }],
    [
      'and',
      and(eq(order.total, 5), exists(order.id)),
      { $and: [{ $eq: [total, 5] }, { $exists: { $ref: 'input', path: ['id'] } }] },
    ],
    ['or', or(), { $or: [] }],
    ['not', not(eq(order.total, 5)), { $not: { $eq: [total, 5] } }],
    ['concat', concat('a-', order.total), { $concat: ['a-', total] }],
    [
      'an object that looks like an operator, quoted',
      { $ref: 'step:x', path: [] },
      { $literal: { $ref: 'step:x', path: [] } },
    ],
    ['length', length(order.items), { $length: { $ref: 'input', path: ['items'] } }],
    ['length of a text', length(order.id), { $length: { $ref: 'input', path: ['id'] } }],
    ['matches', matches(order.id, 'o-*'), { $matches: [{ $ref: 'input', path: ['id'] }, 'o-*'] }],
    [
      'references below a key with a $',
      { update: { $set: { total: order.total }, $inc: undefined, by: 1 } },
      {
        update: {
          $object: [
            ['$set', { total }],
            ['by', 1],
          ],
        },
      },
    ],
    ['one deeper inside', { a: { $set: 1 } }, { a: { $literal: { $set: 1 } } }],
  ])('%s', (_, written, expr) => {
    expect(toExpr(written)).toEqual(expr);
  });
});

describe('an expression has the value', () => {
  const input = { id: 'o-1', total: 5, items: [{ sku: 's' }], nothing: null, yes: true };
  it.each<[string, unknown, Json | undefined]>([
    ['of a path', order.items[0]?.sku, 's'],
    ['of the whole input', order, input],
    ['undefined where a path leads nowhere', order.items[1]?.sku, undefined],
    ['undefined through a text', (order.id as unknown as Ref<{ length: string }>).length, undefined],
    [
      'undefined through null',
      (order as never as Record<string, Ref<{ a: string }>>)['nothing']?.a,
      undefined,
    ],
    ['of a step that is done', charge.chargeId, 'c-1'],
    ['undefined of a step that is not done', ref('step:other'), undefined],
    ['without the keys that have none', { a: order.items[9]?.sku, b: 1 }, { b: 1 }],
    ['null in a list where there is none', [order.items[9]?.sku, 1], [null, 1]],
    ['of a literal as it stands', { $ref: 'input' }, { $ref: 'input' }],
    [
      'with references below a key with a $',
      { $set: { total: order.total, $each: [order.id] } },
      { $set: { total: 5, $each: ['o-1'] } },
    ],
    ['length', gt(length(order.items), 0), true],
    ['matches', matches(order.id, 'o-*'), true],
    ['eq', eq(order.total, 5), true],
    ['eq of another type', eq(order.total as unknown as Ref<string>, '5'), false],
    ['eq of structures', { $quoted: 1 }, { $quoted: 1 }],
    ['ne', ne(order.total, 5), false],
    ['ne of nothing', ne(order.items[9]?.sku as unknown as Ref<string>, 'x'), true],
    ['lt', lt(order.total, 6), true],
    ['lt of equals', lt(order.total, 5), false],
    ['lt of texts', lt(order.id, 'p'), true],
    ['gt', gt(order.total, 4), true],
    ['lte of equals', lte(order.total, 5), true],
    ['gte of equals', gte(order.total, 5), true],
    ['gte of text and number', gte(order.total as unknown as Ref<string>, '4'), false],
    ['gt of text and number', gt(order.total as unknown as Ref<string>, '4'), false],
    ['lt of nothing', lt(order.items[9]?.sku as unknown as Ref<string>, 'x'), false],
    ['exists', exists(order.total), true],
    ['exists of null', exists((order as never as Record<string, Ref<null>>)['nothing'] as Ref<null>), true],
    ['exists of nothing', exists(order.items[9] as unknown as Ref<unknown>), false],
    ['in', isIn(order.total, [4, 5]), true],
    ['in of none', isIn(order.total, []), false],
    ['and', and(eq(order.total, 5), eq(order.id, 'o-1')), true],
    ['and with a false one', and(eq(order.total, 5), eq(order.id, 'x')), false],
    ['and of none', and(), true],
    ['or', or(eq(order.total, 1), eq(order.id, 'o-1')), true],
    ['or of none', or(), false],
    ['not', not(eq(order.total, 5)), false],
    ['concat of texts and numbers', concat(order.id, '/', order.total), 'o-1/5'],
    [
      'concat without what has no text',
      concat('a', order.items[9]?.sku as unknown as Ref<string>, 'b'),
      'ab',
    ],
  ])('%s', (_, written, expected) => {
    expect(value(written, input, { charge: { chargeId: 'c-1' } })).toEqual(expected);
  });
});

describe('a path (R3)', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'valueOf'])(
    'reaches no inherited %s',
    (key) => {
      const inputs: Json[] = [{}, [], 'text', 1, true, null, { a: {} }];
      for (const input of inputs) {
        const own = Array.isArray(input) && key === 'length';
        const found = evaluateExpression({ $ref: 'input', path: [key] }, scope(input));
        expect(own ? undefined : found).toBeUndefined();
        expect(evaluateExpression({ $ref: 'input', path: ['a', key] }, scope(input))).toBeUndefined();
      }
    },
  );
});

const someJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const { expr } = fc.letrec<{ expr: Json }>((tie) => ({
  expr: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    someJson,
    fc.record({
      $ref: fc.constantFrom('input', 'step:a', 'step:constructor', 'step:', 'nonsense', ''),
      path: fc.array(fc.constantFrom('a', '0', 'length', '__proto__', 'constructor', ''), { maxLength: 4 }),
    }) as fc.Arbitrary<Json>,
    fc
      .tuple(fc.constantFrom(...OPERATORS), tie('expr'))
      .map(([key, argument]): Json => ({ [key]: argument })),
    fc
      .tuple(fc.constantFrom(...OPERATORS), fc.array(tie('expr'), { maxLength: 4 }))
      .map(([key, list]): Json => ({ [key]: list })),
    fc.array(tie('expr'), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 5 }), tie('expr'), { maxKeys: 3 }),
  ),
}));

describe('evaluation (R1)', () => {
  it('of any expression that a plan may hold gives a value and never throws', () => {
    check(
      fc.property(expr, someJson, someJson, (written, input, output) => {
        const of = scope(input, { a: output });
        const first = evaluateExpression(written, of);
        expect(evaluateExpression(written, of)).toEqual(first);
        if (first !== undefined) JSON.stringify(first);
      }),
      1_000,
    );
  });

  it('finds the steps of any expression, each once, without a throw', () => {
    check(
      fc.property(expr, (written) => {
        const steps = stepsIn(written);
        expect(new Set(steps).size).toBe(steps.length);
      }),
    );
  });

  it('keeps its inputs as they are', () => {
    check(
      fc.property(expr, someJson, (written, input) => {
        const before = JSON.stringify([written, input]);
        evaluateExpression(written, scope(input));
        expect(JSON.stringify([written, input])).toBe(before);
      }),
    );
  });
});

describe('a reference has no value while the workflow is built, and says so', () => {
  // An author without help from types uses references as texts.
  const text = (one: unknown): string => one as string;
  const name = ref<string>('input', ['name']);
  const output = ref<{ id: string }>('step:pay').id;
  it.each<[string, () => unknown, string]>([
    ['in a text', () => `Dear ${text(name)}`, 'input.name'],
    ['in a sum of texts', () => 'Dear ' + text(name), 'input.name'],
    ['in JSON', () => JSON.stringify({ name }), 'input.name'],
    ['as a token', () => `a ${text(ref<string>('token:paid'))}`, 'paid.token'],
    ['a joined text in a text', () => `a ${text(concat('a', name))}`, 'an expression (concat, eq, and, …)'],
    ['a condition in JSON', () => JSON.stringify([eq(name, 'x')]), 'an expression (concat, eq, and, …)'],
  ])('%s', (_, use, what) => {
    expect(use).toThrow(
      expect.objectContaining({
        code: 'not-a-value',
        message: `${what} has no value while the workflow is built: join texts with concat('…', ${what}), and compare in \`when\` with eq, ne, lt, gt`,
      }),
    );
  });
  it.each<[string, () => unknown, string]>([
    ['in a sum', () => Number(text(output)) + 1, 'pay.output.id'],
    ['in a product', () => (ref('input', ['n']) as unknown as number) * 2, 'input.n'],
    ['in a comparison', () => text(ref<number>('index')) < '5', 'index'],
  ])('of a number %s', (_, use, what) => {
    const message = `${what} has no value while the workflow is built: let an agent compute with it, and compare in \`when\` with lt, gt`;
    expect(use).toThrow(expect.objectContaining({ code: 'not-a-value', message }));
  });

  it.each<[string, () => unknown]>([
    ['spread', () => ({ ...ref<Order>('input'), total: 1 })],
    [
      'in a pattern with a rest',
      () => {
        const { id, ...rest } = ref<Order>('input');
        return [id, rest];
      },
    ],
    ['by its keys', () => Object.keys(ref<Order>('input'))],
    [
      'in a loop',
      () => {
        for (const key in ref<Order>('input')) return key;
        return undefined;
      },
    ],
  ])('its fields cannot be copied: %s', (_, use) => {
    expect(use).toThrow(
      expect.objectContaining({
        code: 'not-a-value',
        message: 'input has no value while the workflow is built: give its fields one by one',
      }),
    );
  });
});
