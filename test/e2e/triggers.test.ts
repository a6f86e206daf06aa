/**
 * All triggers on the local cloud, from the deployed template: each event is delivered twice and starts one
 * execution. An event that cannot start one is set aside with its reason, and the alarm measures its queue.
 */

import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import type { Json } from '../../local/template/json.ts';
import { linesOf, namerOf, resolved } from '../infra/named-permissions.ts';
import { TRIGGER_MAY_BE_IDLE } from '../infra/permissions.ts';
import { intake } from './intake/workflow.ts';
import { policyActions, unnoticed } from './policy-changes.ts';

const STACK = 'Intake';
const SECRET = 'of-both-sides';
const folder = mkdtempSync(join(tmpdir(), 'steadfast-triggers-'));
const onDenied: string[] = [];
let cloud: Cloud;

/** Synthesises a stack whose schedule and queue are declared beside the workflow. */
async function assembly(): Promise<string> {
  const outdir = join(folder, 'cdk.out');
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({ root: PROJECT_ROOT, folders: ['test/e2e'], only: ['intake'] });
  const stack = new SteadfastStack(app, STACK, { workflows });
  const { steadfast } = stack;
  steadfast.triggerOnObjectCreated(new Bucket(stack, 'Uploads'), intake, {
    prefix: 'in/',
    input: { what: '$.detail.object.key', from: 'object' },
  });
  // A bus outside this stack.
  const eventBus = EventBus.fromEventBusName(stack, 'Shop', 'shop');
  steadfast.triggerOnEvent({ source: ['shop'] }, intake, {
    eventBus,
    input: { what: '$.detail.sku', from: 'event' },
  });
  return app.synth().directory;
}

