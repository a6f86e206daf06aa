/**
 * Requests to the identity and the mail service.
 *
 * Owns: the requests. Does not own: the meaning of answers (`../world/client.ts`), the callers (the agents,
 * and `instead.ts`).
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { worldAt } from '../world/client.ts';

type Signaled = Pick<AttemptContext, 'signal'>;

const callWorld = worldAt('RESET_WORLD_URL', 'http://127.0.0.1:4535');
const Made = z.object({ id: z.string() });

/** @returns the token's id: the same for the same key */
export const issue = async (ctx: Signaled, key: string, account: string): Promise<string> =>
  (await callWorld(ctx, { method: 'POST', path: '/identity/tokens', body: { key, account } }, Made)).id;

export const revoke = async (ctx: Signaled, key: string): Promise<void> => {
  await callWorld(ctx, { method: 'DELETE', path: '/identity/tokens', query: { key } }, z.unknown());
};

/** @returns the mail's id: the same for the same key */
export const mail = async (ctx: Signaled, key: string, account: string, token: string): Promise<string> =>
  (await callWorld(ctx, { method: 'POST', path: '/mail/mails', body: { key, account, token } }, Made)).id;
