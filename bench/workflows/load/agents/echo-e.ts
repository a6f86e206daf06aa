/** Does nothing: hands on what it was given. */

import { echoE } from '../workflow.ts';

export const handler = echoE.handler({ execute: async (_ctx, input) => input });
