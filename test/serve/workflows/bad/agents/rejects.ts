import { setTimeout } from 'node:timers/promises';
import { rejects } from '../workflow.ts';

export const handler = rejects.handler({
  execute: async (ctx) => {
    void Promise.reject(new Error('nobody awaits me'));
    await setTimeout(60_000, undefined, { signal: ctx.signal });
    return {};
  },
});
