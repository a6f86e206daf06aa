/** Takes as long as the text says: `wait 500` half a second, `block 3000` while it blocks the loop. */

import { setTimeout } from 'node:timers/promises';
import { sendGreeting } from '../workflow.ts';

export const handler = sendGreeting.handler({
  execute: async ({ log }, { text }) => {
    const [, how, ms] = /(wait|block) (\d+)/.exec(text) ?? [];
    log.info('sending');
    if (how === 'wait') await setTimeout(Number(ms));
    if (how === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
    return { sent: text };
  },
});
