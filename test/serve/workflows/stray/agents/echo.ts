/** Does nothing. */

import { echo } from '../workflow.ts';

export const handler = echo.handler({ execute: async () => ({}) });
