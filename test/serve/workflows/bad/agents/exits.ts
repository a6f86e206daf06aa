import { exits } from '../workflow.ts';

export const handler = exits.handler({
  execute: async () => {
    process.exit(0);
  },
});
