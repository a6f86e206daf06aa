/** No text that is shortened or stored contains half of a surrogate pair. */

import * as fc from 'fast-check';
import type { Json } from '../../../lib/core/values/json.ts';
import { jsonProblem } from '../../../lib/core/values/json.ts';
import { cut, wellFormed } from '../../../lib/core/values/text.ts';

/** Any UTF-16 units, including lone surrogates. */
const units = fc
  .array(fc.oneof(fc.constantFrom(0xd83d, 0xde00, 0xd800, 0xdfff, 0x61), fc.nat(0xffff)), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes));
const json = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    units,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(units, tie('json'), { maxKeys: 3 }),
  ),
})).json;
const isUnicode = (value: Json): boolean => !/\\ud[89a-f]/.test(JSON.stringify(value).replaceAll('\\\\', ''));

it('cut is Unicode, not too long, and the beginning of it', () => {
  fc.assert(
    fc.property(units, fc.nat(14), (text, chars) => {
      const found = cut(text, chars);
      expect(found.isWellFormed()).toBe(true);
      expect(found.length).toBeLessThanOrEqual(chars);
      expect(text.toWellFormed().startsWith(found)).toBe(true);
      expect(found.length).toBeGreaterThanOrEqual(Math.min(text.length, chars) - 1);
    }),
  );
});

it('cut keeps a whole character, and drops the half of one', () => {
  expect(cut('ab😀', 4)).toBe('ab😀');
  expect(cut('ab😀', 3)).toBe('ab');
  expect(cut('ab\ud83d', 9)).toBe('ab\ufffd');
  expect(cut('\ude00x', 9)).toBe('\ufffdx');
});

it('made well-formed is Unicode in every text and key, and the very value where it was', () => {
  fc.assert(
    fc.property(json, (value) => {
      const found = wellFormed(value);
      expect(isUnicode(found)).toBe(true);
      if (isUnicode(value)) expect(found).toBe(value);
    }),
  );
  expect(wellFormed({ '\ud800': ['\udc00', { a: 'ok' }] })).toEqual({ '\ufffd': ['\ufffd', { a: 'ok' }] });
});

it('is refused where it comes in, unless any is wanted', () => {
  fc.assert(
    fc.property(json, (value) => {
      const problem = jsonProblem(value);
      if (problem === undefined) expect(isUnicode(value)).toBe(true);
      else if (!problem.includes('not allowed')) expect(isUnicode(value)).toBe(false);
      expect(problem?.isWellFormed() ?? true).toBe(true);
    }),
  );
  expect(jsonProblem({ a: { b: 'x\ud83d' } })).toBe(
    '/a/b contains half a character (an unpaired surrogate), which is not valid Unicode',
  );
  expect(jsonProblem({ a: { '\ud83d': 1 } })).toBe(
    'a key of /a contains half a character (an unpaired surrogate), which is not valid Unicode',
  );
  expect(jsonProblem('\ud83d', { depth: 1, nodes: 1, anyText: true })).toBeUndefined();
});
