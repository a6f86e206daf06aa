/** Accepted work: no process waits for it, and no earlier step is undone while it acts. */

import {
  accepted,
  type AcceptedWork,
  agent,
  cannotTell,
  done,
  notDone,
  PermanentError,
  retry,
  running,
  workflow,
} from 'steadfast';
import {
  crashEverywhere,
  type CrashOptions,
  externalWorld,
  type TestAgent,
  testWorkflow,
} from 'steadfast/testing';
import * as z from 'zod/mini';

const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;
const Made = { input: z.object({}), output: z.object({ id: z.string() }) };
const reserve = agent('reserve', { ...Made, ...LIMITS, effect: 'idempotent' });
const encode = agent('encode', {
  ...Made,
  ...LIMITS,
  effect: 'probed',
  acceptedWithin: '30m',
  progressWithin: '10m',
});
const publish = agent('publish', { ...Made, ...LIMITS, effect: 'idempotent', undo: 'none' });

const film = workflow('film', { input: z.object({}), within: '1d' }, (w) => {
  const first = w.step('reserve', reserve, {});
  const second = w.step('encode', encode, {}, { after: [first], recovery: [retry(1, { delay: '1s' })] });
  w.step('publish', publish, {}, { after: [second], recovery: [retry(1, { delay: '1s' })] });
});

const MINUTE = 60_000;

interface Job {
  readonly at: number;
  stopped?: number;
}

/** A service that accepts a job, takes time to do it, and is probed by its key alone. */
function jobs({
  lasts = 3 * MINUTE,
  advances = true,
  now,
}: {
  lasts?: number;
  advances?: boolean;
  now: () => number;
}) {
  const world = externalWorld();
  const known = new Map<string, Job>();
  const deeds: string[] = [];
  const undone: (AcceptedWork | undefined)[] = [];
  const asked: number[] = [];
  const agents: readonly TestAgent[] = [
    reserve.handler({
      execute: async (ctx) => ({ id: await world.actOnce(ctx.idempotencyKey, 'place') }),
      undo: async (ctx) => {
        deeds.push('undo reserve');
        await world.undo(ctx.idempotencyKey);
      },
    }),
    encode.handler({
      execute: async (ctx) => {
        const id = await world.act(ctx.idempotencyKey, 'job');
        known.set(ctx.idempotencyKey, { at: now() });
        return accepted({ token: id, askAfter: '30s' });
      },
      probe: async (ctx) => {
        asked.push(now());
        const id = await world.find(ctx.idempotencyKey, 'job');
        const job = known.get(ctx.idempotencyKey);
        if (id === undefined || job === undefined)
          return id === undefined ? notDone() : cannotTell('starting');
        const share = Math.min(1, (now() - job.at) / lasts);
        return share < 1 ? running(advances ? { progress: share } : { progress: 0 }) : done({ id });
      },
      undo: async (ctx) => {
        undone.push(ctx.accepted);
        deeds.push('undo encode');
        await world.undo(ctx.idempotencyKey);
      },
    }),
    publish.handler({ execute: async (ctx) => ({ id: await world.actOnce(ctx.idempotencyKey, 'film') }) }),
  ];
  return { world, agents, deeds, undone, asked };
}

const declined: CrashOptions<object>['scenario'] = (trial, given) => {
  trial.fail(publish, { times: Infinity, with: new PermanentError('no') });
  return trial.start(given);
};

/** A test whose service uses the test's clock. */
function film1(options: { lasts?: number; advances?: boolean } = {}) {
  let clock = (): number => 0;
  const service = jobs({ ...options, now: () => clock() });
  const trial = testWorkflow(film, { agents: service.agents });
  clock = () => trial.now();
  return { trial, ...service };
}

describe('accepted work', () => {
  it('holds no process, and is asked at its pace until it is done', async () => {
    const { trial, asked } = film1();
    const startedAt = trial.now();
    const run = await trial.start({});
    const { status } = await run.waitForEnd();
    expect(status).toBe('succeeded');
    expect(trial.calls(encode).filter(({ on }) => on === 'execute')).toHaveLength(1);
    expect(asked).toHaveLength(6);
    expect(trial.now() - startedAt).toBeLessThan(4 * MINUTE);
  });

  it('is stopped by an undo that gets the token, before anything that it rests on', async () => {
    const { trial, deeds, undone } = film1();
    const run = await trial.start({});
    await trial.skip('45s');
    await run.cancel('not wanted');
    const { status } = await run.waitForEnd();
    expect(status).toBe('canceled');
    expect(deeds).toEqual(['undo encode', 'undo reserve']);
    expect(undone).toEqual([expect.objectContaining({ token: 'job-2' })]);
  });

  it('is undone when its time is over, and then the next stage begins with another key', async () => {
    const { trial, deeds, undone, world } = film1({ lasts: 40 * MINUTE });
    const run = await trial.start({});
    const { status } = await run.waitForEnd();
    // The second attempt is not over within its time either.
    expect(status).toBe('compensated');
    expect(deeds).toEqual(['undo encode', 'undo encode', 'undo reserve']);
    expect(undone.map((one) => one?.token)).toEqual(['job-2', 'job-3']);
    expect(new Set(world.effects().map(({ key }) => key)).size).toBe(3);
  });

  it('that does not advance is taken for stuck after progressWithin', async () => {
    const { trial, asked } = film1({ lasts: 40 * MINUTE, advances: false });
    const startedAt = trial.now();
    const run = await trial.start({});
    await trial.skip('11m');
    expect(trial.calls(encode).filter(({ on }) => on === 'undo')).toHaveLength(1);
    expect((asked.at(-1) ?? 0) - startedAt).toBeLessThan(11 * MINUTE);
    await run.cancel('enough');
    expect((await run.waitForEnd()).status).toBe('canceled');
  });

  it('is asked at its pace behind a point of no return, also once the time of its execution is over', async () => {
    const pay = agent('pay', { ...Made, ...LIMITS, effect: 'probed', acceptedWithin: '3h' });
    const flow = workflow('flow', { input: z.object({}), within: '1h' }, (w) => {
      w.step('pay', pay, {}, { pointOfNoReturn: true });
    });
    let asked = 0;
    const handler = pay.handler({
      execute: async () => accepted({ askAfter: '30s' }),
      probe: async () => {
        asked += 1;
        return running();
      },
      undo: async () => undefined,
    });
    const trial = testWorkflow(flow, { agents: [handler] });
    await trial.start({});
    await trial.skip('59m');
    const before = asked;
    await trial.skip('30m');
    expect(asked - before).toBeLessThan(10);
  });

  it.each([
    ['to success', undefined],
    ['on the way back', declined],
  ])('survives a crash everywhere, %s', async (_, scenario) => {
    let at = 0;
    const { world, agents } = jobs({ now: () => (at += 10_000) });
    const ways = scenario === undefined ? {} : { scenario };
    const report = await crashEverywhere(film, { input: {}, agents, world, slowest: '1s', ...ways });
    expect(report.findings).toEqual([]);
    expect(report.blind).toEqual([]);
  });
});
