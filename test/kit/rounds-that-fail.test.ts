/**
 * Rounds of a step that may fail: if one fails, the outputs of the successful rounds are the step's output.
 */

import { agent, exists, not, orElse, PermanentError, required, retry, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { reader, readPage } from './rounds.ts';

describe('rounds that may fail, and do, say how many succeeded and what they answered', () => {
  const held = workflow('held', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
    const pages = w.repeat(
      'pages',
      readPage,
      { from: w.input.first },
      {
        next: (last) => ({ from: required(last.next) }),
        until: (last) => not(exists(last.next)),
        maxRounds: 1_000,
        within: '1m',
        mayFail: true,
        recovery: [retry(1, { delay: '1s' })],
      },
    );
    return {
      why: orElse(pages.failure.code, 'none'),
      rounds: orElse(pages.output.rounds, 0),
      last: orElse(pages.output.last.rows, 0),
      items: orElse(pages.output.items, []),
    };
  });
  const row = (rows: number) => ({ rows, next: `p${rows + 1}` });

  it('when their time is over', async () => {
    const trial = testWorkflow(held, { agents: [reader(5_000)] });
    trial.delay(readPage, { by: '16s', times: Infinity });
    const run = await trial.start({ first: 'p1' });
    const { status, output } = await run.waitForEnd();
    const items = [1, 2, 3].map(row);
    expect({ status, output }).toEqual({
      status: 'succeeded',
      output: { why: 'within', rounds: 3, last: 3, items },
    });
  });

  it('when one fails for good', async () => {
    const failing = readPage.handler({
      execute: async (_ctx, { from }) => {
        if (from === 'p3') throw new PermanentError('no such page');
        return row(Number(from.slice(1)));
      },
    });
    const run = await testWorkflow(held, { agents: [failing] }).start({ first: 'p1' });
    expect((await run.waitForEnd()).output).toEqual({
      why: 'child-failed',
      rounds: 2,
      last: 2,
      items: [1, 2].map(row),
    });
  });

  it('when none succeeds: nothing', async () => {
    const failing = readPage.handler({
      execute: async () => {
        throw new PermanentError('no such page');
      },
    });
    const run = await testWorkflow(held, { agents: [failing] }).start({ first: 'p1' });
    expect((await run.waitForEnd()).output).toMatchObject({ rounds: 0, last: 0, items: [] });
  });

  it('wherever a process dies', async () => {
    const told = new Set<number>();
    const tell = agent('tell', {
      input: z.object({ rounds: z.number() }),
      output: z.object({}),
      effect: 'none',
    });
    const few = workflow('few', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
      const pages = w.repeat(
        'pages',
        readPage,
        { from: w.input.first },
        {
          next: (last) => ({ from: required(last.next) }),
          until: (last) => not(exists(last.next)),
          maxRounds: 2,
          mayFail: true,
        },
      );
      w.step('tell', tell, { rounds: orElse(pages.output.rounds, 0) }, { after: [pages] });
    });
    const telling = tell.handler({
      execute: async (_ctx, { rounds }) => {
        told.add(rounds);
        return {};
      },
    });
    const agents = [reader(5), telling];
    const given = { input: { first: 'p1' }, agents, world: externalWorld(), slowest: '1s' } as const;
    const { findings, runs } = await crashEverywhere(few, given);
    expect([findings, runs > 30]).toEqual([[], true]);
    expect([...told]).toEqual([2]);
  });
});
