import { never } from '../workflow.ts';

export const handler = never.handler({
  execute: async () => {
    await new Promise(() => undefined);
    return {};
  },
});