beforeAll(async () => {
  cloud = await startCloud({
    assembly: await assembly(),
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    schedules: false,
    environment: { INTAKE_SECRET: SECRET },
    onDenied: ({ message }) => onDenied.push(message),
  });
});
afterAll(async () => {
  await cloud.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly executionId: string;
  readonly status: string;
}
const executions = async (): Promise<readonly Started[]> =>
  ((await (await fetch(`${cloud.apiUrl}/executions?workflow=intake`)).json()) as { items: Started[] }).items;
interface Shown {
  readonly input: { readonly what: string; readonly from: string };
  readonly tags: { readonly trigger: string };
  readonly status: string;
}
async function ended(executionId: string): Promise<Shown> {
  const answer = await fetch(`${cloud.apiUrl}/executions/${executionId}?wait=20s`);
  return (await answer.json()) as Shown;
}

const queueOf = (trigger: string, part: 'Queue' | 'DeadLetterQueue'): string => {
  const path = `${STACK}/Steadfast/Triggers/${trigger}/${part}/Resource`;
  for (const { metadata, physicalName } of cloud.resources.values())
    if (metadata['aws:cdk:path'] === path) return physicalName;
  throw new Error(`no queue at ${path}`);
};
const quiet = async (): Promise<void> => {
  const busy = (): boolean => cloud.control.queues().some((one) => one.inFlight + one.delayed > 0);
  const waiting = (): boolean =>
    cloud.control.queues().some(({ name, visible }) => !name.includes('DeadLetter') && visible > 0);
  do await new Promise((done) => setTimeout(done, 100));
  while (busy() || waiting());
};

/** For each source, sends an event. @returns its text, for a redelivery */
const DELIVERIES: Readonly<Record<string, () => Promise<string>>> = {
  'intake-object-created': async () => {
    await fetch(`${cloud.gatewayUrl}/${uploads()}/in/ada.csv`, { method: 'PUT', body: 'a,b' });
    await fetch(`${cloud.gatewayUrl}/${uploads()}/elsewhere.csv`, { method: 'PUT', body: 'a,b' });
    return asDelivered(lastEvent('Object Created', 'in/ada.csv'));
  },
  'intake-event': async () => {
    cloud.control.putEvent({ bus: 'shop', source: 'shop', detailType: 'Sold', detail: { sku: 'tea' } });
    return asDelivered(lastEvent('Sold', 'tea'));
  },
  'intake-schedule': async () => {
    await cloud.control.tick('schedule');
    const tickedAt = cloud.control.schedules().find(({ name }) => name.includes('Schedule'))?.lastTickAt ?? 0;
    const time = new Date(tickedAt).toISOString().replace(/\.\d+Z$/, 'Z');
    return JSON.stringify({ time, schedule: 'any' });
  },
  'intake-queue': async () => {
    const body = JSON.stringify({ id: 'm-1' });
    cloud.control.send(queueOf('intake-queue', 'Queue'), body);
    return body;
  },
  'intake-webhook': async () => {
    const body = JSON.stringify({ sku: 'Tée' });
    for (let n = 0; n < 5; n += 1)
      expect((await post(body, { at: Date.now() - n * 1_000 })).status).toBe(200);
    return body;
  },
};
/** Posts a request with its sender's signature. */
function post(body: string, { at = Date.now(), path = '/webhooks/intake-webhook', method = 'POST' } = {}) {
  const time = Math.floor(at / 1_000);
  const signature = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex');
  const headers = { 'x-signature': `t=${time},v1=${signature}`, 'content-type': 'application/json' };
  return fetch(`${cloud.apiUrl}${path}`, { method, headers, ...(method === 'GET' ? {} : { body }) });
}
const uploads = (): string =>
  cloud.control.buckets().find(({ logicalId }) => !logicalId.includes('Values'))?.name ?? '';
const lastEvent = (detailType: string, text: string) =>
  cloud.control
    .events()
    .find((one) => one.detailType === detailType && JSON.stringify(one.detail).includes(text));
const asDelivered = (event: ReturnType<typeof lastEvent>): string =>
  JSON.stringify({ id: event?.id, source: event?.source, detail: event?.detail });

test.each(Object.keys(DELIVERIES))(
  '%s: an event that is delivered twice starts one execution',
  async (trigger) => {
    const before = await executions();
    const again = await DELIVERIES[trigger]!();
    await quiet();
    cloud.control.send(queueOf(trigger, 'Queue'), again);
    await quiet();
    const known = before.map(({ executionId }) => executionId);
    const started = (await executions()).filter(({ executionId }) => !known.includes(executionId));
    expect(started).toHaveLength(1);
    const shown = await ended(started[0]!.executionId);
    expect(shown).toMatchObject({ status: 'succeeded', tags: { trigger } });
    expect(trigger).toContain(shown.input.from === 'message' ? 'queue' : shown.input.from);
    expect(cloud.control.peek(queueOf(trigger, 'DeadLetterQueue'))).toEqual([]);
  },
);

test.each<[string, string, string]>([
  ['intake-event', JSON.stringify({ id: 'e-9', detail: {} }), 'an input that does not fit'],
  ['intake-event', JSON.stringify({ detail: { sku: 'tea' } }), 'no key'],
  ['intake-object-created', JSON.stringify({ detail: { object: {} } }), 'an event of something else'],
  ['intake-schedule', '{}', 'no time'],
  ['intake-queue', 'hello', 'no JSON'],
  ['intake-webhook', 'sku=tea', 'no JSON, though it was signed'],
  ['intake-queue', JSON.stringify({ id: { $ref: 'input' } }), 'a key that is none'],
])('%s: what starts nothing (%s) is set aside as it came', async (trigger, body) => {
  const dead = queueOf(trigger, 'DeadLetterQueue');
  cloud.control.purge(dead);
  const before = (await executions()).length;
  cloud.control.send(queueOf(trigger, 'Queue'), body);
  await quiet();
  expect(cloud.control.peek(dead).map((message) => message.body)).toEqual([body]);
  expect(await executions()).toHaveLength(before);
});

test('what is forged reaches no queue, and gets one answer', async () => {
  cloud.control.purge(queueOf('intake-webhook', 'DeadLetterQueue'));
  const before = (await executions()).length;
  const body = JSON.stringify({ sku: 'salt' });
  const answers = [
    await post(body, { at: Date.now() - 600_000 }),
    await post(body, { path: '/webhooks/intake-hook' }),
    await fetch(`${cloud.apiUrl}/webhooks/intake-webhook`, { method: 'POST', body }),
  ];
  const said = await Promise.all(answers.map(async (one) => `${one.status} ${await one.text()}`));
  expect(new Set(said).size).toBe(1);
  expect(said[0]).toMatch(/^401 .*forbidden/);
  // No route of its own: it is answered as every path that there is not.
  expect((await post(body, { method: 'GET' })).status).toBe(404);
  expect((await post(JSON.stringify({ sku: 'x'.repeat(250_000) }))).status).toBe(413);
  await quiet();
  expect(cloud.control.peek(queueOf('intake-webhook', 'DeadLetterQueue'))).toEqual([]);
  expect(await executions()).toHaveLength(before);
});

test('the alarm reads the queue where it is', () => {
  const alarms = [...cloud.resources.values()].filter(({ type }) => type === 'AWS::CloudWatch::Alarm');
  const template = readTemplate();
  const idOf = (name: string): string =>
    [...cloud.resources.values()].find(({ physicalName }) => physicalName === name)?.logicalId ?? '';
  const dead = idOf(queueOf('intake-event', 'DeadLetterQueue'));
  expect(JSON.stringify(template)).toContain(dead);
  const watching = alarms.filter(({ properties }) =>
    JSON.stringify(properties['Dimensions'])?.includes(dead),
  );
  expect(watching.map(({ properties }) => [properties['MetricName'], properties['Threshold']])).toEqual([
    ['ApproximateNumberOfMessagesVisible', 1],
  ]);
});

test('a table that is away loses no start', async () => {
  const before = (await executions()).length;
  cloud.control.throttle('Triggersintakequeue', { calls: 20, operation: 'PutItem' });
  cloud.control.send(queueOf('intake-queue', 'Queue'), JSON.stringify({ id: 'later' }));
  const given = async (): Promise<boolean> =>
    (cloud.control.peek(queueOf('intake-queue', 'Queue'))[0]?.receiveCount ?? 0) > 0;
  while (!(await given())) await new Promise((done) => setTimeout(done, 50));
  await new Promise((done) => setTimeout(done, 2_000));
  expect(
    cloud.control.peek(queueOf('intake-queue', 'DeadLetterQueue')).map(({ body }) => body),
  ).not.toContain('{"id":"later"}');
  expect(await executions()).toHaveLength(before);
  expect(cloud.control.peek(queueOf('intake-queue', 'Queue'))).toHaveLength(1);
});

const SOURCES = {
  'intake-object-created': { source: 'rule' },
  'intake-event': { source: 'rule' },
  'intake-schedule': { source: 'schedule' },
  'intake-queue': { source: 'none' },
  'intake-webhook': { source: 'none' },
} as const;
const WEBHOOKS_MAY_BE_IDLE = [
  {
    who: 'webhooks',
    actions: ['ssm:GetParameter'],
    on: 'arn:aws:ssm:us-east-1:000000000000:parameter/intake/secret',
    because: 'the environment has the secret here',
  },
];
const readTemplate = (): Json =>
  JSON.parse(readFileSync(join(folder, 'cdk.out', `${STACK}.template.json`), 'utf8')) as Json;

test('nothing was refused, and what was not needed is argued', () => {
  expect(onDenied).toEqual([]);
  const nameOf = namerOf(resolved(readTemplate(), STACK));
  const triggers = Object.keys(DELIVERIES);
  const idle = cloud.control
    .permissions()
    .filter(({ uses }) => uses === 0)
    .map(nameOf)
    .filter((line) => triggers.some((trigger) => line.includes(trigger)));
  // Which of them calls a supervisor is a race; all others either need it or do not.
  const isSettled = (line: string): boolean => !line.endsWith('on wake bus');
  const argued = linesOf(TRIGGER_MAY_BE_IDLE(SOURCES), {});
  expect([...new Set(idle)].filter(isSettled).sort()).toEqual(argued.filter(isSettled));
  expect(argued).toEqual(expect.arrayContaining(idle));
});

test('without any one action of any policy of a trigger, all this would have been refused by name', () => {
  const template = readTemplate();
  const ofTriggers = policyActions(template).filter(
    ({ place, effect }) => effect === 'Allow' && /Triggers|Webhooks/.test(place),
  );
  expect(ofTriggers.length).toBeGreaterThan(40);
  const requests = cloud.control.accessRequests();
  const mayBeIdle = [...TRIGGER_MAY_BE_IDLE(SOURCES), ...WEBHOOKS_MAY_BE_IDLE];
  expect(unnoticed(ofTriggers, { template, stackName: STACK, requests, mayBeIdle })).toEqual([]);
});
