/** A status machine: each round begins with the next message, and the last message ends it. */

import { agent, eq, received, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Move = z.object({ n: z.number(), isLast: z.boolean() });
const State = z.object({ seen: z.array(z.number()), isOver: z.boolean() });

export const applyMove = agent('apply-move', {
  input: z.object({ message: Move, last: z.nullable(State) }),
  output: State,
  effect: 'idempotent',
  timeout: '5s',
  undo: 'none',
});

export const machine = workflow('machine', { input: z.object({}), within: '2h' }, (w) => {
  const moves = w.repeat('moves', applyMove, received('move', Move), {
    next: received('move', Move),
    until: (last) => eq(last.isOver, true),
    maxRounds: 100,
    within: '1h',
  });
  return { seen: moves.output.last.seen };
});
