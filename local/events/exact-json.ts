/**
 * JSON whose numbers keep their text: a 64-bit id in an event leaves the bus as it came. Pure, except for a
 * mark that each process makes.
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

/** The JSON text of a value from `parseExact`, or of one with parts of it. */
export const stringifyExact = (value: Json): string =>
  JSON.stringify(value).replaceAll(MARKED, (_, token: string) => token);

/** The value as it is without exact numbers. */
export const plain = (value: Json): Json => JSON.parse(stringifyExact(value)) as Json;
