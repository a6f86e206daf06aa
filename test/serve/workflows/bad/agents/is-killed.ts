import { execFileSync } from 'node:child_process';
import { isKilled } from '../workflow.ts';

export const handler = isKilled.handler({
  execute: async () => {
    execFileSync('sh', ['-c', 'kill -9 $PPID']);
    return {};
  },
});
