import { blocks } from '../workflow.ts';

export const handler = blocks.handler({
  execute: async () => {
    for (;;);
  },
});
