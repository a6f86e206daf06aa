/**
 * The answer to a request of a third party.
 *
 * Owns: the order of the checks, the answers, the size of a body. Does not own: the signature
 * (`signature.ts`), the effect of the message (`scheduler/trigger.ts`), the transport (`handler.ts`, the
 * server).
 *
 * K2 an unknown name, a wrong signature and an old time get the same answer after the same work, which may
 * be another read of a secret, so a forger learns nothing. The size of a body is limited before it is read,
 * whatever the name. K3 the answer is 200 once the message is kept. A repeated message gets the same answer
 * as the first, because senders switch off an address that answers 4xx.
 */

import { isUtf8 } from 'node:buffer';
import { sayable } from '../core/values/errors.ts';
import type { SecretPlace, SignedBy } from '../core/values/signed-by.ts';
import { isSigned, type SignedRequest } from './signature.ts';

/** A message of SQS holds 256 KiB, the token included. */
export const MAX_WEBHOOK_BYTES = 250_000;
/** The beginning of the path of every webhook. */
export const WEBHOOK_PATH = '/webhooks';
const PATH = /^\/webhooks\/([a-z][a-z0-9-]{0,47})(?:\/([A-Za-z0-9.-]{1,1300}))?$/;
/** Characters that SQS refuses. JSON and forms can write each of them as an escape. */
const UNSENDABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** A declared webhook. */
export interface Webhook {
  readonly name: string;
  readonly verify: SignedBy;
}

export interface WebhookRequest extends SignedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** A body with a correct signature. */
export interface WebhookMessage {
  readonly name: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface WebhookAnswer {
  readonly status: 200 | 400 | 401 | 413 | 422 | 503;
  readonly body: string;
}

export interface ReceiverParts {
  readonly webhooks: readonly Webhook[];
  readonly now: () => number;
  /** @param isFresh true if a value that was read before does not suffice */
  readonly secretOf: (place: SecretPlace, isFresh?: boolean) => Promise<string>;
  /** Resolves once the message is written, or with a code if it can never be. */
  readonly keep: (message: WebhookMessage) => Promise<string | undefined>;
  readonly log: (what: string, fields: Readonly<Record<string, string>>) => void;
}

const refusal = (
  status: Exclude<WebhookAnswer['status'], 200>,
  code: string,
  message: string,
): WebhookAnswer => ({
  status,
  body: JSON.stringify({ error: { code, message } }),
});
const ACCEPTED: WebhookAnswer = { status: 200, body: '{"status":"accepted"}' };
const REFUSED = refusal(401, 'forbidden', 'the request is not signed as it must be');
const LATER = refusal(503, 'unavailable', 'the request cannot be taken now; send it again');
export const TOO_LARGE: WebhookAnswer = refusal(
  413,
  'too-large',
  `a body has at most ${MAX_WEBHOOK_BYTES} bytes`,
);

/** How often, at most, a secret is read again because a request is not signed with the known one. */
const READ_ANEW_MS = 10_000;

/** Checked for an unknown name, with a declared secret, so that the answer takes as long. */
const UNKNOWN: Omit<SignedBy, 'secret'> = {
  header: 'signature',
  prefix: '',
  encoding: 'hex',
  signed: '{body}',
  toleranceMs: 0,
  key: 'text',
};

export type Receive = (request: WebhookRequest) => Promise<WebhookAnswer>;

export function receiver({ webhooks, now, secretOf, keep, log }: ReceiverParts): Receive {
  const known = new Map(webhooks.map((webhook) => [webhook.name, webhook.verify]));
  const [first] = webhooks;
  const unknown: SignedBy = { ...UNKNOWN, secret: first?.verify.secret ?? { env: '' } };
  const readAnewAt = new Map<SignedBy, number>();
  /** Reads the secret again, because it may have changed; a forger cannot make it do so more often. */
  const isSignedAnew = async (by: SignedBy, request: WebhookRequest, before: string): Promise<boolean> => {
    const at = now();
    if (at < (readAnewAt.get(by) ?? Number.NEGATIVE_INFINITY) + READ_ANEW_MS) return false;
    readAnewAt.set(by, at);
    const secret = await secretOf(by.secret, true).catch(() => before);
    return secret !== before && isSigned(by, request, secret, now());
  };
  return async (request) => {
    if (request.method !== 'POST') return REFUSED;
    if (request.body.length > MAX_WEBHOOK_BYTES) return TOO_LARGE;
    const [, name = '', token] = PATH.exec(request.path) ?? [];
    const by = known.get(name) ?? unknown;
    try {
      const secret = await secretOf(by.secret);
      const isRight = isSigned(by, request, secret, now()) || (await isSignedAnew(by, request, secret));
      if (!isRight || by === unknown) return REFUSED;
      const body = request.body.toString('utf8');
      if (body === '' || !isUtf8(request.body) || UNSENDABLE.test(body))
        return refusal(400, 'bad-event', 'the body is empty, or no text');
      const code = await keep({ name, body, attributes: token === undefined ? {} : { token } });
      if (code === undefined) return ACCEPTED;
      log('webhook-refused', { trigger: name, code });
      return refusal(422, code, 'the request is signed, and starts nothing: its receiver knows why');
    } catch (error) {
      log('webhook-failed', { trigger: name, error: sayable(error) });
      return LATER;
    }
  };
}
