/**
 * Gives other work of this process its turn between two parts of the work on a long value.
 *
 * Owns: what counts as long. Does not own: the parts (`schema.ts`, `agent/answer.ts`, `api/read-request.ts`).
 */

import { hasMoreParts } from '../core/values/json-size.ts';

/** Taken when this file is loaded: a test may replace the timers later. */
const soon = setImmediate;

/** A value of fewer parts is processed at once. */
const LONG_PARTS = 2_000;

export const isLong = (value: unknown): boolean => hasMoreParts(value, LONG_PARTS);

export const turn = (): Promise<void> => new Promise((over) => soon(over));
