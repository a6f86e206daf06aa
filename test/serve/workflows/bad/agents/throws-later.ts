import { setTimeout } from 'node:timers/promises';
import { throwsLater } from '../workflow.ts';

export const handler = throwsLater.handler({
  execute: async (ctx) => {
    globalThis.setTimeout(() => {
      throw new Error('thrown later');
    }, 1);
    await setTimeout(60_000, undefined, { signal: ctx.signal });
    return {};
  },
});
