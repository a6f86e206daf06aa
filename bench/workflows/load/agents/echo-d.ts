/** Does nothing: hands on what it was given. */

import { echoD } from '../workflow.ts';

export const handler = echoD.handler({ execute: async (_ctx, input) => input });
