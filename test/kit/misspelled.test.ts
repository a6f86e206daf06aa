/** The test kit refuses misspelled names of an agent's parts and of faults, for users without a compiler. */

import { testWorkflow } from 'steadfast/testing';
import { bookHotel, bookTrip, confirmTrip, goodAgents } from './trip.ts';

const aTest = () => testWorkflow(bookTrip, { agents: goodAgents().agents });

it('refuses a fault whose moment or function there is not', () => {
  const trial = aTest();
  const untyped = trial as unknown as Record<'kill' | 'fail', (agent: unknown, options: object) => void>;
  expect(() => untyped.kill(bookHotel, { when: 'afer' })).toThrow(
    "a fault: when is 'afer'; write 'before' or 'after'",
  );
  expect(() => untyped.kill(bookHotel, { whn: 'after' })).toThrow("'whn' is not an option");
  expect(() => untyped.fail(bookHotel, { on: 'prob' })).toThrow(
    "a fault: on is 'prob'; write 'execute' or 'probe' or 'undo'",
  );
});

it('replaces no agent by a part that there is not', () => {
  const misspelled = { exceute: async () => ({ mail: '' }) } as object;
  expect(() => aTest().replace(confirmTrip, misspelled)).toThrow(
    `replace of agent '${confirmTrip.spec.name}': 'exceute' is not a part of a handler; did you mean 'execute'?`,
  );
});
