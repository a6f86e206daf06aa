/** Does nothing. */

import { setImmediate } from 'node:timers/promises';
import { echo } from '../workflow.ts';

// The errors that its workflow's module leaves become known while this one loads.
await setImmediate();

export const handler = echo.handler({ execute: async () => ({}) });
