/**
 * How the identity and the mail service are asked, and what each of their answers says about the work.
 *
 * Owns: the requests, and the mapping from an answer to "certainly not done" (`TransientError`, `PermanentError`) or "I do not
 * know" (anything else that is thrown). Does not own: who asks: the agents, or the one function of `instead.ts`.
 */

import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';

type Signaled = Pick<AttemptContext, 'signal'>;

const Issued = z.object({ id: z.string() });
const Sent = z.object({ id: z.string() });

/** @returns the token's id: the same for the same key */
export const issue = async (ctx: Signaled, key: string, account: string): Promise<string> =>
  z.parse(Issued, await ask(ctx, 'POST', '/identity/tokens', { key, account })).id;

export const revoke = async (ctx: Signaled, key: string): Promise<void> => {
  await ask(ctx, 'DELETE', `/identity/tokens/${encodeURIComponent(key)}`);
};

/** @returns the mail's id: the same for the same key */
export const mail = async (ctx: Signaled, key: string, account: string, token: string): Promise<string> =>
  z.parse(Sent, await ask(ctx, 'POST', '/mail/messages', { key, account, token })).id;

async function ask(ctx: Signaled, method: 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const url = new URL(path, process.env['RESET_WORLD_URL'] ?? 'http://127.0.0.1:4535');
  const signal = ctx.signal as AbortSignal;
  const response = await fetch(url, {
    method,
    signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const message = `${method} ${url.pathname} was answered ${response.status}`;
  if (response.status === 503 || response.status === 429) throw new TransientError(message);
  if (response.status === 404 || response.status === 409) throw new PermanentError(message);
  if (!response.ok) throw new Error(message);
  return response.json();
}
