/** Takes as long as the text says: `wait 500` half a second, `block 3000` without giving the loop back. */

import { setTimeout } from 'node:timers/promises';
import { sendGreeting } from '../workflow.ts';

export const handler = sendGreeting.handler({
  execute: async ({ log }, { text }) => {
    const [, how, ms] = /(wait|block) (\d+)/.exec(text) ?? [];
    log.info('sending');
    if (how === 'wait') await setTimeout(Number(ms));
    for (const untilAt = Date.now() + (how === 'block' ? Number(ms) : 0); Date.now() < untilAt; );
    return { sent: text };
  },
});
