/** Writes the text. */

import { writeGreeting } from '../workflow.ts';

export const handler = writeGreeting.handler({
  execute: async (_ctx, { name }) => ({ text: `Hello, ${name}` }),
});
