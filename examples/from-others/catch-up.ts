/**
 * Runs once for each night, missed nights first, never two runs at once. From Temporal, samples-go/schedule
 * and its overlap.
 */

import { agent, gt, lte, onSchedule, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Span = z.object({ day: z.int(), last: z.int() });
const open = agent('first-open-day', {
  input: z.object({ ledger: z.string(), time: z.string() }),
  output: Span, // the first day that is not closed, and the last one that is over
  effect: 'none',
});
export const close = agent('close-day', {
  input: Span,
  output: z.object({ next: z.int() }),
  effect: 'idempotent',
  undo: 'none',
});
const Night = z.object({ ledger: z.string(), time: z.string() });

export const catchUp = workflow(
  'catch-up',
  { input: Night, within: '12h', concurrency: { key: ({ ledger }) => ledger, limit: 1, waitWithin: '1d' } },
  (w) => {
    const { output: span } = w.step('open', open, w.input);
    w.repeat('days', close, span, {
      when: lte(span.day, span.last),
      until: (last, given) => gt(last.next, given.last),
      next: (last, given) => ({ day: last.next, last: given.last }),
      maxRounds: 365,
    });
  },
);
export const nights = onSchedule(catchUp, {
  schedule: 'cron(0 1 * * ? *)',
  input: { ledger: 'books', time: '$.time' },
});
