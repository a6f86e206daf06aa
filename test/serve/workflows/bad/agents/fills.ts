import { fills } from '../workflow.ts';

export const handler = fills.handler({
  execute: async () => {
    for (const kept: unknown[] = []; ; ) kept.push(Array.from({ length: 1_000 }, Math.random));
  },
});
