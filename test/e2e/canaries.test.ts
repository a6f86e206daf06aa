/**
 * S17: no log line, metric, message, event or refusal contains input data. The test puts canary texts into
 * every input of the real functions, with logging at its most detailed.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { EventBus } from 'aws-cdk-lib/aws-events';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { canary } from './workflows/canary/workflow.ts';

const STACK = 'Canaries';
let folder: string;
let cloud: Cloud;
const lines: string[] = [];
const refusals: string[] = [];

/** Deploys with two inputs besides the API: messages, and events of a bus outside the stack. */
async function deploy(outdir: string): Promise<string> {
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['test/e2e/workflows'],
    only: ['canary'],
  });
  const stack = new SteadfastStack(app, STACK, { workflows });
  stack.steadfast.startQueue(canary, {
    idempotencyKey: '$.body.id',
    input: { secret: '$.body.secret', way: 'nothing-known' },
  });
  stack.steadfast.triggerOnEvent({ source: ['shop'] }, canary, {
    eventBus: EventBus.fromEventBusName(stack, 'Shop', 'shop'),
    input: { secret: { $concat: ['$.detail.secret', ' canary-in-a-mapping'] }, way: '$.detail.way' },
  });
  return app.synth().directory;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-canaries-'));
  cloud = await startCloud({
    assembly: await deploy(join(folder, 'cdk.out')),
    stack: STACK,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: true,
    environment: { POWERTOOLS_LOG_LEVEL: 'DEBUG' },
    onLog: ({ line }) => lines.push(line),
  });
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  // The test reads its fields; a missing one fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  // Like any client: on an overloaded machine functions run into their time limits.
  for (;;) {
    const answer = await askOnce(method, path, text, headers);
    if (answer.status < 500) return answer;
  }
}

