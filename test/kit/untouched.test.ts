/** How `crashEverywhere` reports agents that none of its runs reached. */

import { eq, workflow } from 'steadfast';
import { crashEverywhere } from 'steadfast/testing';
import * as z from 'zod/mini';
import { bookHotel, bookTrip, confirmTrip, goodAgents, oneStep } from './trip.ts';

it('says what no run came to: agents that never acted, undos that were never called', async () => {
  const { only } = oneStep();
  const { world, agents } = goodAgents();
  const flow = workflow('either', { input: z.object({ late: z.boolean() }), within: '1d' }, (w) => {
    const hotel = w.step('hotel', bookHotel, { trip: 'to Ghent' });
    w.step('extra', only, {}, { after: [hotel], when: eq(w.input.late, true) });
  });
  const options = {
    agents: [...agents.slice(1, 2), only.handler({ execute: async () => 1 } as never)],
    world,
  };
  const report = await crashEverywhere(flow, { ...options, input: { late: false } });
  expect(report.findings).toEqual([]);
  expect(report.untouched).toEqual(['never acted here: only-agent', 'never undone here: book-hotel']);
  expect(report.text).toContain('\nnever acted here: only-agent\nnever undone here: book-hotel');
  const part = await crashEverywhere(flow, { ...options, input: { late: false }, only: 'execute:1' });
  expect(part.untouched).toEqual([]);
  const there = goodAgents();
  const back = await crashEverywhere(bookTrip, {
    ...there,
    input: { trip: 'to Ghent' },
    scenario: (trial, given) => {
      trial.fail(confirmTrip, { times: 2 });
      return trial.start(given);
    },
  });
  expect(back.untouched).toEqual([]);
});
