import { composeGreeting } from '../workflow__ending__';

export const handler = composeGreeting.handler({
  execute: async (_ctx, input) => ({ text: `Hello, ${input.name}!` }),
});
