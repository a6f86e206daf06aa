/** Finds exactly the whole numbers in a JSON text that parsing would round. */

import * as fc from 'fast-check';
import { refusedNumbers, roundedIn } from '../../../lib/core/values/whole-numbers.ts';

type Value = { readonly text: string } | string | boolean | null | readonly Value[] | Fields;
interface Fields {
  readonly [key: string]: Value;
}
const isNumber = (value: Value): value is { readonly text: string } =>
  typeof value === 'object' && value !== null && 'text' in value && Object.keys(value).length === 1;

const space = fc.constantFrom('', ' ', '\n\t');
/** Numbers, including spellings of other programs. */
const number = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    fc.bigInt({ min: 2n ** 53n - 5n, max: 2n ** 53n + 5n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('1e20', '6.02E+23', '12345678901234567.5', '9007199254740993.0', '-0', '0'),
  )
  .map((text) => ({ text }));
/** Texts that look like JSON and numbers. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('9007199254740993', '"', '\\', '":9007199254740993', '{"a":', ',', '[', '\\"'),
);
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value;

const isList = (given: Value): given is readonly Value[] => Array.isArray(given);

/** Writes the text, and independently lists the places of its rounded numbers. */
function written(given: Value, gap: string, path: readonly string[] = []): { text: string; at: string[][] } {
  if (typeof given !== 'object' || given === null) return { text: JSON.stringify(given), at: [] };
  if (isNumber(given)) {
    const whole = /^-?\d+(?:\.0+)?$/.exec(given.text);
    const exact = whole === null || BigInt(Number(given.text)) === BigInt(given.text.replace(/\.0+$/, ''));
    const isSafe = Math.abs(Number(given.text)) < 2 ** 53;
    return { text: given.text, at: whole === null || (exact && isSafe) ? [] : [[...path]] };
  }
  const parts = isList(given)
    ? given.map((item, at) => ({ key: '', ...written(item, gap, [...path, String(at)]) }))
    : Object.entries(given).map(([key, item]) => ({
        key: `${JSON.stringify(key)}${gap}:`,
        ...written(item, gap, [...path, key]),
      }));
  const inner = parts.map((part) => `${gap}${part.key}${gap}${part.text}`).join(`${gap},`);
  return { text: isList(given) ? `[${inner}${gap}]` : `{${inner}${gap}}`, at: parts.flatMap(({ at }) => at) };
}

it('are found at their places', () => {
  fc.assert(
    fc.property(value, space, (given, gap) => {
      const { text: json, at } = written(given, gap);
      expect(() => JSON.parse(json)).not.toThrow();
      expect(roundedIn(json)).toEqual(at);
    }),
    { numRuns: 1_000 },
  );
});

it.each<[string, readonly (readonly string[])[]]>([
  ['9007199254740993', [[]]],
  ['9007199254740991', []],
  ['-9007199254740991', []],
  ['9007199254740992', [[]]],
  ['-9007199254740992', [[]]],
  ['{"a":[1,{"b":18446744073709551615}],"c":9007199254740993.0}', [['a', '1', 'b'], ['c']]],
  ['{"a":"9007199254740993","9007199254740993":1}', []],
  ['[1e300, 12345678901234567.25, 1E+17]', []],
])('%s: %j', (json, paths) => {
  expect(roundedIn(json)).toEqual(paths);
});

it('in a large text with many are found in time that grows with the text alone', () => {
  const json = JSON.stringify({ items: Array.from({ length: 20_000 }, () => 'x') }).replaceAll(
    '"x"',
    '9007199254740993',
  );
  expect(roundedIn(json)).toHaveLength(20_000);
  expect(roundedIn(`{"text":${JSON.stringify('\\"'.repeat(100_000))},"n":9007199254740993}`)).toEqual([
    ['n'],
  ]);
});

it('are refused with the first place, how many more, and what to do', () => {
  const error = refusedNumbers('the body', [['input', 'id'], ['input', 'items', '0'], []]);
  expect(error).toMatchObject({
    code: 'unsafe-number',
    message:
      "the body has at 'input.id' (and 2 more) a whole number beyond ±9007199254740991, which would be rounded to another one: send it as text, in quotes",
    details: { paths: ['input.id', 'input.items.0', ''] },
  });
  expect(refusedNumbers('it', [[]]).message).toMatch(/^it has at its root a whole number/);
});
