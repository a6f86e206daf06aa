import { setTimeout } from 'node:timers/promises';
import { unmeasured } from '../workflow.ts';

/**
 * Simulates a process without free file descriptors, in which measuring memory fails because it opens a file.
 */
export const handler = unmeasured.handler({
  execute: async () => {
    process.memoryUsage.rss = () => {
      throw new Error('EMFILE: too many open files');
    };
    await setTimeout(3_000);
    return {};
  },
});
