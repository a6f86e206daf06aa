/** Gives the loop back after so many milliseconds, and says which process it kept. */

import { compute } from '../workflow.ts';

export const handler = compute.handler({
  execute: async ({ log }, { ms }) => {
    log.info('computing');
    for (const untilAt = Date.now() + ms; Date.now() < untilAt; );
    return { pid: process.pid };
  },
});
