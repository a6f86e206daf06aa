/**
 * Builds an environment with the deployed handlers, in a cloud of its own; a failure must leave nothing
 * there.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  crashEverywhere,
  type WorldEffect,
  type TestRun,
  testWorkflow,
  type WorkflowTest,
} from 'steadfast/testing';
import type { RuleInput } from '../world/behaviour.ts';
import { startWorld, type World } from '../world/server.ts';
import { handler as site } from './agents/check-site.ts';
import { handler as name } from './agents/claim-name.ts';
import { handler as part } from './agents/create-network-part.ts';
import { handler as resource } from './agents/create-resource.ts';
import { createResource } from './contracts.ts';
import { buildRegion, cloudProvisioning, type Order } from './workflow.ts';
import { type CloudEntry, DEEDS, standing } from './world.ts';

const agents = [part, resource, name, site];
/** North and south have room; east and west have none. */
const NORTH: Order = {
  environment: 'shop',
  region: 'north',
  otherwise: 'south',
  machines: 4,
  replica: false,
};
const EAST: Order = { ...NORTH, region: 'east' };
const NOWHERE: Order = { ...EAST, otherwise: 'west' };
/** The number of runs with a fault, at evenly spaced points; set `CRASH_RUNS=200` for more. */
const RUNS = Number(process.env['CRASH_RUNS'] ?? 16);

let folder: string;
let world: World;
let clouds = 0;
/** Starts with an empty cloud. */
async function begin(): Promise<void> {
  clouds += 1;
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, `${clouds}.jsonl`) });
  process.env['CLOUD_URL'] = world.url;
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cloud-'));
  await begin();
});
afterEach(async () => {
  delete process.env['CLOUD_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const behave = (rule: RuleInput): Promise<unknown> =>
  fetch(`${world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) });

const ledger = (): readonly CloudEntry[] => [...world.ledger] as readonly CloudEntry[];

/** How many resources exist, by region. */
async function standingByRegion(): Promise<Record<string, number>> {
  const count: Record<string, number> = {};
  for (const { region = '' } of standing(ledger())) count[region] = (count[region] ?? 0) + 1;
  return count;
}

/** The resources that were created, and how often each was removed. */
function effects(): readonly WorldEffect[] {
  const entries = ledger();
  return entries
    .filter(({ kind }) => ['part', 'resource', 'disk', 'name'].includes(kind))
    .map(({ id, kind, reference }) => ({
      key: reference,
      kind,
      undone: entries.filter(({ of, kind: other }) => of === id && other !== 'repeat').length,
    }));
}

const ended = async (order: Order): Promise<Awaited<ReturnType<TestRun['waitForEnd']>>> =>
  (await testWorkflow(cloudProvisioning, { agents }).start(order)).waitForEnd();

test('a region takes 18 steps, of which no more than its plan says wait for each other', () => {
  const { steps } = buildRegion.plan;
  expect(steps).toHaveLength(18);
  expect(steps.filter(({ after }) => after.length === 0).map((step) => step.name)).toEqual([
    'network',
    'address',
    'bucket',
    'certificate',
  ]);
});

test('an environment is built where it is wanted', async () => {
  expect(await ended({ ...NORTH, replica: true })).toMatchObject({
    status: 'succeeded',
    output: { region: 'north' },
  });
  // 17 and the disks of five: database, replica, cache, two pools.
  expect(await standingByRegion()).toEqual({ north: 22 });
});

test('a database is accepted first, and its one attempt holds no process until it is ready', async () => {
  const trial = testWorkflow(cloudProvisioning, { agents });
  const startedAt = trial.now();
  expect((await (await trial.start(NORTH)).waitForEnd()).status).toBe('succeeded');
  const calls = trial.calls(createResource).filter(({ step }) => step.endsWith('database'));
  expect(calls.map(({ on }) => on)).toEqual(['execute', 'probe', 'probe']);
  expect(trial.now() - startedAt).toBeGreaterThan(10_000);
});

test('what is not asked for is not built', async () => {
  await ended(NORTH);
  expect(standing(ledger()).some(({ type }) => type === 'replica')).toBe(false);
  expect(await standingByRegion()).toEqual({ north: 20 });
});

test('a region that is full is given up at once, and built elsewhere, never in two at once', async () => {
  expect(await ended(EAST)).toMatchObject({ status: 'succeeded', output: { region: 'south' } });
  expect(await standingByRegion()).toEqual({ south: 20 });
  const entries = ledger();
  const networks = entries.filter(({ kind, type }) => kind === 'part' && type === 'network');
  expect(networks.map(({ region }) => region)).toEqual(['east', 'south']);
  const moments = entries.map((_, at) => standing(entries.slice(0, at + 1)));
  expect(moments.filter((one) => new Set(one.map(({ region }) => region)).size > 1)).toEqual([]);
});

test('an environment for which no region has room leaves nothing, disks and names included', async () => {
  expect((await ended(NOWHERE)).status).toBe('compensated');
  expect(await standingByRegion()).toEqual({});
  const entries = ledger();
  expect(entries.filter(({ kind }) => kind === 'disk').length).toBeGreaterThan(0);
});

test('two machines are not made of one request whose answer is lost, and both would be removed', async () => {
  await behave({ service: 'compute', mode: 'drop-reply', times: 8 });
  expect((await ended(NORTH)).status).toBe('succeeded');
  expect(await standingByRegion()).toEqual({ north: 20 });
});

test('a removal that is refused, away or not answered is made again', async () => {
  const removal = { match: { action: 'delete' } } as const;
  await behave({ service: 'compute', mode: 'unavailable', times: 3, ...removal });
  await behave({ service: 'network', mode: 'drop-reply', times: 3, ...removal });
  await behave({ service: 'network', mode: 'decline', times: 2, ...removal });
  expect((await ended(NOWHERE)).status).toBe('compensated');
  expect(await standingByRegion()).toEqual({});
});

test('one that is canceled half-way leaves nothing', async () => {
  const trial = testWorkflow(cloudProvisioning, { agents });
  trial.delay(createResource, { by: '10s', step: 'cluster' });
  const run = await trial.start(NORTH);
  await trial.skip('5s');
  await run.cancel('the project is off');
  expect((await run.waitForEnd()).status).toBe('canceled');
  expect(await standingByRegion()).toEqual({});
});

describe('a fault at any point loses and doubles nothing', () => {
  /** Each run gets a cloud of its own. */
  const scenario = async (trial: WorkflowTest<Order>, order: Order): Promise<TestRun> => {
    await world.stop();
    await begin();
    return trial.start(order);
  };

  test('of an environment that is built', async () => {
    const options = { input: NORTH, agents, effects, scenario, maxRuns: RUNS };
    const report = await crashEverywhere(cloudProvisioning, options);
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('of one that is given up in one region and built in another', async () => {
    const options = { input: EAST, agents, effects, scenario, maxRuns: RUNS / 2 };
    const report = await crashEverywhere(cloudProvisioning, options);
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('of one for which there is room nowhere', async () => {
    const options = { input: NOWHERE, agents, effects, scenario, maxRuns: RUNS / 2 };
    const report = await crashEverywhere(cloudProvisioning, options);
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
    expect(await standingByRegion()).toEqual({});
  });
});
