/** A chat with a model: a turn for each message, in order, until it is over (Restate, chat-bot). */

import { agent, orElse, received, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Say = z.object({ text: z.string() });
const Answer = z.object({ history: z.array(z.string()), isOver: z.boolean() });
export const reply = agent('reply', {
  input: z.object({ message: Say, last: z.nullable(Answer) }),
  output: Answer,
  effect: 'idempotent', // the model is asked once for a key: its answer is kept where it is asked
  undo: 'none',
});

export const chat = workflow('chat', { input: Say, within: '30d' }, (w) => {
  const turns = w.repeat(
    'turns',
    reply,
    { message: { text: w.input.text }, last: null },
    {
      next: received('say', Say),
      within: '1d', // silence ends it
      until: (last) => last.isOver,
      maxRounds: 200,
      mayFail: true,
    },
  );
  return { turns: orElse(turns.output.rounds, 0) };
});
