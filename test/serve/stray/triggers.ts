/** A webhook of the workflow whose schema makes mistakes. */

import { hmacSha256, onWebhook, secret } from 'steadfast';
import { stray } from './workflow.ts';

export const hook = onWebhook(stray, {
  name: 'hook',
  verify: hmacSha256({
    header: 'x-code-signature-256',
    prefix: 'sha256=',
    secret: secret('TEST_WEBHOOK_SECRET'),
  }),
  input: { mistake: '$.body.mistake' },
});
