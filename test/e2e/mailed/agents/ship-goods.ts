import { shipGoods } from '../workflow.ts';

export const handler = shipGoods.handler({ execute: async (_ctx, { amount }) => ({ shipped: amount }) });
