/**
 * Asks every half hour, until the weather is clear or a deadline passes that each answer may move. From
 * Durable Functions, Monitor.
 */

import { agent, gte, or, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Place = z.object({ location: z.string(), endsAt: z.int() });
const check = agent('check-weather', {
  input: Place,
  output: z.object({ isClear: z.boolean(), at: z.int(), endsAt: z.int() }),
  effect: 'none',
});
const alert = agent('send-alert', {
  input: z.object({ location: z.string() }),
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});

export const monitor = workflow('monitor', { input: Place, within: '7d' }, (w) => {
  const { location } = w.input;
  const checked = w.repeat('check', check, w.input, {
    until: (last) => or(last.isClear, gte(last.at, last.endsAt)),
    next: (last, given) => ({ location: given.location, endsAt: last.endsAt }),
    every: '30m',
    maxRounds: 300,
  });
  w.step('alert', alert, { location }, { when: checked.output.last.isClear });
  return { checks: checked.output.rounds };
});
