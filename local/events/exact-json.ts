/**
 * Owns: JSON whose numbers keep their text: an event's 64-bit id leaves the bus as it came in. Pure, but for
 * a mark that is made again in each process.
 */
import { randomUUID } from 'node:crypto';
import type { Json } from '../template/json.ts';

/** Before the text of a number that `JSON.stringify` would write otherwise. */
const MARK = `number-${randomUUID()}:`;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** A value in which such numbers are marked texts. @throws SyntaxError */
export function parseExact(text: string): Json {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked) as Json;
}

/** The text of what `parseExact` made, and of what is made of parts of it. */
export const stringifyExact = (value: Json): string =>
  JSON.stringify(value).replaceAll(MARKED, (_, token: string) => token);

/** The value as a reader sees it who parses numbers as usual. */
export const plain = (value: Json): Json => JSON.parse(stringifyExact(value)) as Json;
