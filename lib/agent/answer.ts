/**
 * Turns the answer of an agent's code into a step's output, or returns the reason why it cannot.
 *
 * Owns: the conversion to JSON, the check against the agent's schema, the size, how a wrong answer is shown
 * to a person, and the part of progress that is kept. Does not own: what follows (`core/step/report.ts`).
 *
 * S6 even if an answer is wrong, the work is done. So no function here rejects: if a schema or a property
 * throws, that is a wrong answer, not an unknown outcome.
 */

import type { Agent } from '../core/plan/agent.ts';
import { DONE_ANYWAY, type Failure, failureOf } from '../core/values/failure.ts';
import { asJson, copyOf, type Json, type JsonLimits, keptOf, utf8Bytes } from '../core/values/json.ts';
import { Unsendable } from '../core/values/errors.ts';
import { cut, wellFormed } from '../core/values/text.ts';
import { check, jsonLimitsOf, mostValueBytes, type Place } from '../engine/schema.ts';
import { isLong, turn } from '../engine/long-values.ts';

type Answered = { readonly output: Json } | { readonly failure: Failure };

/** Repairs half a surrogate pair in an answer instead of refusing the answer. */
const anyText = (place: Place): JsonLimits => ({ ...jsonLimitsOf(place), anyText: true });

/**
 * The most bytes of a wrong answer, in UTF-8, that a person is shown. The step's record and the incident's
 * record keep them.
 */
export const MAX_ANSWER_BYTES = 4_096;

/**
 * Returns an output that fits the schema, is JSON and is not too large, or else the reason. Never rejects.
 */
export async function outputOf(agent: Agent, answer: unknown, place: Place = {}): Promise<Answered> {
  try {
    return await checked(agent, answer, place);
  } catch (error) {
    const { code, message } = failureOf(error);
    return wrong('bad-output', `it cannot be read: ${code}: ${message}`);
  }
}

async function checked(agent: Agent, answer: unknown, place: Place): Promise<Answered> {
  if (answer instanceof Unsendable) return wrong('bad-output', `it cannot be sent: ${answer.message}`);
  let fitting = await check(agent.output, answer, place);
  if ('issues' in fitting) {
    // JSON has no undefined keys: a schema that refuses such a key may accept the answer without it.
    const kept = keptOf(answer, jsonLimitsOf(place));
    if (kept !== answer) fitting = await check(agent.output, kept, place);
  }
  if ('issues' in fitting)
    return wrong('bad-output', `it does not fit the agent's schema: ${fitting.issues}`);
  const rest = isLong(fitting.value) ? turn : undefined;
  await rest?.();
  const made = asJson(fitting.value, anyText(place));
  if ('problem' in made) return wrong('bad-output', made.problem);
  // Copies, because the author's code may go on changing its answer.
  const output = copyOf(wellFormed(made.json));
  await rest?.();
  const bytes = utf8Bytes(JSON.stringify(output));
  const most = mostValueBytes(place);
  if (bytes <= most) return { output };
  const size = `it has ${bytes} bytes; at most ${most} are allowed: store it elsewhere and return a reference`;
  return wrong('output-too-large', size);
}

const wrong = (code: string, why: string): Answered => ({
  failure: failureOf({ code, message: `${DONE_ANYWAY}${why}` }),
});

const MAX_PROGRESS_CHARS = 200;
const MAX_NUMBER = 1e100;

/** Makes a token that the store can hold; undefined for NaN (`0 / 0`) and infinite numbers. */
export const progressToken = (token: unknown): string | number | undefined => {
  if (typeof token !== 'number') return cut(String(token), MAX_PROGRESS_CHARS);
  if (!(Math.abs(token) <= MAX_NUMBER)) return undefined;
  return Math.abs(token) * MAX_NUMBER < 1 ? 0 : token;
};

/** The answer as text for a person; whatever JSON cannot hold is named in its place. Never throws. */
export function answerText(answer: unknown): string {
  try {
    return cutToBytes(JSON.stringify(answer, namer()) ?? String(answer));
  } catch (error) {
    return cutToBytes(`(it cannot be shown: ${failureOf(error).message})`);
  }
}

function cutToBytes(text: string): string {
  let chars = MAX_ANSWER_BYTES;
  for (;;) {
    const short = cut(text, chars);
    const bytes = utf8Bytes(short);
    if (bytes <= MAX_ANSWER_BYTES) return short;
    chars = Math.floor((chars * MAX_ANSWER_BYTES) / bytes);
  }
}

/** Cuts the text off once it is long enough: an answer may be of any size. */
function namer(): (this: unknown, key: string, value: unknown) => unknown {
  let chars = 0;
  const above: unknown[] = [];
  return function named(key, value) {
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    const text = scalarText(value);
    chars += key.length + (typeof text === 'string' ? text.length : 1);
    if (chars > 2 * MAX_ANSWER_BYTES) return typeof text === 'string' ? text.slice(0, MAX_ANSWER_BYTES) : '…';
    if (typeof text !== 'object' || text === null) return text;
    if (above.includes(text)) return '(a circle)';
    above.push(text);
    return text;
  };
}

const scalarText = (value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' && !Number.isFinite(value)) return `(${value})`;
  return value;
};
