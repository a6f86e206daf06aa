/** Counting the values and different keys of a JSON text before it is parsed. */

import * as fc from 'fast-check';
import { hasMoreKeys, hasMoreValues } from '../../../lib/core/values/json-text.ts';
import type { Json } from '../../../lib/core/values/json.ts';

const count = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((sum, one) => sum + count(one), 0)
    : 1;

it('counts what is parsed, however it is written', () => {
  const written = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'));
  fc.assert(
    fc.property(written, ([value, space]) => {
      const [text, values] = [JSON.stringify(value, undefined, space), count(value as Json)];
      expect([hasMoreValues(text, values - 1), hasMoreValues(text, values)]).toEqual([true, false]);
    }),
    { numRuns: 2_000 },
  );
});

/** The different keys of all objects in it. */
const keysIn = (value: unknown): Set<string> =>
  typeof value === 'object' && value !== null
    ? new Set([
        ...(Array.isArray(value) ? [] : Object.keys(value)),
        ...Object.values(value).flatMap((one) => [...keysIn(one)]),
      ])
    : new Set();

it('counts a key once, in however many objects it is', () => {
  const written = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'));
  fc.assert(
    fc.property(written, ([value, space]) => {
      const text = JSON.stringify([value, value], undefined, space);
      const { size } = keysIn(value);
      expect([size > 0 && hasMoreKeys(text, size - 1), hasMoreKeys(text, size)]).toEqual([size > 0, false]);
    }),
    { numRuns: 2_000 },
  );
  expect(hasMoreKeys('{"a":"b\\":{","c":["d","e"]}', 2)).toBe(false);
});

it('takes no comma and no bracket of a string for one of its own', () => {
  expect(hasMoreValues('["\\",[{\\\\","[,"]', 3)).toBe(false);
});
