/**
 * Every check of `steadfast verify` holds for a deployment that does what it should, and fails for one that
 * does not: each has its planted fault here, and none has two names.
 */

import { type Check, isCheck } from '../../../cli/verify/check.ts';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import type { RestoredTable, Settings } from '../../../cli/verify/ports.ts';
import { ApiError } from '../../../lib/api/client.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';
import { goodSettings } from './good-settings.ts';

const checks = ENTRIES.filter(isCheck);

type Change = (settings: Settings) => unknown;

const first =
  (key: keyof Settings, change: object): Change =>
  (settings) => {
    const all = settings[key] as unknown as object[];
    return { ...settings, [key]: [{ ...all[0], ...change }, ...all.slice(1)] };
  };

/** By the id of a check: what is wrong with the settings, or the name of what is planted. */
const PLANTED: Readonly<Record<string, Change | string>> = {
  runtime: first('functions', { runtime: 'nodejs18.x' }),
  'recursion-settings': first('functions', { recursionAllowed: false }),
  visibility: first('queues', { visibilityS: 59 }),
  mappings: first('mappings', { enabled: false }),
  batches: first('mappings', { reportsItemFailures: false }),
  'dead-letter-queues': first('queues', { deadLetters: undefined }),
  indexes: (settings) => ({ ...settings, table: { ...settings.table, indexes: {} } }),
  'table-keeps': (settings) => ({ ...settings, table: { ...settings.table, recovery: false } }),
  rules: first('rules', { enabled: false }),
  'alarm-metrics': first('alarms', { metrics: ['Steadfast/Sweps'] }),
  'alarm-actions': first('alarms', { actions: 0 }),
  subscribers: (settings) => ({ ...settings, subscribers: 0 }),
  'log-settings': first('functions', { logFormat: 'Text' }),
  'nothing-doubled': 'effects-begun',
  'dies-before': 'effects-die-before',
  'dies-after': 'effects-die-after',
  'ticks-off': 'effects-die-after',
  'mapping-off': 'part',
  throttled: 'part',
  load: 'part',
  thaw: 'order',
  metrics: 'metric Started',
  sweeps: 'metric Sweeps',
  called: 'no {"level":"INFO","message":"called","executionId":"e"}',
  'execution-lines': 'no {"level":"INFO","message":"called","executionId":"e"}',
};

const run = async (check: Check, planted?: Change | string) => {
  const fake = new FakeDeployment();
  if (typeof planted === 'string') fake.planted.add(planted);
  const good = goodSettings();
  const settings = typeof planted === 'function' ? (planted(good) as Settings) : good;
  return check.run(fakePorts(fake, settings));
};

it.each(checks)('$id holds for a good deployment, and fails for a bad one', async (check) => {
  const good = await run(check);
  expect([good.ok, good.evidence]).toEqual([true, expect.any(String)]);
  const bad = await run(check, PLANTED[check.id] ?? check.id).catch(() => ({ ok: false, evidence: 'threw' }));
  expect(bad.ok).toBe(false);
  expect(bad.evidence).not.toBe('');
});

it('has one check or one reason for each row, and no row twice', () => {
  const ids = ENTRIES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ENTRIES.map(({ row }) => row)).size).toBe(ids.length);
  expect(Object.keys(PLANTED).filter((id) => !ids.includes(id))).toEqual([]);
});

it('says of a load what the table counted, and what that costs', async () => {
  const { evidence } = await run(checks.find(({ id }) => id === 'load') as Check);
  expect(evidence).toContain('a start took 14.0 write and 5.0 read units; ');
  expect(evidence).toContain('; 12 throttled');
});

it('takes a death that only the end of the lease has shown for one that was not seen', async () => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const get = async (id: string) => {
    fake.now += 61_000;
    return ports.api.get(id);
  };
  const api = { ...ports.api, get } as typeof ports.api;
  const check = checks.find(({ id }) => id === 'isolate') as Check;
  expect(await check.run({ ...ports, api })).toEqual({
    ok: false,
    evidence: 'only after 61000 ms: its lease had to end',
  });
});

