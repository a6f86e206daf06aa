/** Returns what it is given. */

import { verifyPass } from '../workflow.ts';

export const handler = verifyPass.handler({ execute: async (_ctx, { n }) => ({ n }) });
