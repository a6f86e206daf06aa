/** Blocks the loop for this many milliseconds, and names its process. */

import { compute } from '../workflow.ts';

export const handler = compute.handler({
  execute: async ({ log }, { ms }) => {
    log.info('computing');
    for (const untilAt = Date.now() + ms; Date.now() < untilAt; );
    return { pid: process.pid };
  },
});
