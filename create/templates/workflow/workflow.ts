import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Text = z.string().check(z.minLength(1));

export const composeGreeting = agent('compose-greeting', {
  input: z.object({ name: Text }),
  output: z.object({ text: Text }),
  effect: 'idempotent', // asked again, it does no harm
  undo: 'none', // there is nothing to take back
});

export const postGreeting = agent('post-greeting', {
  input: z.object({ text: Text }),
  output: z.object({ receipt: Text }),
  effect: 'probed', // the post office can be asked whether it has the letter
  lease: '5s', // silent for so long, an attempt is taken for dead
});

const Input = z.object({ name: Text });

export const helloGreeting = workflow('hello-greeting', { input: Input, within: '5m' }, (w) => {
  const compose = w.step('compose', composeGreeting, { name: w.input.name });
  const post = w.step('post', postGreeting, { text: compose.output.text });
  return { receipt: post.output.receipt };
});
