/**
 * One try to send an event to the address that a start gave.
 *
 * Owns: the request, and which answer takes the event. Does not own: when it is tried again (`tries.ts`),
 * the signature (`signed-event.ts`).
 *
 * H1 The address is a caller's: it is checked like any that an agent sends to, and the connection goes to the
 * checked address (`ready/send.ts`).
 */

import type { Reach } from '../ready/addresses.ts';
import { send } from '../ready/send.ts';
import { retryAfterIn } from '../remote/retry-after.ts';
import { signedHeaders } from './signed-event.ts';

/** The usual timeout of webhook senders. */
const ANSWER_WITHIN_MS = 15_000;
/** The answer is not read: only its status counts. */
const MOST_BYTES = 65_536;
/** The receiver wants no more events, by Standard Webhooks. */
const GONE = 410;

export interface Posted {
  readonly url: string;
  readonly id: string;
  readonly text: string;
  readonly key: Buffer;
  /** Epoch ms, by which the receiver judges the age of the signature. */
  readonly now: number;
  readonly reach: Reach;
}

/**
 * `taken`: answered with 2xx. `refused`: never try again, as after 410, or to a private address. `later` and
 * `unanswered`: try again; without an answer the receiver may be away.
 */
export interface PostResult {
  readonly outcome: 'taken' | 'later' | 'unanswered' | 'refused';
  /** A status or a code; never a part of the address. */
  readonly detail: string;
  /** The pause that the receiver asks for. */
  readonly wishMs?: number;
}

/** Never rejects. */
export async function post(
  { url, id, text, key, now, reach }: Posted,
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
    reach,
  });
  if (result.kind === 'answered') {
    const { status, headers } = result;
    const detail = `HTTP ${status}`;
    if (status >= 200 && status < 300) return { outcome: 'taken', detail };
    if (status === GONE) return { outcome: 'refused', detail };
    const wishMs = (retryAfterIn(headers) ?? 0) * 1_000;
    return { outcome: 'later', detail, wishMs };
  }
  const isForGood = result.kind === 'not-sent' && result.isForGood === true;
  return { outcome: isForGood ? 'refused' : 'unanswered', detail: result.code };
}
