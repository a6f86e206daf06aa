import { keepRecord } from '../workflow.ts';

export const handler = keepRecord.handler({ execute: async (_ctx, input) => ({ kept: input.what }) });
