/**
 * Parses and writes JSON without changing any number's text, so that a 64-bit id passes the bus unchanged.
 * Pure, except for a mark that each process makes.
 */
import { randomUUID } from 'node:crypto';
import type { Json } from '../template/json.ts';

/** Precedes the text of a number that `JSON.stringify` would write differently. */
const MARK = `number-${randomUUID()}:`;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Parses a text into a value in which such numbers are marked texts. @throws SyntaxError */
export function parseExact(text: string): Json {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked) as Json;
}

/** The JSON text of a value that contains values from `parseExact`. */
export const stringifyExact = (value: Json): string =>
  JSON.stringify(value).replaceAll(MARKED, (_, token: string) => token);

/** The value with its marked texts replaced by JavaScript numbers. */
export const plain = (value: Json): Json => JSON.parse(stringifyExact(value)) as Json;
