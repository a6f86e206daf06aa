/** Does nothing: returns its input. */

import { echoC } from '../workflow.ts';

export const handler = echoC.handler({ execute: async (_ctx, input) => input });
