/** Does nothing: hands on what it was given. */

import { echoC } from '../workflow.ts';

export const handler = echoC.handler({ execute: async (_ctx, input) => input });
