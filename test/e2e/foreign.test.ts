/**
 * Runs the construct in a foreign CDK app without our feature flags: two constructs in one stack, with a bus
 * and a bucket from outside the stack. Each has its own API, table and agents, and gets no data of the other.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { intake } from './intake/workflow.ts';

const STACK = 'Shop';
const folder = mkdtempSync(join(tmpdir(), 'steadfast-foreign-'));
const denied: string[] = [];
let cloud: Cloud;

async function assembly(): Promise<string> {
  // `test/infra/foreign.test.ts` checks whether CloudFormation accepts such a template: it takes seconds.
  const app = new App({
    outdir: join(folder, 'cdk.out'),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, STACK);
  const workflows = await discoverWorkflows({ root: PROJECT_ROOT, folders: ['test/e2e'], only: ['intake'] });
  const eventBus = EventBus.fromEventBusName(stack, 'Bus', 'shop');
  const payments = new Steadfast(stack, 'Payments', { workflows, eventBus });
  const reports = new Steadfast(stack, 'Reports', { workflows });
  const uploads = Bucket.fromBucketName(stack, 'Uploads', 'acme-uploads');
  payments.triggerOnEvent({ source: ['shop'] }, intake, {
    eventBus,
    input: { what: '$.detail.sku', from: 'event' },
  });
  reports.triggerOnObjectCreated(uploads, intake, { input: { what: '$.detail.object.key', from: 'object' } });
  const outputs = Object.entries({ payments, reports }).map(
    ([name, { scheduler }]) => new CfnOutput(stack, `${name}Api`, { value: String(scheduler.gateway?.url) }),
  );
  expect(outputs).toHaveLength(2);
  return app.synth().directory;
}

beforeAll(async () => {
  cloud = await startCloud({
    assembly: await assembly(),
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: false,
    onDenied: ({ message }) => denied.push(message),
  });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The API address of one of the two. */
function apiOf(name: 'payments' | 'reports'): string {
  const found = Object.entries(cloud.outputs).find(([output]) => output === `${name}Api`);
  if (found === undefined) throw new Error(`no output of ${name} in ${JSON.stringify(cloud.outputs)}`);
  return found[1].replace(/\/$/, '');
}

interface Shown {
  readonly executionId: string;
  readonly status: string;
  readonly input: { readonly what: string };
}
const json = async <Answer>(url: string, init?: RequestInit): Promise<Answer> =>
  (await (await fetch(url, init)).json()) as Answer;

/** All executions behind one API, once each has ended. */
async function all(api: string): Promise<Shown[]> {
  const { items } = await json<{ items: Shown[] }>(`${api}/executions?workflow=intake`);
  return await Promise.all(
    items.map(({ executionId }) => json<Shown>(`${api}/executions/${executionId}?wait=20s`)),
  );
}
/** Waits until this many have ended. */
async function ended(api: string, count: number): Promise<string[]> {
  for (;;) {
    const shown = await all(api);
    if (shown.length >= count && shown.every(({ status }) => status === 'succeeded'))
      return shown.map(({ input }) => input.what).sort();
    await new Promise((next) => setTimeout(next, 50));
  }
}

test('each of two does what it was given, and nothing of the other’s', async () => {
  const [payments, reports] = [apiOf('payments'), apiOf('reports')];
  expect(payments).not.toBe(reports);
  const start = (api: string, what: string): Promise<Shown> =>
    json(`${api}/workflows/intake/executions`, {
      method: 'POST',
      body: JSON.stringify({ input: { what, from: 'message' }, idempotencyKey: 'the same in both' }),
    });
  const [one, other] = await Promise.all([start(payments, 'payment'), start(reports, 'report')]);
  expect(one.executionId).toBe(other.executionId);
  cloud.control.putEvent({ bus: 'shop', source: 'shop', detailType: 'Sold', detail: { sku: 'tea' } });
  expect((await fetch(`${cloud.gatewayUrl}/acme-uploads/a.csv`, { method: 'PUT', body: 'a' })).status).toBe(
    200,
  );
  expect(await ended(payments, 2)).toEqual(['payment', 'tea']);
  expect(await ended(reports, 2)).toEqual(['a.csv', 'report']);
  // The ends of one are on the given bus, those of the other on its own.
  const ends = cloud.control.events().filter(({ detailType }) => detailType === 'Steadfast Execution Ended');
  const buses = ends.map(({ bus }) => bus);
  expect(buses.filter((bus) => bus === 'shop')).toHaveLength(2);
  expect(new Set(buses).size).toBe(2);
  expect(denied).toEqual([]);
});
