/**
 * Ten service calls of public Step Functions definitions, each made by an agent without code: AWS gets the
 * same request. Read at step-functions-workflows-collection 83bbec48.
 */

import * as z from 'zod/mini';
import { perform } from '../../lib/agent/author-code.ts';
import { httpAgent, invoke, publish, type PublishOptions, required } from '../../lib/index.ts';
import { read } from '../snippets/blocks.ts';
import { type Asked, gives, type Service, startService } from './service.ts';

const URL = { env: 'CALLS_URL' };
const Any = z.any();
type Given = Readonly<Record<string, string>>;
const input = z.record(z.string(), z.string()) as z.ZodMiniType<Given>;
const message = (to: PublishOptions<Given>['to'], said: PublishOptions<Given>['message']) =>
  publish('message', { input, effect: 'idempotent', to, message: said });
type Message = (call: { input: Given }) => unknown;

const QUEUE = 'https://sqs.eu-west-1.amazonaws.com/111111111111/q';
const TOPIC = 'arn:aws:sns:eu-west-1:111111111111:t';
const queued = ({ body }: Asked): unknown =>
  JSON.parse((JSON.parse(body) as { MessageBody: string }).MessageBody);
const announced = ({ body }: Asked): unknown =>
  JSON.parse(new URLSearchParams(body).get('Message') ?? '') as unknown;
const entry = ({ body }: Asked): unknown => {
  const [{ Detail, ...rest }] = (JSON.parse(body) as { Entries: [{ Detail: string }] }).Entries;
  return { Detail: JSON.parse(Detail) as unknown, ...rest };
};
const payload = ({ path, body }: Asked): unknown => [path?.split('/')[3], JSON.parse(body)];

interface Sample {
  readonly from: string;
  readonly state: string;
  readonly service: string;
  readonly agent: { readonly handler: ReturnType<typeof publish>['handler'] };
  readonly given: Given;
  readonly sent: (asked: Asked) => unknown;
  readonly expected: unknown;
}

