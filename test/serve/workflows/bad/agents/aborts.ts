import { aborts } from '../workflow.ts';

export const handler = aborts.handler({
  execute: async () => {
    process.abort();
  },
});
