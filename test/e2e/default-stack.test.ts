/**
 * The default stack of `cdk deploy` (`bin/app.ts`) without an outside world: a first order, and a week of its
 * triggers, fail once and then succeed.
 */

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/api/client.ts';
import { PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { appAssembly } from './assembly.ts';

const DAYS = 7;
const folder = mkdtempSync(join(tmpdir(), 'steadfast-default-'));
const denied: string[] = [];
let cloud: Cloud;

beforeAll(async () => {
  const assembly = join(folder, 'cdk.out');
  cpSync(await appAssembly(), assembly, { recursive: true });
  cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    port: 0,
    onDenied: ({ message }) => denied.push(message),
  });
});
afterAll(async () => {
  await cloud.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface View {
  readonly executionId: string;
  readonly status: string;
  readonly tags?: { readonly trigger?: string };
}

const EXAMPLE = JSON.parse(
  readFileSync(join(PROJECT_ROOT, 'examples/order-fulfilment/example-input.json'), 'utf8'),
) as Record<string, unknown>;

async function start(
  orderId: string,
  workflow = 'order-fulfilment',
  idempotencyKey = orderId,
): Promise<string> {
  const answer = await fetch(`${cloud.apiUrl}/workflows/${workflow}/executions`, {
    method: 'POST',
    body: JSON.stringify({ input: { ...EXAMPLE, orderId }, idempotencyKey }),
  });
  return ((await answer.json()) as View).executionId;
}

const ended = (executionId: string): Promise<View> =>
  createClient({ url: cloud.apiUrl }).waitForEnd(executionId);

async function why(executionId: string): Promise<string> {
  return (await fetch(`${cloud.apiUrl}/executions/${executionId}/why`)).text();
}

const executions = async (): Promise<View[]> =>
  ((await (await fetch(`${cloud.apiUrl}/executions?limit=100`)).json()) as { items: View[] }).items;

test('the first order by POST succeeds: the card’s answer is lost, asked for, and adopted', async () => {
  const id = await start('order-1');
  expect((await ended(id)).status).toBe('succeeded');
  const said = await why(id);
  expect(said).toContain('answered 502');
  // The other services answered at once: one attempt each.
  expect(said.match(/was answered \d+/g)?.every((one) => one === 'was answered 502')).toBe(true);
});

test('an order that the carrier declines is taken back', async () => {
  expect((await ended(await start('order-to-nowhere'))).status).toBe('compensated');
});

test('a preorder that is started twice is authorised and charged once', async () => {
  const client = createClient({ url: cloud.apiUrl });
  const ids = [
    await start('preorder', 'preorder', 'preorder-1'),
    await start('preorder', 'preorder', 'preorder-2'),
  ];
  const open = async (): Promise<string | undefined> => {
    const { steps } = await client.get(ids[0] ?? '');
    return steps.find(({ name, waitsUntil }) => name === 'release' && waitsUntil !== undefined)?.token;
  };
  let token = await open();
  for (; token === undefined; token = await open()) await new Promise((done) => setTimeout(done, 200));
  await client.completeCallback(token, { approved: true });
  const outputs = await Promise.all(ids.map(async (id) => (await client.waitForEnd(id)).output));
  expect(outputs).toEqual([
    { trackingNumber: expect.stringMatching(/^TRACK-/) },
    { trackingNumber: 'paid before' },
  ]);
});

test('a week of its triggers: each order succeeds', async () => {
  const before = new Set((await executions()).map(({ executionId }) => executionId));
  const schedule = cloud.control.schedules().find(({ expression }) => expression.startsWith('cron('));
  const bucket = cloud.control.buckets().find(({ logicalId }) => !logicalId.includes('Values'))?.name ?? '';
  for (let day = 1; day <= DAYS; day += 1) {
    await cloud.control.tick(schedule?.name ?? 'none');
    cloud.control.putEvent({
      source: 'shop',
      detailType: 'Cart Checked Out',
      detail: { ...EXAMPLE, orderId: `cart-${day}` },
    });
    await fetch(`${cloud.gatewayUrl}/${bucket}/harbour-${day}.jpg`, { method: 'PUT', body: 'a picture' });
    // Ticks are distinguished by their seconds.
    await new Promise((done) => setTimeout(done, 1_100));
  }
  const ofWeek = async (): Promise<View[]> =>
    (await executions()).filter(({ executionId }) => !before.has(executionId));
  while ((await ofWeek()).length < 3 * DAYS) await new Promise((done) => setTimeout(done, 200));
  // One after the other: a process of the scheduler waits for only one, and twenty would have to start.
  const ends: View[] = [];
  for (const { executionId } of await ofWeek()) ends.push(await ended(executionId));
  const count = (of: string): number => ends.filter(({ tags }) => tags?.trigger?.endsWith(of)).length;
  expect([count('-schedule'), count('-event'), count('-object-created')]).toEqual([DAYS, DAYS, DAYS]);
  expect(ends.filter(({ status }) => status !== 'succeeded')).toEqual([]);
});

test('nothing was refused, and every permission of the outside world was needed', () => {
  expect(denied).toEqual([]);
  const unused = cloud.control
    .permissions()
    .filter(
      ({ uses, who, resource }) => uses === 0 && (who.startsWith('World') || resource.includes('World')),
    );
  expect(unused.map(({ who, action }) => `${who}: ${action}`)).toEqual([]);
});