const SAMPLES: readonly Sample[] = [
  {
    from: 'transfer-data-records',
    state: 'Send Message to SQS',
    service: 'sqs:sendMessage',
    agent: message({ queue: QUEUE }, (({ input: { text } }) => text) as Message),
    given: { text: '"a record"' },
    sent: queued,
    expected: 'a record',
  },
  {
    from: 'categorization-state-machine',
    state: 'SQS Billing',
    service: 'sqs:sendMessage',
    agent: message({ queue: QUEUE }, undefined),
    given: { message: 'my bill' },
    sent: queued,
    expected: { message: 'my bill' },
  },
  {
    from: 'lambda-orchestration-cdk',
    state: 'Report Result',
    service: 'sns:publish',
    agent: message({ topic: TOPIC }, ((call) => ({ Input: call.input })) as Message),
    given: { result: 'bought' },
    sent: announced,
    expected: { Input: { result: 'bought' } },
  },
  {
    from: 'moderated-image-catalog-cdk',
    state: 'Notify content moderators',
    service: 'sns:publish',
    agent: message({ topic: TOPIC }, undefined),
    given: { key: 'a.png' },
    sent: announced,
    expected: { key: 'a.png' },
  },
  {
    from: 'checkout-processing-workflow',
    state: 'Send PaymentFailed Event to Notification Bus',
    service: 'events:putEvents',
    agent: message({ bus: 'notifications', source: 'CheckoutWorkflow', detailType: 'PaymentFailed' }, ((
      call,
    ) => ({
      cart_id: call.input['CartId'],
    })) as Message),
    given: { CartId: 'c-1' },
    sent: entry,
    expected: {
      Detail: { cart_id: 'c-1' },
      DetailType: 'PaymentFailed',
      EventBusName: 'notifications',
      Source: 'CheckoutWorkflow',
    },
  },
  {
    from: 'eventbridge-custom-sam',
    state: 'Send a custom event',
    service: 'events:putEvents',
    agent: message(
      { bus: 'sample', source: 'my.statemachine', detailType: 'MessageFromStepFunctions' },
      { Message: 'Hello from Step Functions!' },
    ),
    given: {},
    sent: entry,
    expected: {
      Detail: { Message: 'Hello from Step Functions!' },
      DetailType: 'MessageFromStepFunctions',
      EventBusName: 'sample',
      Source: 'my.statemachine',
    },
  },
  {
    from: 'inventory-management-sam',
    state: 'Send stock reserved event',
    service: 'events:putEvents',
    agent: message({ bus: 'inventory', source: 'com.inventory', detailType: 'stock-reserved' }, ((call) => ({
      productId: call.input['productId'],
      requestedQuantity: call.input['quantity'],
    })) as Message),
    given: { productId: 'p-1', quantity: '2' },
    sent: entry,
    expected: {
      Detail: { productId: 'p-1', requestedQuantity: '2' },
      DetailType: 'stock-reserved',
      EventBusName: 'inventory',
      Source: 'com.inventory',
    },
  },
  {
    from: 'cqrs',
    state: 'Invoke MonthlySalesByItem Query',
    service: 'lambda:invoke',
    agent: invoke('query', {
      input,
      output: Any,
      effect: 'none',
      execute: (call) => ({ function: 'monthly-sales', payload: { itemid: call.input['itemid'] } }),
    }),
    given: { itemid: 'i-1' },
    sent: payload,
    expected: ['monthly-sales', { itemid: 'i-1' }],
  },
  {
    from: 'call-http-api',
    state: 'Call HTTP API',
    service: 'lambda:invoke',
    agent: invoke('call', { input, output: Any, effect: 'none', execute: { function: 'call-to-api' } }),
    given: { any: 'thing' },
    sent: payload,
    expected: ['call-to-api', { any: 'thing' }],
  },
  {
    from: 'distributed-data-stream-aggregator',
    state: 'Get Data',
    service: 'http:invoke',
    agent: httpAgent('get-data', {
      input,
      output: Any,
      effect: 'none',
      execute: ({ input: { location, state, limit } }) => ({
        method: 'GET',
        url: URL,
        path: [required(location), 'get-data'],
        query: { state, limit, offset: '0' },
      }),
    }),
    given: { location: 'l-1', state: 'sold', limit: '10' },
    sent: ({ method, path }) => [method, path],
    expected: ['GET', '/l-1/get-data?state=sold&limit=10&offset=0'],
  },
];

let service: Service;
const SET = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's' };
beforeAll(async () => {
  service = await startService(gives(200, '{}'));
  Object.assign(process.env, SET, { AWS_ENDPOINT_URL: service.url, CALLS_URL: service.url });
});
afterAll(async () => {
  for (const name of ['AWS_ENDPOINT_URL', 'CALLS_URL', ...Object.keys(SET)]) delete process.env[name];
  await service.stop();
});

test.each(SAMPLES.map((one) => [`${one.from}: ${one.state}`, one] as const))('%s', async (_name, sample) => {
  service.asked.length = 0;
  const signal = new AbortController().signal;
  const ctx = { idempotencyKey: 'k', signal } as Parameters<typeof perform>[1]['ctx'];
  const task = { mode: 'execute', ctx, input: sample.given, output: undefined } as const;
  expect((await perform(sample.agent.handler.worker, task)).kind).toBe('done');
  expect(service.asked.map(sample.sent)).toEqual([sample.expected]);
});

test('the page says the same', () => {
  const page = read('docs/FROM-STEP-FUNCTIONS.md');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| ([^|`]+) \| `(\w+:\w+)` \| `\w+` \|$/gm)];
  expect(rows.map(([, ...cells]) => cells)).toEqual(
    SAMPLES.map(({ from, state, service: of }) => [from, state, of]),
  );
});
