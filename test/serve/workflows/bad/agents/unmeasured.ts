import { setTimeout } from 'node:timers/promises';
import { unmeasured } from '../workflow.ts';

/** Behaves as with all file descriptors used up: measuring its memory would require opening a file. */
export const handler = unmeasured.handler({
  execute: async () => {
    process.memoryUsage.rss = () => {
      throw new Error('EMFILE: too many open files');
    };
    await setTimeout(3_000);
    return {};
  },
});