it.each([
  ['ended badly', { status: 'failed' }],
  ['started twice', { twice: true }],
])('an event that %s while all was at rest is named', async (_, wrong) => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const putEvent = async (detail: string): Promise<void> => {
    await ports.probes.putEvent(detail);
    const { id } = JSON.parse(detail) as { id: string };
    const begun = fake.begin('verify-event', { id }, `event-${id}`);
    if (!id.endsWith('-0')) return;
    if ('twice' in wrong) fake.begin('verify-event', { id }, 'again');
    else begun.status = 'failed';
  };
  const check = checks.find(({ id }) => id === 'quiesce') as Check;
  const found = await check.run({ ...ports, probes: { ...ports.probes, putEvent } });
  const status = 'twice' in wrong ? 'succeeded succeeded' : 'failed';
  expect(found).toEqual({ ok: false, evidence: `executions of run-quiesce-0: ${status}, not succeeded` });
});

it('sees that functions still use the table that was restored', async () => {
  const found = await run(checks.find(({ id }) => id === 'restore') as Check, 'table');
  expect(found).toEqual({ ok: false, evidence: 'the table in use: State, not restored' });
});

it('restores the table while an execution is open, which acts afterwards', async () => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  let open = 0;
  const restoreTable = () => {
    open = [...fake.executions.values()].filter(({ status }) => status === 'waiting').length;
    return ports.deployment.restoreTable();
  };
  const check = checks.find(({ id }) => id === 'restore') as Check;
  const found = await check.run({ ...ports, deployment: { ...ports.deployment, restoreTable } });
  expect([found.ok, open]).toEqual([true, 1]);
  expect(found.evidence).toContain('verify-open.run-at-restore was open');
});

it('takes a start that is still throttled after the rest for no failure', async () => {
  const ports = fakePorts(new FakeDeployment());
  let refusals = 3;
  const start: typeof ports.api.start = async (...given) => {
    refusals -= 1;
    if (refusals > 0) throw new ApiError('throttled', 'too many requests', { status: 429 });
    return ports.api.start(...given);
  };
  const check = checks.find(({ id }) => id === 'quiesce') as Check;
  const found = await check.run({ ...ports, api: { ...ports.api, start } });
  expect([found.ok, refusals]).toEqual([true, 0]);
});

it('names the releases between which it went', async () => {
  const { evidence } = await run(checks.find(({ id }) => id === 'release-before') as Check);
  expect(evidence).toContain('to 1.0.0, and on to 2.0.0; ');
});

it('fails, and ends no process, where an event cannot be sent while the table is restored', async () => {
  const ports = fakePorts(new FakeDeployment());
  const unhandled: unknown[] = [];
  const keep = (error: unknown): unknown => unhandled.push(error);
  process.on('unhandledRejection', keep);
  try {
    const putEvent = () => Promise.reject(new Error('no connection'));
    // The event loop has its turns meanwhile, in which Node finds what nobody handles.
    const restoreTable = () =>
      new Promise<RestoredTable>((resolve) =>
        setImmediate(() => setImmediate(resolve, { name: '', used: [] })),
      );
    const check = checks.find(({ id }) => id === 'restore') as Check;
    const deployment = { ...ports.deployment, restoreTable };
    const found = check.run({ ...ports, deployment, probes: { ...ports.probes, putEvent } });
    await expect(found).rejects.toThrow('no connection');
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', keep);
  }
});

it.each(['event-trigger', 'message-trigger', 'quiesce'])(
  '%s: a second execution that comes later is seen',
  async (id) => {
    const fake = new FakeDeployment();
    const ports = fakePorts(fake);
    const sleep = async (ms: number): Promise<void> => {
      await ports.clock.sleep(ms);
      const [begun] = [...fake.executions.values()].filter(({ workflow }) => workflow === 'verify-event');
      if (begun !== undefined && ms === 10_000) fake.begin('verify-event', begun.input, 'later');
    };
    const check = checks.find((each) => each.id === id) as Check;
    const found = await check.run({ ...ports, clock: { ...ports.clock, sleep } });
    expect(found.ok).toBe(false);
  },
);

it('an end that is announced again later is seen', async () => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const sleep = async (): Promise<void> => {
    for (const [id, count] of fake.ends) fake.ends.set(id, count + 1);
  };
  const check = checks.find(({ id }) => id === 'end-once') as Check;
  expect((await check.run({ ...ports, clock: { ...ports.clock, sleep } })).ok).toBe(false);
});

