/** Works as long as it is told, which is to wait. */

import { setTimeout as pause } from 'node:timers/promises';
import { nap } from '../workflow.ts';

export const handler = nap.handler({
  execute: async (_ctx, input) => {
    await pause(input.ms);
    return input;
  },
});
