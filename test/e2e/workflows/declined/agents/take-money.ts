import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import { takeMoney } from '../workflow.ts';

/** The bank's folder: it has a file `open` once the bank is open, and `calls` with a line for each call. */
const bank = process.env['BANK'] ?? '';

export const handler = takeMoney.handler({
  execute: async ({ idempotencyKey }, { order }) => {
    appendFileSync(join(bank, 'calls'), `${order} ${idempotencyKey}\n`);
    if (order % 10 === 0 || !existsSync(join(bank, 'open'))) throw new PermanentError('declined');
    return {};
  },
});
