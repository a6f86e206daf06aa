/**
 * One try to send an event to the address that a start gave.
 *
 * Owns: the request, and which answer takes the event. Does not own: when it is tried again (`handler.ts`,
 * `serve/notification-outbox.ts`), the signature (`signed-event.ts`).
 *
 * H1 The address is a caller's: it is checked like any that an agent sends to, and the connection goes to
 * what was checked (`ready/send.ts`).
 */

import { send } from '../ready/send.ts';
import { signedHeaders } from './signed-event.ts';

/** The usual timeout of webhook senders. */
const ANSWER_WITHIN_MS = 15_000;
/** The answer is not read: only its status counts. */
const MOST_BYTES = 65_536;
/** An event is given up after a day. */
export const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 5 * 60_000;

/** The pause after the try of this number, which began with 1. */
export const gapMs = (tries: number): number =>
  Math.min(FIRST_GAP_MS * 2 ** Math.min(tries - 1, 20), LONGEST_GAP_MS);

export interface Posted {
  readonly url: string;
  readonly id: string;
  readonly text: string;
  readonly key: Buffer;
  /** Epoch ms, by which the receiver judges the age of the signature. */
  readonly now: number;
  readonly allowsPrivate: boolean;
}

/**
 * `taken`: answered with 2xx. `refused`: it is never sent, as to a private address. `later` and `unanswered`:
 * try again; without an answer the receiver may be away.
 */
export interface PostResult {
  readonly outcome: 'taken' | 'later' | 'unanswered' | 'refused';
  /** A status or a code; never a part of the address. */
  readonly detail: string;
}

/** Never rejects. */
export async function post(
  { url, id, text, key, now, allowsPrivate }: Posted,
  stopping?: AbortSignal,
): Promise<PostResult> {
  const timeout = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const result = await send({
    method: 'POST',
    url: new URL(url),
    headers: signedHeaders(key, id, text, now),
    body: text,
    signal: stopping === undefined ? timeout : AbortSignal.any([timeout, stopping]),
    maxBytes: MOST_BYTES,
    allowsPrivate,
  });
  if (result.kind === 'answered') {
    const isTaken = result.status >= 200 && result.status < 300;
    return { outcome: isTaken ? 'taken' : 'later', detail: `HTTP ${result.status}` };
  }
  const isForGood = result.kind === 'not-sent' && result.isForGood === true;
  return { outcome: isForGood ? 'refused' : 'unanswered', detail: result.code };
}
