/** Nightly schedule: one execution a night, with the day as its input. */

import { agent, onSchedule, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Night = z.object({ at: z.string() });

export const closeDay = agent('close-day', {
  input: Night,
  output: z.null(),
  effect: 'idempotent',
  undo: 'none',
});

export const closing = workflow('closing', { input: Night, within: '4h' }, (w) => {
  w.step('close', closeDay, { at: w.input.at });
});

/** Belongs in `triggers.ts`, beside `workflow.ts`. */
export const everyNight = onSchedule(closing, {
  schedule: 'cron(30 2 * * ? *)',
  timeZone: 'Europe/Berlin',
  input: { at: '$.time' },
});
