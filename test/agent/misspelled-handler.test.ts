/** A handler with a misspelled part is refused at run time, because authors may use no compiler. */

import * as z from 'zod/mini';
import { agentHandler } from '../../lib/agent/handler.ts';
import { declareAgent } from '../../lib/core/plan/agent.ts';

const agent = declareAgent('worker', { input: z.any(), output: z.any(), effect: 'probed' } as never);
const gives = (value: unknown) => ({ execute: async () => value });

it.each([
  [{ exceute: gives(1) }, "'exceute' is not a part of a handler; did you mean 'execute'?"],
  [{ ...gives(1), prob: gives(1) }, "'prob' is not a part of a handler; did you mean 'probe'?"],
  [
    { ...gives(1), retries: 3 },
    "'retries' is not a part of a handler; there are execute, probe, undo; options are declared with the agent",
  ],
  [{ ...gives(1), probe: gives(1).execute, amountOf: 2 }, "'amountOf' is not a part of a handler; there are"],
  [
    { ...gives(1), undo: 'none' },
    "'undo' of its handler is not a function: write undo: async (ctx, input) => …",
  ],
  [{}, 'its handler has no execute: write .handler({ execute: async (ctx, input) => … })'],
  [gives(1).execute, 'its handler has no execute: write'],
])('a handler with a misspelled or missing part is not made: %j', (implementation, message) => {
  expect(() => agentHandler(agent, implementation as never)).toThrow(`agent 'worker': ${message}`);
});

it('a handler of a class may have fields and methods of its author’s', () => {
  class Counter {
    readonly price = 1;
    async execute(): Promise<number> {
      return this.price;
    }
  }
  for (const own of [
    { ...gives(1), probe: gives(1).execute },
    { ...gives(1), undo: undefined },
    new Counter(),
  ])
    expect(agentHandler(agent, own as never).worker.implementation).toBe(own);
});
