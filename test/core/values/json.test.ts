/** JSON values: limits, sizes, canonical form, and refused values of other types. */

import { isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import {
  canonicalJson,
  JSON_LIMITS,
  type Json,
  jsonProblem,
  asJson,
  FORBIDDEN_KEY,
  isJsonObject,
  isPlainObject,
  utf8Bytes,
} from '../../../lib/core/values/json.ts';
import { wellFormed } from '../../../lib/core/values/text.ts';
import { check } from '../check.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** The same value with its keys in another order. */
function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, item]) => [key, shuffled(item)]));
}

const nested = (depth: number): Json => {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const plain = (value: Json): unknown => JSON.parse(JSON.stringify(value));
const list = (length: number): Json => Array.from({ length }, () => 0);

describe('canonical JSON', () => {
  it('is the same text for the same value, whatever the order of its keys', () => {
    check(fc.property(json, (value) => canonicalJson(value) === canonicalJson(shuffled(value))));
  });

  it('is JSON of the same value', () => {
    check(
      fc.property(json, (value) => {
        expect(JSON.stringify(JSON.parse(canonicalJson(value)))).toBe(
          JSON.stringify(JSON.parse(canonicalJson(shuffled(value)))),
        );
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is another text for another value', () => {
    check(
      fc.property(json, json, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(plain(a), plain(b)));
      }),
    );
  });

  it.each<[Json, string]>([
    [{ b: 1, a: [2, { d: null, c: 'x' }] }, '{"a":[2,{"c":"x","d":null}],"b":1}'],
    [{ 10: 'a', 9: 'b', x: 'c' }, '{"10":"a","9":"b","x":"c"}'],
    ['"\u2028', '"\\"\u2028"'],
    [-0, '0'],
    [[], '[]'],
    [{}, '{}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
});

describe('a foreign value', () => {
  it('that is JSON has no problem, and once parsed neither', () => {
    check(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const forbidden = /"(?:__proto__|constructor|prototype)"/.test(text);
        if (!forbidden) expect(jsonProblem(JSON.parse(text))).toBeUndefined();
      }),
    );
  });

  it('of any kind is judged without a throw', () => {
    check(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          const problem = jsonProblem(value);
          expect(problem === undefined || problem.length > 0).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['a nested __proto__', '{"a":[{"b":{"__proto__":1}}]}'],
    ['an escaped __proto__', '{"\\u005f_proto__":1}'],
  ])('with the key %s is refused', (_, text) => {
    expect(jsonProblem(JSON.parse(text))).toMatch(/^the key ".*" is not allowed$/);
  });

  it.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /the value is undefined/],
    ['a function', { a: () => 1 }, /\/a is function/],
    ['a symbol', [Symbol('x')], /\/0 is symbol/],
    ['a bigint', { a: { b: 1n } }, /\/a\/b is bigint/],
    ['NaN', { a: Number.NaN }, /\/a is not a finite number/],
    ['Infinity', [Number.POSITIVE_INFINITY], /\/0 is not a finite number/],
    ['a date', { at: new Date(0) }, /\/at is not plain JSON/],
    ['a map', new Map(), /the value is not plain JSON/],
    ['an object that says itself what it is', { a: { toJSON: () => 1 } }, /\/a has a toJSON of its own/],
    ['an instance', { a: new Error('x') }, /\/a is not plain JSON/],
  ])('with %s is refused, saying where', (_, value, problem) => {
    expect(jsonProblem(value)).toMatch(problem);
  });

  it('may be nested as deep as the limit and no deeper', () => {
    expect(jsonProblem(nested(JSON_LIMITS.depth))).toBeUndefined();
    expect(jsonProblem(nested(JSON_LIMITS.depth + 1))).toBe('nested deeper than 32 levels');
    expect(jsonProblem(nested(200_000))).toBe('nested deeper than 32 levels');
  });

  it('may have as many values as the limit and no more', () => {
    expect(jsonProblem(list(JSON_LIMITS.nodes - 1))).toBeUndefined();
    expect(jsonProblem(list(JSON_LIMITS.nodes))).toBe('more than 60000 values');
  });

  it('may have as many different keys as the limit and no more', () => {
    const limits = { ...JSON_LIMITS, keys: 3 };
    expect(
      jsonProblem(
        [
          { a: 1, b: 2 },
          { b: 1, c: 1 },
        ],
        limits,
      ),
    ).toBeUndefined();
    expect(jsonProblem([{ a: 1, b: 2 }, { c: { d: 1 } }], limits)).toBe('more than 3 different keys');
  });

  it('that contains itself ends at the limit', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(jsonProblem(loop)).toBe('/self refers back to the value: JSON cannot hold a cycle');
  });
});

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
  // A long text is encoded.
  expect(utf8Bytes(text.repeat(20_000))).toBe(20_000 * bytes);
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
  const foreign = '[{}, { a: 1 }, new Date(0), new Map(), Object.create({}), new (class {})()]';
  expect((runInNewContext(foreign) as object[]).map(isPlainObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

it('keys are sorted at every level, with nothing between', () => {
  expect(canonicalJson({ b: [{ d: 1, c: true }], a: null })).toBe('{"a":null,"b":[{"c":true,"d":1}]}');
  expect(canonicalJson([1, [2, 'x']])).toBe('[1,[2,"x"]]');
});

it('the only forbidden inherited key is the one that sets a prototype', () => {
  expect(FORBIDDEN_KEY).toBe('__proto__');
  for (const key of ['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']) {
    const value = { a: { [key]: { [key]: 1 } } };
    expect(jsonProblem(value)).toBeUndefined();
    expect(JSON.parse(canonicalJson(value))).toEqual(value);
    expect(wellFormed(value)).toBe(value);
  }
});

describe('of a value of JavaScript', () => {
  it('what JSON leaves out is left out, and a list has null in its place', () => {
    check(
      fc.property(
        fc.letrec((tie) => ({
          value: fc.oneof(
            { maxDepth: 4 },
            fc.constantFrom(undefined, () => 1, Symbol('s'), null, true, 0, 'x'),
            fc.array(tie('value'), { maxLength: 4 }),
            fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('value')),
          ),
        })).value,
        (value) => {
          fc.pre(typeof value !== 'function' && typeof value !== 'symbol');
          expect(asJson(value)).toEqual({ json: JSON.parse(JSON.stringify(value) ?? 'null') });
        },
      ),
    );
  });

  it('what JSON would make something else of is a problem', () => {
    const loop: { a: unknown[] } = { a: [] };
    loop.a.push(loop);
    const problems: [unknown, string][] = [
      [{ at: new Date(0), b: undefined }, '/at is not plain JSON but of class Date: give its toISOString()'],
      [[undefined, Number.NaN], '/1 is not a finite number'],
      [{ n: 1n }, '/n is bigint, which JSON cannot hold'],
      [new Map(), 'the value is not plain JSON but of class Map: give Object.fromEntries(…) of it'],
      [loop, '/a/0 refers back to the value: JSON cannot hold a cycle'],
      [
        { a: { b: undefined, toJSON: () => 1 } },
        '/a has a toJSON of its own: give what that returns in its place',
      ],
      [
        Object.assign([1], { toJSON: () => 1 }),
        'the value has a toJSON of its own: give what that returns in its place',
      ],
      [() => 1, 'the value is function, which JSON cannot hold: give what it returns'],
    ];
    for (const [value, problem] of problems) expect(asJson(value)).toEqual({ problem });
  });

  it('a key toJSON that is data stays', () => {
    expect(asJson({ toJSON: 'x', b: undefined })).toEqual({ json: { toJSON: 'x' } });
  });

  it('that has nothing to leave out no copy is made', () => {
    const value = { a: [1, { b: 'x' }] };
    expect(asJson(value)).toEqual({ json: value });
    expect((asJson(value) as { json: unknown }).json).toBe(value);
  });
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

it('checks a list of numbers without a name for each', () => {
  const refused = (): never => {
    throw new Error('its places were made texts');
  };
  expect(jsonProblem(new Proxy([1, 2, 3], { ownKeys: refused }))).toBeUndefined();
});