it('takes no execution that an earlier run has seen for one of the schedule', async () => {
  const fake = new FakeDeployment();
  fake.begin('verify-event', { id: '2026-11-25T10:00:00Z' }, 'before').status = 'succeeded';
  fake.planted.add('schedule-trigger');
  const ports = fakePorts(fake);
  const list: typeof ports.api.list = async (options) =>
    options?.since === undefined ? ports.api.list(options) : ({ items: [] } as never);
  const check = checks.find(({ id }) => id === 'schedule-trigger') as Check;
  expect((await check.run({ ...ports, api: { ...ports.api, list } })).ok).toBe(false);
});

it.each([403, 429])('gives up a load whose starts get %i for good', async (status) => {
  const ports = fakePorts(new FakeDeployment());
  let starts = 0;
  const start = async () => {
    starts += 1;
    throw new ApiError('refused', `refused with ${status}`, { status });
  };
  const check = checks.find(({ id }) => id === 'load') as Check;
  const found = await check
    .run({ ...ports, api: { ...ports.api, start } })
    .catch((error: unknown) => ({ ok: false, evidence: String(error) }));
  expect(found.ok).toBe(false);
  expect(starts).toBeLessThan(10_000);
});

it.each(['supervisor-silent', 'canary-late'])('%s: breaks nothing where the alarm is raised', async (id) => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const alarms = { ...ports.alarms, state: async () => 'ALARM' };
  const check = checks.find((each) => each.id === id) as Check;
  const { evidence } = await check.run({ ...ports, alarms });
  expect([evidence, fake.faultCalls]).toEqual(['it is ALARM before anything is broken', []]);
});

it('takes no execution that it erased for a lost one', async () => {
  const ports = fakePorts(new FakeDeployment());
  for (const id of ['erase', 'nothing-doubled']) {
    const found = await checks.find((check) => check.id === id)?.run(ports);
    expect([id, found?.ok]).toEqual([id, true]);
  }
});

it('takes no dead letter for a loss that was survived', async () => {
  const found = await run(checks.find(({ id }) => id === 'throttled') as Check, 'dead-letters');
  expect(found).toEqual({ ok: false, evidence: 'dead letters: 1, not 0' });
});

it('acts twice, and the order’s check says so', async () => {
  const order = checks.find(({ id }) => id === 'order');
  const found = await run(order as Check, 'effects-lose-answer');
  expect(found).toEqual({
    ok: false,
    evidence: expect.stringContaining('effects of the second step: 2, not 1'),
  });
});

it.each([
  ['lost', 'gone'],
  ['stuck', 'verify-order.begun'],
])('an execution that is %s is named', async (what, id) => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const get = async (asked: string) => {
    if (asked === 'gone') throw new ApiError('unknown-execution', 'none', { status: 404 });
    return { executionId: asked, status: 'running' };
  };
  const api = { ...ports.api, get } as unknown as typeof ports.api;
  const check = checks.find((each) => each.id === 'nothing-doubled') as Check;
  const found = await check.run({ ...ports, api, begun: new Map([[id, 'verify-order']]) });
  expect(found).toEqual({ ok: false, evidence: `${id} ${what}` });
});

it('leaves alone what else is in the stack', async () => {
  const good = goodSettings();
  const [mapping] = good.mappings;
  const foreign = {
    mappings: [
      ...good.mappings,
      {
        ...mapping,
        id: 'theirs',
        function: 'their-function',
        queue: 'theirs',
        enabled: false,
        reportsItemFailures: false,
      },
    ],
    rules: [
      ...good.rules,
      {
        id: 'theirs',
        name: 'theirs',
        expression: 'rate(1 day)',
        enabled: false,
        targets: ['their-function'],
      },
    ],
    functions: [
      ...good.functions,
      {
        ...good.functions[0],
        name: 'their-function',
        runtime: 'python3.13',
        logFormat: 'Text',
        variables: {},
      },
    ],
  };
  for (const check of checks.filter(({ phase }) => phase === 'settings')) {
    const settings = { ...good, ...foreign } as Settings;
    expect([check.id, (await check.run(fakePorts(new FakeDeployment(), settings))).ok]).toEqual([
      check.id,
      true,
    ]);
  }
});
