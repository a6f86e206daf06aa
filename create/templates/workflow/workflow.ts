import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Text = z.string().check(z.minLength(1));

export const composeGreeting = agent('compose-greeting', {
  input: z.object({ name: Text }),
  output: z.object({ text: Text }),
  effect: 'idempotent', // a repeated request does no harm
  undo: 'none', // there is nothing to undo
});

export const postGreeting = agent('post-greeting', {
  input: z.object({ text: Text }),
  output: z.object({ receipt: Text }),
  effect: 'probed', // a repeated request posts a second letter, but the post office can be asked
  lease: '5s', // after 5 s of silence an attempt counts as dead
});

const Input = z.object({ name: Text });

export const helloGreeting = workflow('hello-greeting', { input: Input, within: '5m' }, (w) => {
  const compose = w.step('compose', composeGreeting, { name: w.input.name });
  const post = w.step('post', postGreeting, { text: compose.output.text });
  return { receipt: post.output.receipt };
});
