/** Does nothing: returns its input. */

import { echoB } from '../workflow.ts';

export const handler = echoB.handler({ execute: async (_ctx, input) => input });
