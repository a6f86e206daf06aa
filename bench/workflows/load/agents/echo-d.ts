/** Does nothing: returns its input. */

import { echoD } from '../workflow.ts';

export const handler = echoD.handler({ execute: async (_ctx, input) => input });
