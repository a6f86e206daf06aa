/** Rounds that begin with messages in a user's test: a state machine whose deadline a message moves. */

import { agent, eq, received, workflow } from 'steadfast';
import { crashEverywhere, type RunState, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Move = z.object({ to: z.string(), patience: z.optional(z.string()) });
const State = z.object({ at: z.string(), seen: z.array(z.string()), patience: z.string() });
const apply = agent('apply', {
  input: z.object({ message: z.nullable(Move), last: z.nullable(State) }),
  output: State,
  effect: 'idempotent',
  timeout: '30s',
  undo: 'none',
});
const agents = () => [
  apply.handler({
    execute: async (_ctx, { message, last }) => {
      const at = message?.to ?? 'over';
      return { at, seen: [...(last?.seen ?? []), at], patience: message?.patience ?? '1h' };
    },
  }),
];
const game = workflow('game', { input: z.object({ first: z.string() }), within: '5d' }, (w) => {
  const moves = w.repeat(
    'moves',
    apply,
    { message: { to: w.input.first }, last: null },
    {
      next: received('move', Move),
      until: (last) => eq(last.at, 'over'),
      maxRounds: 6,
      within: (last) => last.patience,
      otherwise: 'continue',
    },
  );
  return { seen: moves.output.last.seen, rounds: moves.output.rounds };
});
const HOUR_MS = 3_600_000;

it('each round begins with the next message and what the one before answered', async () => {
  const run = await testWorkflow(game, { agents: agents() }).start({ first: 'a' });
  for (const to of ['b', 'c', 'over']) await run.send('move', { to });
  const end = await run.waitForEnd();
  expect([end.status, end.output]).toEqual(['succeeded', { seen: ['a', 'b', 'c', 'over'], rounds: 4 }]);
});

it('a message moves the time of the next, and without one the round begins with null', async () => {
  const run = await testWorkflow(game, { agents: agents() }).start({ first: 'a' });
  const until = async (after: number): Promise<number> => {
    const isLater = ({ steps }: RunState): boolean => (steps['moves']?.waitsUntil ?? 0) > after;
    return (await run.until(isLater)).steps['moves']?.waitsUntil ?? 0;
  };
  const first = await until(0);
  await run.send('move', { to: 'b', patience: '2d' });
  expect((await until(first)) - first).toBeGreaterThan(46 * HOUR_MS);
  expect((await run.waitForEnd()).output).toEqual({ seen: ['a', 'b', 'over'], rounds: 3 });
});

it('is taken once, in order, whatever dies when', async () => {
  const report = await crashEverywhere(game, {
    agents: agents(),
    input: { first: 'a' },
    scenario: async (trial, input) => {
      const run = await trial.start(input);
      for (const to of ['b', 'c', 'over']) await run.send('move', { to });
      return run;
    },
  });
  expect(report.findings).toEqual([]);
  expect(report.ends).toEqual({ succeeded: report.runs + 1 });
});
