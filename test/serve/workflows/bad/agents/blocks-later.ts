import { setTimeout } from 'node:timers/promises';
import { blocksLater } from '../workflow.ts';

export const handler = blocksLater.handler({
  execute: async () => {
    await setTimeout(10);
    for (;;);
  },
});
