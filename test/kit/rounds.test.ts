/** Rounds: each successful child execution is followed by another; they are undone in reverse order. */

import {
  eq,
  exists,
  failed,
  askPerson,
  not,
  orElse,
  PermanentError,
  required,
  retry,
  workflow,
} from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { batch, check, copier, copy, copying, keeping, reader, reading, readPage } from './rounds.ts';

/** A workflow that asks a person about each failed round. */
const asking = workflow('asking', { input: z.object({}), within: '1d' }, (w) => {
  const { output } = w.repeat(
    'batches',
    batch,
    { at: 1 },
    {
      next: (last) => ({ at: last.at }),
      until: (last) => eq(last.more, false),
      maxRounds: 5,
      recovery: [askPerson({ within: '1h' })],
    },
  );
  return { rounds: output.rounds };
});

/** The same, and the next step may fail. */
const askingFirst = workflow('asking-first', { input: z.object({}), within: '1d' }, (w) => {
  const batches = w.repeat(
    'batches',
    batch,
    { at: 1 },
    {
      next: (last) => ({ at: last.at }),
      until: (last) => eq(last.more, false),
      maxRounds: 5,
      recovery: [askPerson({ within: '1h' })],
    },
  );
  w.step('check', check, { at: 1 }, { after: [batches], recovery: [retry(0)] });
});

