/**
 * `received(…)`, with which an author declares that a round begins with a message.
 *
 * Owns: this function. Does not own: the options of a repeated step (`rounds.ts`), the schemas of the
 * messages (`receive.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A symbol, because a reference answers to every field name and records each read. */
const RECEIVED: unique symbol = Symbol.for('steadfast.received');

/**
 * The message that begins a round, as its `next` or its first input. In the round's input `message` is its
 * body; the other fields come from `beside`.
 * @template M the body @template B the other fields of the round's input
 */
export interface RoundReceives<M, B = undefined> {
  readonly [RECEIVED]: true;
  readonly name: string;
  readonly message: StandardSchemaV1<unknown, M>;
  readonly beside?: B;
}

/**
 * For `w.repeat`: a round begins with the next message of that name that is sent to the execution. In the
 * round's input `message` is its body. The other fields come from the third argument; without one, `last` is
 * the answer of the round before, null in the first round. Each message is taken once, in the order of
 * acceptance.
 * @param message any Standard Schema that the body must fit
 * @example
 * w.repeat('moves', applyMove, { message: { from: 'e2', to: 'e4' }, last: null }, {
 *   next: received('move', z.object({ from: z.string(), to: z.string() })),
 *   until: (last) => eq(last.state, 'over'),
 *   maxRounds: 200,
 *   within: '2d',
 * });
 */
export function received<M>(name: string, message: StandardSchemaV1<unknown, M>): RoundReceives<M>;
export function received<M, const B>(
  name: string,
  message: StandardSchemaV1<unknown, M>,
  beside: B,
): RoundReceives<M, B>;
export function received<M, B>(
  name: string,
  message: StandardSchemaV1<unknown, M>,
  beside?: B,
): RoundReceives<M, B> {
  return { [RECEIVED]: true, name, message, ...(beside === undefined ? {} : { beside }) };
}

export const isReceived = (value: unknown): value is RoundReceives<unknown, unknown> =>
  (Object(value) as { [RECEIVED]?: unknown })[RECEIVED] === true;
