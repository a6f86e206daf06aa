/** Does nothing: hands on what it was given. */

import { echoB } from '../workflow.ts';

export const handler = echoB.handler({ execute: async (_ctx, input) => input });
