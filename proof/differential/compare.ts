/**
 * Gives the same random commands to two tables and compares their answers.
 *
 * Owns: the comparison. Does not own: the commands (`commands.ts`), which parts of an answer count
 * (`answers.ts`).
 */

import { isDeepStrictEqual } from 'node:util';
import { type Answer, answerOf, type Send } from './answers.ts';
import { Commands, randomOf } from './commands.ts';

export interface Difference {
  /** The position of the command in the sequence, from 0. */
  readonly at: number;
  readonly command: string;
  readonly input: object;
  readonly expected: Answer;
  readonly found: Answer;
}

/** Answers to the first commands of a seed. */
export async function* answersOf(
  send: Send,
  table: string,
  seed: number,
  count: number,
): AsyncGenerator<{ readonly command: string; readonly input: object; readonly answer: Answer }> {
  const commands = new Commands(table, randomOf(seed));
  for (let at = 0; at < count; at += 1) {
    const command = commands.next();
    const answer = await answerOf(send, command);
    yield { command: command.constructor.name, input: command.input, answer };
  }
}

/** @returns the first difference, if there is one */
export async function firstDifference(
  expected: Iterable<Answer> | AsyncIterable<Answer>,
  found: ReturnType<typeof answersOf>,
): Promise<Difference | undefined> {
  let at = 0;
  for await (const answer of expected) {
    const next = await found.next();
    if (next.done === true) return undefined;
    const { value } = next;
    if (!isDeepStrictEqual(plain(value.answer), plain(answer)))
      return { at, command: value.command, input: value.input, expected: answer, found: value.answer };
    at += 1;
  }
  return undefined;
}

/** Compares as JSON, because each answer comes from a parser of its own. */
const plain = (answer: Answer): unknown => JSON.parse(JSON.stringify(answer));
