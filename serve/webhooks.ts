/**
 * Serves webhooks: a signed request starts an execution or answers a callback.
 *
 * Owns: receiving requests without a token, and storing each before it is answered. Does not own: the checks
 * (`lib/webhooks/receive.ts`), the start (`lib/scheduler/starter.ts`). There is no queue in between: a sender
 * repeats its request until it gets 200.
 */

import type { IncomingMessage, RequestListener } from 'node:http';
import {
  type DeclaredTrigger,
  isSending,
  type WebhookTrigger,
} from '../lib/author/triggers/trigger-declaration.ts';
import { compiledTrigger, WEBHOOK, webhookName } from '../lib/infra/event-shapes.ts';
import type { StartOutcome } from '../lib/scheduler/starter.ts';
import type { StartMessage, Trigger } from '../lib/scheduler/trigger.ts';
import {
  MAX_WEBHOOK_BYTES,
  type Receive,
  receiver,
  type ReceiverParts,
  TOO_LARGE,
  type WebhookAnswer,
  WEBHOOK_PATH,
} from '../lib/webhooks/receive.ts';
import type { Listeners } from '../local/http/by-path.ts';
import { pathOf } from '../local/http/by-path.ts';
import { readBody } from '../local/http/read-body.ts';

const SECRET_WITHIN_MS = 5_000;
/**
 * Refusals that the sender cannot correct, so they are only logged: the message came before in another form,
 * or its execution has ended.
 */
const REPEATED: ReadonlySet<string> = new Set(['already-closed', 'key-reused', 'ended']);

const webhooksIn = (triggers: readonly DeclaredTrigger[]): readonly WebhookTrigger[] =>
  triggers.filter((trigger) => trigger.on === 'webhook');

/** The paths of webhooks on this server. */
export const webhookPaths = (triggers: readonly DeclaredTrigger[]): readonly string[] =>
  webhooksIn(triggers).map((trigger) => `${WEBHOOK_PATH}/${webhookName(trigger)}`);

export const compiledWebhook = ({ workflow, options }: WebhookTrigger): Trigger => {
  if (isSending(options)) return compiledTrigger(WEBHOOK, workflow, options) as unknown as Trigger;
  const { input = options.output, ...rest } = options;
  return compiledTrigger(WEBHOOK, workflow, { ...rest, input }) as unknown as Trigger;
};

export interface WebhookParts extends Pick<ReceiverParts, 'log'> {
  /** The machine's time, which senders use. */
  readonly now: () => number;
  readonly start: (trigger: Trigger, message: StartMessage) => Promise<StartOutcome>;
}

/** The listener below `/webhooks`; none if no webhook is declared. */
export function webhookListeners(triggers: readonly DeclaredTrigger[], parts: WebhookParts): Listeners {
  const declared = webhooksIn(triggers);
  if (declared.length === 0) return {};
  const byName = new Map(declared.map((one) => [webhookName(one), compiledWebhook(one)]));
  const twin = declared.map(webhookName).find((name, at, all) => all.indexOf(name) < at);
  if (twin !== undefined)
    throw new Error(`two triggers are named '${twin}'; give one of them another name: { name: '…' }`);
  const receive = receiver({
    ...parts,
    webhooks: declared.map((one) => ({ name: webhookName(one), verify: one.options.verify })),
    // Loaded at the first request, to keep the server's start fast.
    secretOf: async (place, isFresh) => {
      const { forget, secretValue } = await import('../lib/ready/secret.ts');
      if (isFresh === true) forget(place);
      return secretValue(place, AbortSignal.timeout(SECRET_WITHIN_MS));
    },
    keep: async ({ name, ...message }) => {
      const trigger = byName.get(name);
      if (trigger === undefined) return 'unknown-trigger';
      const outcome = await parts.start(trigger, { id: name, ...message });
      if (outcome.kind !== 'refused') return undefined;
      if (!REPEATED.has(outcome.code)) return outcome.code;
      parts.log('webhook-repeated', { trigger: name, code: outcome.code });
      return undefined;
    },
  });
  return { [WEBHOOK_PATH]: listenerOf(receive) };
}

const listenerOf =
  (receive: Receive): RequestListener =>
  (request, response) => {
    answerTo(receive, request)
      .then(({ status, body }) => {
        const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
        response.writeHead(status, status === 413 ? { ...type, connection: 'close' } : type);
        response.end(request.method === 'HEAD' ? undefined : body);
      })
      // A sender that disconnects in the middle of its request must not crash the server.
      .catch(() => response.destroy());
  };

/** Answers a request. If its header announces too many bytes, it is refused unread. */
async function answerTo(receive: Receive, request: IncomingMessage): Promise<WebhookAnswer> {
  const { method = 'GET', headers } = request;
  if (Number(headers['content-length'] ?? 0) > MAX_WEBHOOK_BYTES) return TOO_LARGE;
  const body = await readBody(request, MAX_WEBHOOK_BYTES);
  if (body === 'tooLarge') return TOO_LARGE;
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  };
  return await receive({ method, path: pathOf(request), header, body });
}
