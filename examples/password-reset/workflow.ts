/**
 * Password reset: issue a token, mail its link. It shows when not to use Steadfast: README.md says what a
 * queue and a function (`instead.ts`) do better, and what would change the answer.
 *
 * Owns: the workflow. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`).
 *
 * The token itself is in no input and no output: neither the state table nor people who may list executions
 * need to know it.
 */

import { retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { issueToken, mailLink, Text } from './contracts.ts';

const PATIENCE = retry(100, { delay: '500ms', maxDelay: '1m' });

const Reset = z.object({ account: Text });
export type Reset = z.infer<typeof Reset>;

/** `within` equals the validity of a token: after that the mail is useless. */
export const passwordReset = workflow('password-reset', { input: Reset, within: '30m' }, (w) => {
  const { account } = w.input;
  const issue = w.step('issue', issueToken, { account }, { recovery: [PATIENCE] });
  const mail = w.step('mail', mailLink, { account, token: issue.output.token }, { recovery: [PATIENCE] });
  return { mail: mail.output.mail };
});