describe('rounds', () => {
  it('follow one another until one answers the end, and what all answered is gathered', async () => {
    const trial = testWorkflow(reading, { agents: [reader(3)] });
    const run = await trial.start({ first: 'p1' });
    const { status, output } = await run.waitForEnd();
    expect(status).toBe('succeeded');
    expect(output).toEqual({
      pages: 3,
      last: 3,
      all: [{ rows: 1, next: 'p2' }, { rows: 2, next: 'p3' }, { rows: 3 }],
    });
  });

  it('end with at-most where one more would be needed', async () => {
    const trial = testWorkflow(reading, { agents: [reader(5)] });
    const run = await trial.start({ first: 'p1' });
    const { status, failure } = await run.waitForEnd();
    expect(status).toBe('failed');
    expect(failure).toMatchObject({ code: 'too-many-rounds' });
    expect(trial.calls(readPage)).toHaveLength(4);
  });

  it('are undone in reverse when what comes after them fails', async () => {
    const { agents, undone } = copier();
    const trial = testWorkflow(copying, { agents });
    trial.fail(check, { times: Infinity, with: new PermanentError('no') });
    const run = await trial.start({});
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(undone).toEqual(['batch-3', 'batch-2', 'batch-1']);
  });

  it('are undone in reverse when one of them fails for good, the recovery being over', async () => {
    const { agents, undone, done } = copier(4, (at) => at === 3);
    const trial = testWorkflow(copying, { agents });
    const run = await trial.start({});
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(done).toEqual(['batch-1', 'batch-2']);
    expect(undone).toEqual(['batch-2', 'batch-1']);
    const rounds = await run.children('batches');
    const ends = await Promise.all(rounds.map(async (one) => (await one.state()).status));
    // A try that failed for good is not repeated in the same way.
    expect(ends).toEqual(['canceled', 'canceled', 'failed']);
  });

  it('go on with the round that failed when the execution is tried again', async () => {
    let isDown = true;
    const { agents, undone, done } = copier(3, (at) => isDown && at === 2);
    const trial = testWorkflow(keeping, { agents });
    const run = await trial.start({});
    expect((await run.waitForEnd()).status).toBe('failed');
    isDown = false;
    await run.retry('the service is back');
    const { status, output } = await run.waitForEnd();
    expect({ status, output }).toEqual({ status: 'succeeded', output: { rounds: 3 } });
    expect(done).toEqual(['batch-1', 'batch-2', 'batch-3']);
    expect(undone).toEqual([]);
  });

  it('begin the recovery anew in each round, and ask a person about one', async () => {
    const refused = new Set([1, 3]);
    const { agents, done } = copier(3, (at) => refused.delete(at));
    const trial = testWorkflow(asking, { agents });
    const run = await trial.start({});
    for (let asked = 0; asked < 2; asked += 1) {
      await run.waitForIncident();
      await run.resolve({ choice: 'retry' });
    }
    const { status, output } = await run.waitForEnd();
    expect({ status, output }).toEqual({ status: 'succeeded', output: { rounds: 3 } });
    expect(done).toEqual(['batch-1', 'batch-2', 'batch-3']);
  });

  it('give what a person gave to the round at hand alone', async () => {
    const refused = new Set([1, 3]);
    const { agents, done } = copier(5, (at) => refused.delete(at));
    const trial = testWorkflow(asking, { agents });
    const run = await trial.start({});
    for (const at of [2, 4]) {
      await run.waitForIncident();
      await run.resolve({ choice: 'retry-with-input', input: { at } });
    }
    const { status, output } = await run.waitForEnd();
    expect({ status, output }).toEqual({ status: 'succeeded', output: { rounds: 3 } });
    expect(done).toEqual(['batch-2', 'batch-4', 'batch-5']);
  });

  it('are undone in reverse, past several that failed and were tried again', async () => {
    const refused = new Set([1, 3]);
    const { agents, undone } = copier(3, (at) => refused.delete(at));
    const trial = testWorkflow(askingFirst, { agents });
    trial.fail(check, { times: Infinity, with: new PermanentError('no') });
    const run = await trial.start({});
    for (let asked = 0; asked < 2; asked += 1) {
      await run.waitForIncident();
      await run.resolve({ choice: 'retry' });
    }
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(undone).toEqual(['batch-3', 'batch-2', 'batch-1']);
  });

  it('are undone past one that failed, of which a person has said that it left nothing', async () => {
    const { agents, undone } = copier(2);
    const trial = testWorkflow(askingFirst, { agents });
    trial.delay(copy, { by: '15s', times: 2 });
    const run = await trial.start({});
    await trial.skip('20s');
    await (await run.children('batches')).at(-1)?.cancel('it hangs', { undo: false });
    await run.waitForIncident();
    await trial.skip('10m');
    await run.resolve({ choice: 'retry', nothingHappened: true });
    trial.fail(check, { times: Infinity, with: new PermanentError('no') });
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(undone).toEqual(['batch-2', 'batch-1']);
  });

  it('may fail, where nothing of them is to be undone, and another way follows', async () => {
    const either = workflow('either', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
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
      const instead = w.step('instead', readPage, { from: 'p9' }, { when: failed(pages) });
      const rows = orElse(instead.output.rows, 0);
      return { why: orElse(pages.failure.code, 'none'), rows, rounds: orElse(pages.output.rounds, 0) };
    });
    const trial = testWorkflow(either, { agents: [reader(5)] });
    const run = await trial.start({ first: 'p1' });
    const { status, output } = await run.waitForEnd();
    expect({ status, output }).toEqual({
      status: 'succeeded',
      output: { why: 'too-many-rounds', rows: 9, rounds: 2 },
    });
  });

  it('end with their step when its time is over, between two of them as well', async () => {
    const timed = workflow('timed', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
      w.repeat(
        'pages',
        readPage,
        { from: w.input.first },
        {
          next: (last) => ({ from: required(last.next) }),
          until: (last) => not(exists(last.next)),
          maxRounds: 1_000,
          within: '1m',
        },
      );
    });
    const trial = testWorkflow(timed, { agents: [reader(5_000)] });
    trial.delay(readPage, { by: '15s', times: Infinity });
    const run = await trial.start({ first: 'p1' });
    const { status, failure } = await run.waitForEnd();
    expect({ status, code: failure?.code }).toEqual({ status: 'failed', code: 'within' });
    expect(trial.calls(readPage).length).toBeLessThan(6);
  });

  it('do not begin while the execution is paused', async () => {
    const trial = testWorkflow(reading, { agents: [reader(3)] });
    trial.delay(readPage, { by: '10s', times: 1 });
    const run = await trial.start({ first: 'p1' });
    await trial.skip('5s');
    await run.pause('for a while');
    await trial.skip('10m');
    expect(trial.calls(readPage)).toHaveLength(1);
    await run.resume('go on');
    expect((await run.waitForEnd()).output).toMatchObject({ pages: 3 });
  });

  it('ask a person again until she approves', async () => {
    const draft = workflow('draft', { input: z.object({ version: z.number() }), within: '2d' }, (w) => {
      const read = w.approval('read', { within: '1d', mayFail: true });
      return { approved: orElse(read.output.approved, false), version: w.input.version };
    });
    const review = workflow('review', { input: z.object({}), within: '9d' }, (w) => {
      const drafts = w.repeat(
        'drafts',
        draft,
        { version: 1 },
        { until: (last) => eq(last.approved, true), maxRounds: 3 },
      );
      return { after: drafts.output.rounds };
    });
    const trial = testWorkflow(review, { agents: [], workflows: [] });
    const run = await trial.start({});
    await trial.skip('1h');
    await (await run.children('drafts')).at(-1)?.reject('read', { reason: 'again' });
    await trial.skip('1h');
    await (await run.children('drafts')).at(-1)?.approve('read');
    expect((await run.waitForEnd()).output).toEqual({ after: 2 });
  });

  it('may be within rounds', async () => {
    const folder = workflow('folder', { input: z.object({ first: z.string() }), within: '1d' }, (w) => {
      const pages = w.repeat(
        'pages',
        readPage,
        { from: w.input.first },
        {
          next: (last) => ({ from: required(last.next) }),
          until: (last) => not(exists(last.next)),
          maxRounds: 9,
        },
      );
      return { pages: pages.output.rounds, isLast: pages.output.last.rows };
    });
    const folders = workflow('folders', { input: z.object({}), within: '1d' }, (w) => {
      const all = w.repeat(
        'all',
        folder,
        { first: 'p1' },
        { until: (last) => eq(last.pages, 2), next: () => ({ first: 'p2' }), maxRounds: 5 },
      );
      return { rounds: all.output.rounds };
    });
    const trial = testWorkflow(folders, { agents: [reader(3)] });
    expect((await (await trial.start({})).waitForEnd()).output).toEqual({ rounds: 2 });
  });

  it('say in why which round it is', async () => {
    const trial = testWorkflow(reading, { agents: [reader(3)] });
    const run = await trial.start({ first: 'p1' });
    trial.delay(readPage, { by: '15s', times: Infinity });
    await trial.skip('20s');
    const { steps, next } = await run.why();
    expect(steps[0]?.because).toBe('round 2, try 2: of at most 4 rounds; 1 before it succeeded');
    expect(next.what).toContain('round 2, try 2: execution');
  });

  it('may be within ten workflows, and are undone there', async () => {
    const Empty = { input: z.object({}), within: '1d' } as const;
    const bottom = workflow('level-1', Empty, (w) => {
      w.repeat(
        'batches',
        copy,
        { at: 1 },
        { next: (last) => ({ at: last.at }), until: (last) => eq(last.more, false), maxRounds: 3 },
      );
    });
    let top: ReturnType<typeof level> = bottom;
    function level(number: number, below: typeof bottom) {
      return workflow(`level-${number}`, Empty, (w) => {
        w.child('below', below, {});
      });
    }
    for (let number = 2; number < 10; number += 1) top = level(number, top);
    const whole = workflow('whole', Empty, (w) => {
      const all = w.child('below', top, {});
      w.step('check', check, { at: 1 }, { after: [all], recovery: [retry(1, { delay: '1s' })] });
    });
    const { agents, undone } = copier(2);
    const trial = testWorkflow(whole, { agents });
    trial.fail(check, { times: Infinity, with: new PermanentError('no') });
    expect((await (await trial.start({})).waitForEnd()).status).toBe('compensated');
    expect(undone).toEqual(['batch-2', 'batch-1']);
  });
});
