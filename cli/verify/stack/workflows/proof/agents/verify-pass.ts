/** Returns its input. */

import { verifyPass } from '../workflow.ts';

export const handler = verifyPass.handler({ execute: async (_ctx, { n }) => ({ n }) });
