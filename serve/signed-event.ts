/**
 * Checks the URL and the secret of the receiver of all events (`--events-to`).
 *
 * Does not own: the form of an event (`lib/notifications`), when it is sent (`outbox.ts`).
 */

import { SHORTEST_SECRET, signingKey } from '../lib/notifications/signed-event.ts';

export interface EventTarget {
  readonly url: string;
  readonly secret: Buffer;
}

/**
 * @param secret `whsec_` and the key in base64, or the key as text
 * @throws Error that says what is wrong and what is allowed
 */
export function eventTarget(url: string, secret: string | undefined): EventTarget {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new Error('--events-to takes a URL that begins with https:// or http://');
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error(
      '--events-to takes no name or password in its URL: the receiver knows events by their signature',
    );
  return { url, secret: eventSecret('--events-to', secret) };
}

/** @param what the option that needs it @throws Error with the fault and what is allowed */
export function eventSecret(what: string, secret = ''): Buffer {
  const key = signingKey(secret);
  if (typeof key !== 'string') return key;
  if (secret.trim().startsWith('whsec_') && !key.startsWith('has'))
    throw new Error(`STEADFAST_EVENTS_SECRET ${key}`);
  throw new Error(
    `${what} needs STEADFAST_EVENTS_SECRET, by which each event is signed: ${SHORTEST_SECRET} bytes or more, such as whsec_$(openssl rand -base64 32)`,
  );
}
