/** Does nothing: returns its input. */

import { echoE } from '../workflow.ts';

export const handler = echoE.handler({ execute: async (_ctx, input) => input });
