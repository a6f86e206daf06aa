/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));

/** The identity service issues one token for each key, and revokes by it. */
export const issueToken = agent('issue-token', {
  input: z.object({ account: Text }),
  output: z.object({ token: Text }), // its id
  effect: 'idempotent',
  ...LIMITS,
});

/** The mail service sends once for each key, and inserts the link itself. */
export const mailLink = agent('mail-link', {
  input: z.object({ account: Text, token: Text }),
  output: z.object({ mail: Text }),
  effect: 'idempotent',
  undo: 'none', // a mail cannot be unsent, but revoking its token makes it harmless
  ...LIMITS,
});
