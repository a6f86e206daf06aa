/**
 * Password reset: issue a token, mail its link. Here to show when not to use Steadfast: README.md says what a
 * queue and a
 * function (`instead.ts`) do better, and what would change the answer.
 *
 * Owns: the agents' contracts and the workflow. Does not own: how an agent does its work (`agents/`).
 *
 * The token itself is in no input and no output: the state table, and people who may list executions, need
 * not know it.
 */

import { agent, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '20s', settle: '1s' } as const;
const PATIENCE = retry(100, { first: '500ms', max: '1m' });

const Text = z.string().check(z.minLength(1));

/** The identity service issues one token for each key, and revokes by it. */
export const issueToken = agent('issue-token', {
  input: z.object({ account: Text }),
  output: z.object({ token: Text }), // its id
  effect: 'idempotent',
  ...LIMITS,
});

/** The mail service sends once for each key, and puts the link in itself. */
export const mailLink = agent('mail-link', {
  input: z.object({ account: Text, token: Text }),
  output: z.object({ mail: Text }),
  effect: 'idempotent',
  undo: 'none', // a mail cannot be unsent; what makes it harmless is that its token is revoked
  ...LIMITS,
});

const Reset = z.object({ account: Text });
export type Reset = z.infer<typeof Reset>;

/** As long as a token is valid: after that the mail is useless. */
export const passwordReset = workflow('password-reset', { input: Reset, within: '30m' }, (w) => {
  const { account } = w.input;
  const issue = w.step('issue', issueToken, { account }, { recovery: [PATIENCE] });
  const mail = w.step('mail', mailLink, { account, token: issue.output.token }, { recovery: [PATIENCE] });
  return { mail: mail.output.mail };
});
