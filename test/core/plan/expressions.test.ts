/**
 * Expressions whose values are missing or cannot be compared, and finding the references in an expression
 * (R1, R3).
 */

import type { Json } from '../../../lib/core/values/json.ts';
import { evaluateExpression, type Expr, OPERATORS, type Scope } from '../../../lib/core/plan/refs.ts';
import { sourcesIn, stepsIn } from '../../../lib/core/plan/refs-in.ts';

const scope: Scope = {
  input: { a: { b: 'x' }, list: [7], text: 'ab' },
  output: (step) => `out-${step}`,
  token: (step) => `token-${step}`,
  item: { n: 1 },
  index: 4,
};
const valueOf = (expr: Expr, of: Scope = scope): Json | undefined => evaluateExpression(expr, of);
const quoted = (value: Json): Json => ({ $literal: value });

it.each<[string, Expr, Json | undefined]>([
  ['the input', 'input', scope.input],
  ['an item', 'item', { n: 1 }],
  ['its index', 'index', 4],
  ['a step', 'step:a', 'out-a'],
  ['a step without a name', 'step', 'out-'],
  ['a token', 'token:a', 'token-a'],
  ['nothing known', 'other:a', undefined],
  ['nothing', '', undefined],
  ['no text', 5, undefined],
])('a reference to %s', (_, $ref, value) => {
  expect(valueOf({ $ref, path: [] })).toEqual(value);
});

it('a token, an item or an index that is not in the scope has no value', () => {
  const bare: Scope = { input: {}, output: () => undefined };
  for (const $ref of ['token:a', 'item', 'index']) expect(valueOf({ $ref, path: [] }, bare)).toBeUndefined();
});

it.each<[Json, Json | undefined]>([
  [['a', 'b'], 'x'],
  [['list', '0'], 7],
  [['list', 0], undefined],
  [['list', '1'], undefined],
  [['text', '0'], undefined],
  ['a', scope.input],
  [null, scope.input],
])('the path %j leads to %j', (path, value) => {
  expect(valueOf({ $ref: 'input', path })).toEqual(value);
});

it.each<[Expr, Json | undefined]>([
  [{ $or: [false, false] }, false],
  [{ $or: [1, 'true'] }, false],
  [{ $or: [false, true] }, true],
  [{ $or: true }, false],
  [{ $and: [true, 1] }, false],
  [{ $and: [true, true] }, true],
  [{ $and: 'x' }, true],
  [{ $not: true }, false],
  [{ $not: false }, true],
  [{ $not: 'true' }, true],
  [{ $exists: null }, true],
  [{ $exists: { $ref: 'nothing' } }, false],
  [{ $concat: ['a', 1, true, null, { b: 1 }, 'c'] }, 'a1c'],
  [{ $concat: 'a' }, ''],
  [{ $length: ['a', 'b'] }, 2],
  [{ $length: 'ab€' }, 3],
  [{ $length: { $ref: 'input', path: ['list'] } }, 1],
  [{ $length: { a: 1 } }, undefined],
  [{ $length: null }, undefined],
  [{ $length: { $ref: 'nothing' } }, undefined],
  [
    {
      $object: [
        ['$set', { $ref: 'input', path: ['text'] }],
        ['b', { $ref: 'nothing' }],
        ['c', 1],
      ],
    },
    { $set: 'ab', c: 1 },
  ],
  [{ $object: 'a' }, {}],
  [{ $object: ['a', [1, 2], ['b']] }, { b: null }],
  [{ $nothing: [1, 1] }, false],
  [{ $literal: { $ref: 'input' } }, { $ref: 'input' }],
])('%j is %j', (expr, value) => {
  expect(valueOf(expr)).toEqual(value);
});

