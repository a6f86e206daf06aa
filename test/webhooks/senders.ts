/** The requests of public webhook senders: what each signs, in which header, and in which format. */

import { createHmac } from 'node:crypto';
import { hmacSha256 } from '../../lib/author/triggers/webhook.ts';
import type { SignedBy } from '../../lib/core/values/signed-by.ts';

export const SECRET = 'shared-by-both-sides';
export const NOW = Date.UTC(2026, 10, 30, 12);
const secret = { kind: 'steadfast:secret', env: 'TEST_WEBHOOK_SECRET', parameter: '/shop/webhooks' } as const;
const OLD_SECRET = 'the-one-before';

export const hmac = (
  text: string | Buffer,
  key: string | Buffer = SECRET,
  as: 'hex' | 'base64' = 'hex',
): string => createHmac('sha256', key).update(text).digest(as);

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sender {
  readonly verify: SignedBy;
  readonly form?: true;
  readonly sends: (body: string, at?: number) => Sent;
}

const seconds = (at: number): string => String(Math.floor(at / 1_000));

/** A payment service: one header has the time and the signatures by two secrets. */
const payments: Sender = {
  verify: hmacSha256({ header: 'Pay-Signature', prefix: 'v1=', time: { prefix: 't=' }, secret }),
  sends: (body, at = NOW) => {
    const text = `${seconds(at)}.${body}`;
    const all = [`t=${seconds(at)}`, `v1=${hmac(text, OLD_SECRET)}`, `v1=${hmac(text)}`, `v0=${hmac(text)}`];
    return { headers: { 'pay-signature': all.join(','), 'content-type': 'application/json' }, body };
  },
};

/** A code host: it signs only the body, so a request has no age. */
const codeHost: Sender = {
  verify: hmacSha256({ header: 'x-code-signature-256', prefix: 'sha256=', secret }),
  sends: (body) => ({
    headers: { 'x-code-signature-256': `sha256=${hmac(body)}`, 'content-type': 'application/json' },
    body,
  }),
};

/** A chat service: the time is in its own header, and is signed with a version prefix. */
const form: Sender = {
  verify: hmacSha256({
    header: 'x-chat-signature',
    prefix: 'v0=',
    time: { header: 'X-Chat-Time' },
    signed: 'v0:{time}:{body}',
    secret,
  }),
  form: true,
  sends: (body, at = NOW) => ({
    headers: {
      'x-chat-signature': `v0=${hmac(`v0:${seconds(at)}:${body}`)}`,
      'x-chat-time': seconds(at),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body,
  }),
};

export const STANDARD_KEY = `whsec_${Buffer.from(SECRET.repeat(2)).toString('base64')}`;

/** Standard Webhooks, the format of the events of `serve`. */
export const standard: Sender = {
  verify: hmacSha256({
    header: 'webhook-signature',
    prefix: 'v1,',
    encoding: 'base64',
    time: { header: 'webhook-timestamp' },
    signed: '{webhook-id}.{time}.{body}',
    key: 'base64',
    secret,
  }),
  sends: (body, at = NOW) => {
    const signature = hmac(`m-1.${seconds(at)}.${body}`, Buffer.from(SECRET.repeat(2)), 'base64');
    return {
      headers: {
        'webhook-id': 'm-1',
        'webhook-timestamp': seconds(at),
        'webhook-signature': `v1,${hmac('else', 'else', 'base64')} v1,${signature}`,
      },
      body,
    };
  },
};

export const SENDERS = { payments, 'code-host': codeHost, form };
