import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { waits } from '../workflow.ts';

/** Works until a file exists. */
export const handler = waits.handler({
  execute: async ({ log, attempt, signal }, { file }) => {
    log.info('waiting');
    while (!existsSync(file)) await setTimeout(50, undefined, { signal });
    return { attempt };
  },
});
