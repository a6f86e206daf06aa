/** `startCloud` of `steadfast/testing`: a user's test on real processes. */

import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';
import type { orderFulfilment } from '../../examples/order-fulfilment/workflow.ts';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';
import { exampleAssembly } from './assembly.ts';
import { order, setTimes } from './stage.ts';

type Workflows = { 'order-fulfilment': typeof orderFulfilment };
type Order = Parameters<LocalCloud<Workflows>['client']['start']>[1]['input'];

const NAME = 'order-fulfilment';
let folder: string;
let cloud: LocalCloud<Workflows>;
let said = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-start-cloud-'));
  const assembly = join(folder, 'cdk.out');
  cpSync(await exampleAssembly(), assembly, { recursive: true });
  setTimes(assembly, { agentTimeoutS: 6 });
  cloud = await startCloud<Workflows>({
    project: PACKAGE_ROOT,
    assembly,
    only: [NAME],
    say: (text) => {
      said += text;
    },
  });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (orderId: string): Promise<string> =>
  (await cloud.client.start(NAME, { input: order(orderId) as Order, idempotencyKey: orderId })).executionId;

interface Entry {
  readonly kind: string;
  readonly orderId?: string;
}
/** Reads the ledger of the outside world (`dev.ts`), which has its own process. */
async function done(orderId: string): Promise<string[]> {
  const answer = await fetch(`${cloud.environment['WORLD_URL']}/ledger`);
  const { entries } = (await answer.json()) as { entries: readonly Entry[] };
  return entries.filter((entry) => entry.orderId === orderId).map(({ kind }) => kind);
}

test('it runs the functions of the assembly, and the dev.ts beside them', () => {
  expect(said).toContain('Starting the local cloud');
  const names = cloud.functions().map(({ logicalId }) => logicalId);
  expect(names).toEqual(expect.arrayContaining([expect.stringContaining('Agentschargecard')]));
  expect(cloud.environment['WORLD_URL']).toMatch(/^http:/);
});

test('an agent that is killed when it has claimed its step is followed by another', async () => {
  const { hit } = cloud.kill('charge-card', { afterCall: 1, operation: 'PutItem' });
  const end = await cloud.client.waitForEnd(await start('killed'));
  expect(await hit).toMatchObject({ outcome: 'hit', pids: [expect.any(Number)] });
  expect(end.status).toBe('succeeded');
  expect(end.steps.find(({ name }) => name === 'charge')?.attempts.length).toBeGreaterThan(1);
  expect((await done('killed')).filter((kind) => kind === 'charge')).toHaveLength(1);
});

test('Prometheus reads what its functions have measured', async () => {
  await cloud.client.waitForEnd(await start('measured'));
  const read = async (): Promise<string> => (await fetch(`${cloud.url}/metrics`)).text();
  // A function writes its line after its answer.
  while (!/^steadfast_attempts_total\{deployment="[^"]+",role="agent"[^}]*\} [1-9]/m.test(await read()));
  expect(await read()).toContain('# TYPE steadfast_steps_done_total counter');
});

test('answers that AWS loses and calls that it refuses change nothing of the end', async () => {
  cloud.loseReply('reserve-stock', { calls: 2 });
  const refused = cloud.throttle('schedule-shipping', { calls: 2 });
  expect((await cloud.client.waitForEnd(await start('unanswered'))).status).toBe('succeeded');
  expect((await refused.hit).outcome).toBe('hit');
  expect(await done('unanswered')).toEqual(
    expect.arrayContaining(['charge', 'reservation', 'shipment', 'mail']),
  );
});

test('kills at random moments are counted, by whom they hit', async () => {
  const kills = cloud.killAtRandom({ seed: 7, everyMs: 500, functions: ['charge-card', 'reserve-stock'] });
  const statuses: string[] = [];
  // On a busy machine the first few may meet none.
  while (kills.count() === 0) {
    const names = ['one', 'two', 'three'].map((name) => `${name}-${statuses.length}`);
    const ids = await Promise.all(names.map(start));
    const ends = Promise.all(ids.map((id) => cloud.client.waitForEnd(id)));
    // On a slow machine an attempt takes longer than the interval between kills: the first one is enough.
    const hit = setInterval(() => kills.count() > 0 && kills.stop(), 20);
    statuses.push(...(await ends.finally(() => clearInterval(hit))).map(({ status }) => status));
  }
  expect([...new Set(statuses)]).toEqual(['succeeded']);
  const sum = Object.values(kills.byFunction()).reduce((total, count) => total + count, 0);
  expect(sum).toBe(kills.count());
  expect(sum).toBeGreaterThan(0);
});

test('forty callers that wait leave the API to all others', async () => {
  const ask = async (path: string, method = 'GET'): Promise<{ status?: string }> =>
    (await (await fetch(`${cloud.url}${path}`, { method, body: method === 'GET' ? null : '{}' })).json()) as {
      status?: string;
    };
  const id = await start('awaited');
  await ask(`/executions/${id}/pause`, 'POST');
  const answered: string[] = [];
  const waits = Array.from({ length: 40 }, async () => {
    // On a busy machine a wait may end, by its own time or the API's, before the execution has ended.
    let status = '';
    while (!/^(paus|canceled|compensated)/.test(status))
      ({ status = '' } = await ask(`/executions/${id}?wait=20s`));
    answered.push(status);
  });
  const others = [ask('/health'), start('beside'), ...waits];
  for (let left = 37; left > 0; left -= 1) void others.splice(await first(others), 1);
  expect(answered).toEqual(Array.from({ length: 35 }, () => expect.stringMatching(/^paus/)));
  expect(await cloud.client.cancel(id as never)).toMatchObject({ executionId: id });
  await Promise.all(waits);
  expect(answered.slice(35)).toEqual(
    Array.from({ length: 5 }, () => expect.stringMatching(/^(canceled|compensated)$/)),
  );
});

/** The index of the promise that settles first. */
const first = (waiting: readonly Promise<unknown>[]): Promise<number> =>
  Promise.race(waiting.map((one, at) => one.then(() => at)));

test('a name that nothing has is refused with those there are', () => {
  expect(() => cloud.kill('chargecart')).toThrow(
    /no function is called "chargecart"; there are: .*chargecard/,
  );
});

test('when it is stopped, its folder is gone, and its API is not there', async () => {
  await cloud.stop();
  expect(existsSync(cloud.folder)).toBe(false);
  await expect(fetch(`${cloud.url}/health`)).rejects.toThrow();
  await cloud.stop();
});
