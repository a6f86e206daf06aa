/** A timer that ends with the work: a mail only if it takes too long (Temporal, samples-go/timer). */

import { agent, failed, orElse, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Order = z.object({ orderId: z.string() });
const begin = agent('begin-processing', { input: Order, output: z.object({}), effect: 'idempotent' });
const ask = agent('processing-status', {
  input: Order,
  output: z.object({ isDone: z.boolean() }),
  effect: 'none',
});
const mail = agent('mail-delay', { input: Order, output: z.object({}), effect: 'idempotent', undo: 'none' });

export const delayed = workflow('delayed', { input: Order, within: '2d' }, (w) => {
  const begun = w.step('begin', begin, w.input);
  const often = { every: '2m', maxRounds: 1_000 } as const;
  const soon = w.repeat('soon', ask, w.input, {
    ...often,
    until: (last) => last.isDone,
    after: [begun],
    within: '10m',
    mayFail: true,
  });
  const when = failed(soon);
  const told = w.step('mail', mail, w.input, { when });
  const later = w.repeat('later', ask, w.input, {
    ...often,
    until: (last) => last.isDone,
    when,
    after: [told],
    within: '1d',
  });
  return { isDone: orElse(later.output.last.isDone, true) };
});
