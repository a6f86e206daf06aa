/**
 * Whole numbers of a JSON text that a JavaScript number cannot represent.
 *
 * Owns: finding them in the text before it is parsed, because afterwards it is impossible. Does not own:
 * which of them matter.
 *
 * Beyond ±(2^53 - 1) the next whole number may not exist as a double, so a 64-bit id would silently become
 * another. Numbers with an exponent are measures, and fractions are always rounded: both are ignored.
 */

import { refuse, type SteadfastError } from './errors.ts';
import { endOfString } from './json-text.ts';

/** Keys, and list indexes, from the root. */
export type JsonPath = readonly string[];

/** The largest safe integer has 16 digits: a text without 16 digits in a row needs no scan. */
const SUSPICIOUS = /\d{16}/;
const WHOLE = /^-?\d+(\.0+)?$/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const COLON_NEXT = /\s*:/y;
const MAX_SHOWN = 20;
const MAX_PATH_CHARS = 100;

/** An object or a list that the scan has entered and not left. */
interface Open {
  key: string;
  /** The current index in a list. */
  index: number | undefined;
}

/** The places of such numbers in the text, in order. @param text JSON that can be parsed */
export function roundedIn(text: string): JsonPath[] {
  if (!SUSPICIOUS.test(text)) return [];
  const found: JsonPath[] = [];
  const open: Open[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? '';
    const inside = open.at(-1);
    if (char === '"') {
      const end = endOfString(text, at);
      COLON_NEXT.lastIndex = end;
      if (inside !== undefined && COLON_NEXT.test(text))
        inside.key = JSON.parse(text.slice(at, end)) as string;
      at = end;
      continue;
    }
    const token = char === '-' || (char >= '0' && char <= '9') ? numberAt(text, at) : undefined;
    if (token !== undefined) {
      if (isRounded(token))
        found.push(open.map(({ key, index }) => (index === undefined ? key : String(index))));
      at += token.length;
      continue;
    }
    if (char === '{') open.push({ key: '', index: undefined });
    else if (char === '[') open.push({ key: '', index: 0 });
    else if (char === '}' || char === ']') open.pop();
    else if (char === ',' && inside?.index !== undefined) inside.index += 1;
    at += 1;
  }
  return found;
}

function numberAt(text: string, at: number): string | undefined {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0];
}

const isRounded = (token: string): boolean => WHOLE.test(token) && !Number.isSafeInteger(Number(token));

/** The message to the sender. @param what 'the body' @param paths at least one */
export function refusedNumbers(what: string, paths: readonly JsonPath[]): SteadfastError {
  // A body may have 100,000 of them.
  const shown = paths.slice(0, MAX_SHOWN).map((path) => path.join('.').slice(0, MAX_PATH_CHARS));
  const [first = ''] = shown;
  const more = paths.length <= 1 ? '' : ` (and ${paths.length - 1} more)`;
  return refuse(
    'unsafe-number',
    `${what} has at ${first === '' ? 'its root' : `'${first.toWellFormed()}'`}${more} a whole number beyond ±9007199254740991, ` +
      'which would be rounded to another one: send it as text, in quotes',
    { paths: shown },
  );
}
