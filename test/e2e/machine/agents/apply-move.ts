import { applyMove } from '../workflow.ts';

export const handler = applyMove.handler({
  execute: async (_ctx, { message, last }) => ({
    seen: [...(last?.seen ?? []), message.n],
    isOver: message.isLast,
  }),
});
