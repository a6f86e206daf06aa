/**
 * How authors write that a round begins with a message.
 *
 * Owns: this word. Does not own: the options of a repeated step (`rounds.ts`), the schemas of the messages
 * (`receive.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A symbol: a reference has every field, and notes each that is read. */
const RECEIVED: unique symbol = Symbol.for('steadfast.received');

/**
 * The message that a round begins with: its `next`, or its first input. The round's input has the body as
 * `message`, and beside it what `beside` says.
 * @template M the body @template B what the round is given beside it
 */
export interface RoundReceives<M, B = undefined> {
  readonly [RECEIVED]: true;
  readonly name: string;
  readonly message: StandardSchemaV1<unknown, M>;
  readonly beside?: B;
}

/**
 * For `w.repeat`: a round begins with the next message of that name that is sent to the execution. The
 * round's input has its body as `message`, and beside it the answer of the round before as `last` (null in
 * the first round), or what the third argument says. Each message is taken once, in the order of acceptance.
 * @param message any Standard Schema: what the body of such a message must fit
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
