/**
 * An event in the form that its receiver gets: the text, and the headers that prove the sender.
 *
 * Owns: the form of Standard Webhooks (github.com/standard-webhooks/standard-webhooks, spec): id, time and
 * signature, and what a key may be. Does not own: when it is sent (`serve/outbox.ts`, `handler.ts`),
 * the content of an event (docs/EVENTS.md).
 */

import { createHash, createHmac } from 'node:crypto';

export interface SentEvent {
  readonly source: string;
  readonly detailType: string;
  /** Epoch ms. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

const ENCODED = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** The shortest key in bytes, by the specification. */
export const SHORTEST_SECRET = 24;

/**
 * @param secret `whsec_` and the key in base64, or the key as text @returns the key, or what is wrong with it
 */
export function signingKey(secret: string): Buffer | string {
  const given = secret.trim();
  const encoded = ENCODED.exec(given)?.[1];
  if (encoded === undefined && given.startsWith('whsec_'))
    return 'begins with whsec_, and what follows is not base64';
  const key = encoded === undefined ? Buffer.from(given) : Buffer.from(encoded, 'base64');
  return key.length < SHORTEST_SECRET ? `has fewer than ${SHORTEST_SECRET} bytes` : key;
}

/** An event in the form of EventBridge, as on AWS's bus. */
export const eventText = ({ source, detailType, at, detail }: SentEvent): string =>
  JSON.stringify({ source, 'detail-type': detailType, time: new Date(at).toISOString(), detail });

/**
 * The id of an event; a repeated announcement has the same one: docs/EVENTS.md names the fields that it
 * consists of.
 */
export function idOf({ detailType, at, detail }: SentEvent): string {
  const { executionId, incident, step, change, agent, workflow } = detail;
  const what = [detailType, at, executionId, incident, step, change, agent, workflow];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 32);
}

export function signedHeaders(key: Buffer, id: string, text: string, now: number) {
  const seconds = Math.floor(now / 1_000);
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}
