import { setTimeout } from 'node:timers/promises';
import { unmeasured } from '../workflow.ts';

/** As if it had used up the descriptors: to measure its memory, the process would have to open a file. */
export const handler = unmeasured.handler({
  execute: async () => {
    process.memoryUsage.rss = () => {
      throw new Error('EMFILE: too many open files');
    };
    await setTimeout(3_000);
    return {};
  },
});
