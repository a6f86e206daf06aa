/** A timer whose time each message may move, earlier or later (Temporal, samples-go/updatabletimer). */

import { agent, received, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Wake = z.object({ wakeAt: z.int() });
/** Computes the remaining seconds. Without a message the time is over. */
const rest = agent('rest', {
  input: z.object({ message: z.nullable(Wake) }),
  output: z.object({ seconds: z.int(), isOver: z.boolean() }),
  effect: 'none',
});
const ring = agent('ring', {
  input: z.object({}),
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});

export const alarm = workflow('alarm', { input: Wake, within: '30d' }, (w) => {
  const timer = w.repeat(
    'timer',
    rest,
    { message: { wakeAt: w.input.wakeAt } },
    {
      next: received('wake-at', Wake, () => ({})),
      within: (last) => last.seconds,
      otherwise: 'continue',
      until: (last) => last.isOver,
      maxRounds: 100,
    },
  );
  w.step('ring', ring, {}, { after: [timer] });
});
