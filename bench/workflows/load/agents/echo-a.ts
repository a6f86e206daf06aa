/** Does nothing: hands on what it was given. */

import { echoA } from '../workflow.ts';

export const handler = echoA.handler({ execute: async (_ctx, input) => input });
