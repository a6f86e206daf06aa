import { setTimeout } from 'node:timers/promises';
import { leaks } from '../workflow.ts';

export const handler = leaks.handler({
  execute: async () => {
    const kept: Buffer[] = [];
    for (;;) {
      kept.push(Buffer.alloc(8_000_000, 1));
      await setTimeout(5);
    }
  },
});
