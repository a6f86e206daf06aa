/** Works by waiting as long as its input says; a retry is done at once. */

import { setTimeout as pause } from 'node:timers/promises';
import { nap6 } from '../workflow.ts';

export const handler = nap6.handler({
  execute: async (ctx, input) => {
    if (ctx.attempt === 1) await pause(input.ms);
    return input;
  },
});
