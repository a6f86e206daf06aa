/** Does nothing: returns its input. */

import { echoA } from '../workflow.ts';

export const handler = echoA.handler({ execute: async (_ctx, input) => input });
