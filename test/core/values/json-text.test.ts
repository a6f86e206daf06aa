/** The number of values in a JSON text is known before it is parsed. */

import * as fc from 'fast-check';
import { hasMoreValues } from '../../../lib/core/values/json.ts';
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

it('takes no comma and no bracket of a string for one of its own', () => {
  expect(hasMoreValues('["\\",[{\\\\","[,"]', 3)).toBe(false);
});
