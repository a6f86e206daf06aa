import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packParcel } from '../workflow.ts';

/**
 * The depot's folder: it has `calls` with a line for each call, and a file `moved` once the function has
 * changed.
 */
const depot = process.env['DEPOT'] ?? '';

export const handler = packParcel.handler({
  execute: async ({ idempotencyKey, signal }, { slow }) => {
    appendFileSync(join(depot, 'calls'), `${idempotencyKey} ${process.env['AWS_LAMBDA_FUNCTION_NAME']}\n`);
    if (slow) while (!existsSync(join(depot, 'moved'))) await pause(50, undefined, { signal });
    return { done: idempotencyKey };
  },
});
