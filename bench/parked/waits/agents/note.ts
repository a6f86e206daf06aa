/** Returns its input. */

import { note } from '../workflow.ts';

export const handler = note.handler({ execute: async (_ctx, input) => input });
