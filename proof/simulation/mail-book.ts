/**
 * The judges' records of messages to executions: each that was accepted, the step that takes one, and the
 * bodies by the ids.
 *
 * Owns: which step waits for a message now. Does not own: the judgement (`oracle-mail.ts`), the sends
 * (`mail.ts`).
 */

import type { PlanStep } from '../../lib/core/plan/plan.ts';
import { MAX_ROUND_INPUT_BYTES } from '../../lib/core/records/children.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Json, utf8Bytes } from '../../lib/core/values/json.ts';
import { roundAwaited } from './awaited-rounds.ts';
import { turnOf } from './oracle-turns.ts';
import type { Process } from './process.ts';

/** An accepted message. */
export interface Booked {
  readonly id: string;
  readonly name: string;
  readonly order: number;
  /** The message's recorded time. */
  readonly at: number;
  /** The true time of its write. */
  readonly trueAt: number;
  readonly by: Process;
  taken?: string;
}

/** The bytes of a body that no round has room for: the input has other fields, too. */
const LARGE = 'x'.repeat(MAX_ROUND_INPUT_BYTES - 40);

/** The mark of an id whose body is large. */
const LARGE_MARK = '-large';
export const largeId = (id: string): string => `${id}${LARGE_MARK}`;

/** The body of every message with that id. */
export const bodyOf = (id: string): Json => (id.endsWith(LARGE_MARK) ? { of: id, text: LARGE } : { of: id });

/** Whether the input of a round is too large for its record with that message, or with none. */
export const isTooLarge = (input: Json | undefined, id?: string): boolean =>
  utf8Bytes(JSON.stringify({ ...(input as object), message: id === undefined ? null : bodyOf(id) })) >
  MAX_ROUND_INPUT_BYTES;

/** A step, or a round of a step, that takes a message of this name until `overAt`. */
export interface Taking {
  readonly name: string;
  readonly message: string;
  readonly overAt: number | undefined;
}

/** Whether the step, or a round of it, waits for a message. */
export const isWaiting = (step: PlanStep, name: string, state: Snapshot): boolean =>
  roundAwaited(step, state)?.name === name || isReceiving(step, name, state);

const isReceiving = (step: PlanStep, name: string, state: Snapshot): boolean =>
  step.kind === 'receive' &&
  step.message === name &&
  turnOf(step, state) !== undefined &&
  (state.steps[step.name]?.status ?? 'ready') === 'ready';

/** The first untaken message of each name. */
export function firsts(book: readonly Booked[]): Booked[] {
  const seen = new Set<string>();
  return book.filter(({ name, taken }) => {
    if (taken !== undefined || seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}
