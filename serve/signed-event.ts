/**
 * An event in the form that its receiver gets: the text, and the headers that prove the sender.
 *
 * Owns: the form of Standard Webhooks (github.com/standard-webhooks/standard-webhooks, spec): id, time and
 * signature. Does not own: when it is sent (`event-outbox.ts`), the content of an event (docs/EVENTS.md).
 */

import { createHash, createHmac } from 'node:crypto';
import type { ServerEvent } from './announcer.ts';

export interface EventTarget {
  readonly url: string;
  readonly secret: Buffer;
}

const ENCODED = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** The shortest key in bytes, by the specification. */
const SHORTEST_SECRET = 24;

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
  const given = secret?.trim() ?? '';
  const encoded = ENCODED.exec(given)?.[1];
  if (encoded === undefined && given.startsWith('whsec_'))
    throw new Error('STEADFAST_EVENTS_SECRET begins with whsec_, and what follows is not base64');
  const key = encoded === undefined ? Buffer.from(given) : Buffer.from(encoded, 'base64');
  if (key.length < SHORTEST_SECRET)
    throw new Error(
      `--events-to needs STEADFAST_EVENTS_SECRET, by which each event is signed: ${SHORTEST_SECRET} bytes or more, such as whsec_$(openssl rand -base64 32)`,
    );
  return { url, secret: key };
}

/** An event in the form of EventBridge, as on AWS's bus. */
export const eventText = ({ source, detailType, at, detail }: ServerEvent): string =>
  JSON.stringify({ source, 'detail-type': detailType, time: new Date(at).toISOString(), detail });

/**
 * The id of an event; a repeated announcement has the same one: docs/EVENTS.md names the fields that it
 * consists of.
 */
export function idOf({ detailType, at, detail }: ServerEvent): string {
  const { executionId, incident, step, change, agent, workflow } = detail;
  const what = [detailType, at, executionId, incident, step, change, agent, workflow];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 32);
}

export function signedHeaders({ secret }: EventTarget, id: string, text: string, now: number) {
  const seconds = Math.floor(now / 1_000);
  const signature = createHmac('sha256', secret).update(`${id}.${seconds}.${text}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}