async function askOnce(
  method: string,
  path: string,
  text: string | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(`${cloud.apiUrl}${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  if (response.status >= 400) refusals.push(answer);
  return { status: response.status, body: JSON.parse(answer) };
}

const WAYS = ['done', 'error', 'transient', 'permanent', 'bad-output', 'nothing-known'] as const;

const begin = async (way: string): Promise<string> => {
  const given = {
    input: { secret: 'canary-in-an-input', way },
    idempotencyKey: `canary-in-a-key-${way}`,
    tags: { tag: 'canary-in-a-tag' },
  };
  const { status, body } = await ask('POST', '/workflows/canary/executions', given);
  expect(status).toBe(202);
  return body.executionId;
};

/** Waits until the execution has ended, asks a person, or was tried and probed. */
async function stopped(id: string): Promise<ExecutionView> {
  for (;;) {
    const { body } = await ask('GET', `/executions/${id}`);
    const asks = /"status":"waiting"|"token":/.test(JSON.stringify(body));
    if (body.endedAt !== undefined || asks || body.steps[0].attempts.length >= 3) return body;
    await pause(100);
  }
}

const canariesIn = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => text.match(/canary-in-[a-z-]+/g) ?? [])),
];

/** Whether a queue is a trigger's: such queues contain the events unchanged. */
const isOfTrigger = (queue: string): boolean => queue.includes('Triggers');
function queueTexts(which: (queue: string) => boolean): string[] {
  const queues = join(folder, 'data', 'queues');
  const files = readdirSync(queues).filter(which);
  return files.map((file) => readFileSync(join(queues, file), 'utf8'));
}

/** All output of the system, except the table and the answers to permitted readers. */
const outgoing = (): Record<'lines' | 'refusals' | 'messages' | 'events', readonly string[]> => ({
  lines,
  refusals,
  messages: queueTexts((queue) => !isOfTrigger(queue)),
  events: cloud.control
    .events()
    .filter(({ source }) => source === 'steadfast')
    .map((event) => JSON.stringify(event)),
});
/**
 * Canaries that are allowed in log lines: the code and message of an agent's error are the author's words.
 */
const OF_AUTHORS = /^lines: canary-in-(?:a-code|an-error(?:-of-an?-[a-z]+)?)$/;
/** Canaries that are allowed in a question's event: the person needs the tags. */
const OF_QUESTIONS = /^events: canary-in-a-tag$/;
const found = (places: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(places)
    .flatMap(([place, texts]) => canariesIn(texts).map((it) => `${place}: ${it}`))
    .filter((it) => !OF_AUTHORS.test(it) && !OF_QUESTIONS.test(it));

it('no canary is found outside the table and the answers to authorised readers', async () => {
  for (const { name } of cloud.control.schedules()) cloud.control.tick(name).catch(() => undefined);
  const ids = await Promise.all(WAYS.map(begin));
  // One after the other: each simultaneous request needs a process of the scheduler.
  const views: ExecutionView[] = [];
  for (const id of ids) views.push(await stopped(id));
  // They did get in.
  expect(canariesIn(views.map((view) => JSON.stringify(view)))).toEqual(
    expect.arrayContaining(['canary-in-an-error']),
  );

  const token = /"token":"([^"]+)"/.exec(JSON.stringify(views[0]))?.[1] ?? '';
  expect(token).not.toBe('');
  const secret = token.split('.').at(-1) as string;
  const callback = `/callbacks/${token}`;
  await ask('POST', `${callback}/complete`, { output: { secret: 5, other: 'canary-in-a-refused-output' } });
  await ask('POST', `${callback}/fail`, { code: 'canary in a refused code', message: 'canary-in-a-message' });
  await ask('POST', `${callback}/complet`, {});
  await ask('POST', `/callbacks/${token}0/complete`, { output: { secret: 'canary-in-a-wrong-token' } });
  expect((await ask('POST', `${callback}/heartbeat`)).status).toBe(200);
  expect(
    (await ask('POST', `${callback}/complete`, { output: { secret: 'canary-in-a-callback' } })).status,
  ).toBe(200);
  await ask('POST', `${callback}/complete`, { output: { secret: 'canary-in-a-second-answer' } });

  const start = '/workflows/canary/executions';
  await ask('POST', start, { input: { secret: 7, way: 'canary-in-an-enum' } });
  await ask('POST', start, {
    input: { secret: 'canary-in-an-input', way: 'done' },
    idempotencyKey: 'canary-in-a-key-error',
  });
  await ask('POST', start, '{"input":{"secret":"canary-in-broken-json"');
  await ask('POST', start, { input: {}, tags: { tag: `canary-in-a-long-tag${'x'.repeat(300)}` } });
  await ask('POST', start, { input: {} }, { 'idempotency-key': `canary-in-a-header${'x'.repeat(300)}` });
  await ask('POST', `/executions/${ids[1]}/cancel`, {
    reason: 'canary-in-a-reason',
    commandId: 'canary-in-a-command',
  });
  await ask('GET', `/executions?cursor=canary-in-a-cursor`);
  await Promise.all(ids.slice(0, 1).map((id) => ask('GET', `/executions/${id}?wait=20s`)));
  for (const path of ['/executions?workflow=canary', '/incidents', '/agents', '/health'])
    await ask('GET', path);

  const [logged] = lines
    .filter((line) => line.includes('"keeping"'))
    .map((line) => JSON.parse(line) as object);
  expect(logged).toMatchObject({
    level: 'INFO',
    role: 'agent',
    agent: 'keep-secret',
    executionId: expect.any(String),
    step: 'kept',
    attempt: 1,
    mode: 'execute',
    way: expect.any(String),
    correlation_id: (logged as { readonly executionId: string }).executionId,
    function_request_id: expect.any(String),
    xray_trace_id: expect.any(String),
  });
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.find((line) => line.includes('"step-unknown"'))).toMatch(
    /"level":"WARN".*"code":"canary-in-a-code"/,
  );
  expect(lines.some((line) => line.includes('"_aws"'))).toBe(true);
  expect(refusals.length).toBeGreaterThan(9);
  expect(cloud.control.events().length).toBeGreaterThan(0);
  const places = outgoing();
  expect(places.messages.join('')).toContain('kept');
  expect(found(places)).toEqual([]);
  for (const texts of Object.values(places))
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

const queueOf = (trigger: string, part: 'Queue' | 'DeadLetterQueue'): string => {
  const path = `${STACK}/Steadfast/Triggers/${trigger}/${part}/Resource`;
  for (const { metadata, ref, physicalName } of cloud.resources.values())
    if (metadata['aws:cdk:path'] === path) return part === 'Queue' ? physicalName : ref;
  throw new Error(`no queue at ${path}`);
};
/** Waits for this many such lines of a trigger's function. */
async function said(what: string, times: number): Promise<void> {
  while (lines.filter((line) => line.includes(what) && line.includes('"starter"')).length < times)
    await pause(50);
}

it('nor from starts by triggers, accepted or refused', async () => {
  const { control } = cloud;
  const bodies = [
    { id: 'canary-in-a-message-id', secret: 'canary-in-a-message' },
    // Another input has used this id already.
    { id: 'canary-in-a-message-id', secret: 'canary-in-another-message' },
    { id: { it: 'canary-in-a-bad-id' }, secret: 'canary-in-a-message' },
    { id: 'canary-in-a-second-id', secret: ['canary-in-a-list'] },
    'canary-in-no-json',
  ];
  const toQueue = queueOf('canary-queue', 'Queue');
  control.send(toQueue, JSON.stringify(bodies[0]));
  const sell = (detail: Record<string, string>): void =>
    void control.putEvent({ bus: 'shop', source: 'shop', detailType: 'Sold', detail });
  sell({ secret: 'canary-in-an-event', way: 'error' });
  sell({ secret: 'canary-in-a-bad-event', way: 'canary-in-a-way' });
  const started = async (): Promise<readonly { readonly executionId: string }[]> =>
    (await ask('GET', '/executions?workflow=canary')).body.items;
  const before = WAYS.length;
  while ((await started()).length < before + 2) await pause(50);
  for (const body of bodies.slice(1))
    control.send(toQueue, typeof body === 'string' ? body : JSON.stringify(body));
  await said('start-refused', 5);
  control.throttle('Triggerscanaryqueue', { calls: 20, operation: 'PutItem' });
  control.send(toQueue, JSON.stringify({ id: 'canary-in-a-late-id', secret: 'canary-in-a-late-message' }));
  await said('start-given-back', 1);

  // They did get in, and refused ones are kept unchanged, with a reason that repeats none of their text.
  expect(canariesIn(queueTexts(isOfTrigger))).toEqual(
    expect.arrayContaining(['canary-in-an-event', 'canary-in-no-json', 'canary-in-a-late-message']),
  );
  // Their agent fails every request, so its breaker may defer them: only their inputs are checked.
  const views = await Promise.all(
    (await started()).map(async ({ executionId }) => (await ask('GET', `/executions/${executionId}`)).body),
  );
  expect(canariesIn(views.map((view) => JSON.stringify(view.input)))).toEqual(
    expect.arrayContaining(['canary-in-a-message', 'canary-in-an-event', 'canary-in-a-mapping']),
  );
  const reasons = [...(await reasonsAt('canary-queue')), ...(await reasonsAt('canary-event'))];
  expect(reasons).toHaveLength(5);
  for (const reason of reasons) expect(reason).toContain('steadfast.reason');
  expect(found({ ...outgoing(), reasons })).toEqual([]);
});

/** The reasons of messages that a trigger has set aside. */
async function reasonsAt(trigger: string): Promise<string[]> {
  const client = new SQSClient({
    endpoint: cloud.gatewayUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'hand', secretAccessKey: 'x' },
  });
  const ask10 = new ReceiveMessageCommand({
    QueueUrl: queueOf(trigger, 'DeadLetterQueue'),
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(ask10);
  client.destroy();
  return Messages.map(({ MessageAttributes }) => JSON.stringify(MessageAttributes));
}
