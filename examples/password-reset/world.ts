/**
 * The outside world of this example: an identity service and a mail service. Each acts once for two requests
 * with the same key.
 *
 * Owns: their actions. Does not own: how a service works (`../world`), the callers.
 *
 *   npx tsx examples/password-reset/world.ts [--port 4535] [--ledger FILE]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

export interface ResetEntry extends Entry {
  readonly account?: string;
}

const Text = z.string().check(z.minLength(1));

export const DEEDS: readonly Deed[] = [
  {
    service: 'identity',
    kind: 'token',
    action: 'issue',
    oncePerKey: true,
    data: z.object({ account: Text }),
    about: 'account',
    undo: { kind: 'revocation', action: 'revoke' },
  },
  {
    service: 'mail',
    kind: 'mail',
    action: 'send',
    oncePerKey: true,
    data: z.object({ account: Text, token: Text }),
    about: 'account',
    refuses: ({ token }, ledger) =>
      ledger.standing('token', 'revocation').some(({ id }) => id === token) ? undefined : 'no such token',
    declines: 409,
  },
];
export const PLACE = { deeds: DEEDS, port: 4535 } as const;

await serveIfMain(import.meta.url, PLACE);