it.each<[Json, Json, boolean, boolean]>([
  [4, 5, true, false],
  [5, 5, false, false],
  [6, 5, false, true],
  ['a', 'b', true, false],
  ['b', 'b', false, false],
  ['c', 'b', false, true],
  [false, true, false, false],
  [true, false, false, false],
  [null, 1, false, false],
  [1, null, false, false],
  ['1', 2, false, false],
  [3, '2', false, false],
])('%j before and after %j', (left, right, before, after) => {
  expect([valueOf({ $lt: [left, right] }), valueOf({ $gt: [left, right] })]).toEqual([before, after]);
  // `$lte` is the opposite of `$gt`, and `$gte` of `$lt`, if the values have an order.
  const isOrdered = typeof left === typeof right && typeof left !== 'boolean';
  const atMostAtLeast = [valueOf({ $lte: [left, right] }), valueOf({ $gte: [left, right] })];
  expect(atMostAtLeast).toEqual([isOrdered && !after, isOrdered && !before]);
});

it.each<[Json, Json, boolean]>([
  [1, 1, true],
  ['1', 1, false],
  [null, null, true],
  [null, {}, false],
  [{}, null, false],
  [5, {}, false],
  [{}, 5, false],
  ['ab', { 0: 'a', 1: 'b' }, false],
  [{ 0: 'a', 1: 'b' }, 'ab', false],
  [{}, {}, true],
  [[], {}, false],
  [{}, [], false],
  [[1, 2], [1, 2], true],
  [[1, 2], [2, 1], false],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: { b: [1] } }, { a: { b: [1] } }, true],
])('%j and %j are the same: %s', (left, right, equal) => {
  const pair = [quoted(left), quoted(right)];
  expect([valueOf({ $eq: pair }), valueOf({ $ne: pair })]).toEqual([equal, !equal]);
  expect(valueOf({ $in: [quoted(left), [quoted(right)]] })).toBe(equal);
  expect(valueOf({ $in: [quoted(left), quoted(right)] })).toBe(false);
});

it('what is read is found once, sorted, and not within literals', () => {
  const read = {
    z: { $ref: 'step:z', path: [] },
    a: [
      { $ref: 'step:b', path: [] },
      { $ref: 'input', path: [] },
      { $ref: 'step:b', path: ['x'] },
    ],
    c: { $literal: { $ref: 'step:no' } },
    d: { $eq: [{ $ref: 'token:c' }, { $ref: 5 }] },
  };
  expect(sourcesIn(read)).toEqual(['input', 'step:b', 'step:z', 'token:c']);
  expect(sourcesIn(['m', 'c', 'z', 'a', 'q'].map((name) => ({ $ref: name })))).toEqual([
    'a',
    'c',
    'm',
    'q',
    'z',
  ]);
  expect(stepsIn(read)).toEqual(['b', 'z']);
  expect(stepsIn(null)).toEqual([]);
  expect(stepsIn('step:a')).toEqual([]);
});

it.each<[Json, Json, boolean]>([
  ['order-7', 'order-*', true],
  ['order-', 'order-*', true],
  ['Order-7', 'order-*', false],
  ['a.log', '*.log', true],
  ['a.log.gz', '*.log', false],
  ['2026-11-eu', '*-*-eu', true],
  ['2026-eu', '*-*-eu', false],
  ['abcabc', 'a*b*c', true],
  ['ab', 'a*b*b', false],
  ['aXc', 'a*X*X*c', false],
  ['', '*', true],
  ['', '', true],
  ['a', '', false],
  ['aba', 'aba*aba', false],
  ['a*b', String.raw`a\*b`, true],
  ['aXb', String.raw`a\*b`, false],
  ['.x', '.*x', true],
  [7, '*', false],
  [null, '*', false],
])('%j matches %j: %s', (text, pattern, expected) => {
  expect(valueOf({ $matches: [text, pattern] })).toBe(expected);
});

it('a pattern of many pieces takes no longer than a search for each', () => {
  const text = 'a'.repeat(100_000);
  expect(valueOf({ $matches: [text, `${'a*'.repeat(20_000)}b`] })).toBe(false);
  expect(valueOf({ $matches: [text, `${'a*'.repeat(20_000)}a`] })).toBe(true);
});

it('these are the operators', () => {
  expect([...OPERATORS].toSorted()).toEqual([
    '$and',
    '$concat',
    '$eq',
    '$exists',
    '$gt',
    '$gte',
    '$in',
    '$length',
    '$literal',
    '$lt',
    '$lte',
    '$matches',
    '$ne',
    '$not',
    '$object',
    '$or',
    '$orElse',
    '$ref',
  ]);
});
