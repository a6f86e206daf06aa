/** JSON at its very limits: where a bad value is, how deep, how many, how many bytes. */

import {
  canonicalJson,
  FORBIDDEN_KEYS,
  isJsonObject,
  isPlainObject,
  jsonProblem,
  utf8Bytes,
} from '../../../lib/core/records/json.ts';

it.each([
  ['', 0],
  ['a', 1],
  ['\u007f', 1],
  ['\u0080', 2],
  ['\u07ff', 2],
  ['\u0800', 3],
  ['\uffff', 3],
  ['\u{10000}', 4],
  ['a\u00e9\u20ac\u{1f600}', 10],
])('%j has %s bytes in UTF-8', (text, bytes) => {
  expect(utf8Bytes(text)).toBe(bytes);
  expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
});

it('an object is neither a list nor null', () => {
  expect([{}, [], null, 'a', 1, undefined].map(isJsonObject)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

it('a plain object has no class', () => {
  expect(
    [{}, Object.create(null) as object, new Date(0), Object.create({}) as object].map(isPlainObject),
  ).toEqual([true, true, false, false]);
});

it('keys are sorted at every level, with nothing between', () => {
  expect(canonicalJson({ b: [{ d: 1, c: true }], a: null })).toBe('{"a":null,"b":[{"c":true,"d":1}]}');
  expect(canonicalJson([1, [2, 'x']])).toBe('[1,[2,"x"]]');
});

it('what reaches a prototype is forbidden', () => {
  expect([...FORBIDDEN_KEYS]).toEqual(['__proto__', 'constructor', 'prototype']);
  expect(jsonProblem({ a: { constructor: 1 } })).toBe('the key "constructor" is not allowed');
});

describe('limits', () => {
  const limits = { depth: 1, nodes: 3 };
  it('count the values of all levels, and the root', () => {
    expect(jsonProblem([1, 2], limits)).toBeUndefined();
    expect(jsonProblem([1, 2, 3], limits)).toBe('more than 3 values');
    expect(jsonProblem(1, { depth: 0, nodes: 1 })).toBeUndefined();
  });
  it('count what is within what', () => {
    expect(jsonProblem({ a: 1 }, limits)).toBeUndefined();
    expect(jsonProblem({ a: {} }, limits)).toBeUndefined();
    expect(jsonProblem({ a: [1] }, limits)).toBe('nested deeper than 1 levels');
  });
});

it.each<[string, unknown]>([
  ['the value is undefined, which JSON cannot hold', undefined],
  ['/a/1 is undefined, which JSON cannot hold', { a: [1, undefined] }],
  ['/a is function, which JSON cannot hold', { a: () => 1 }],
  ['/0 is symbol, which JSON cannot hold', [Symbol('x')]],
  ['/0 is bigint, which JSON cannot hold', [1n]],
  ['the value is not a finite number', Number.NaN],
  ['/a/b is not a finite number', { a: { b: Number.NEGATIVE_INFINITY } }],
  ['the value is not plain JSON', new Map()],
  ['/a is not plain JSON', { a: new Date(0) }],
])('%s', (problem, value) => {
  expect(jsonProblem(value)).toBe(problem);
});
