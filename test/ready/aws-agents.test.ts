/** Declared agents that invoke functions or publish messages: their requests to AWS, and its answers. */

import * as z from 'zod/mini';
import { perform } from '../../lib/agent/author-code.ts';
import type { Report } from '../../lib/core/decisions/events.ts';
import {
  eq,
  type HttpAgent,
  invoke,
  type InvokeOptions,
  publish,
  type PublishOptions,
} from '../../lib/index.ts';
import type { CallKind } from '../../lib/ready/outcomes.ts';
import { type Answer, gives, outcomeIn, type Service, startService } from './service.ts';

const Image = z.object({ image: z.string() });
const AWS = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's' };

let service: Service;
beforeAll(async () => {
  service = await startService(gives(200, '{}'));
  Object.assign(process.env, AWS, { AWS_ENDPOINT_URL: service.url });
});
beforeEach(() => {
  service.asked.length = 0;
  service.answer = gives(200, '{}');
});
afterAll(async () => {
  for (const name of ['AWS_ENDPOINT_URL', ...Object.keys(AWS)]) delete process.env[name];
  await service.stop();
});

async function called(
  { handler }: HttpAgent<never, never>,
  call: CallKind = 'execute',
  idempotencyKey = 'e.s.1',
): Promise<Report> {
  const quiet = (): void => undefined;
  const ctx = {
    executionId: 'e',
    step: 's',
    attempt: 1,
    idempotencyKey,
    timeLeftMs: () => 20_000,
    signal: new AbortController().signal,
    progress: quiet,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  };
  return await perform(handler.worker, { mode: call, ctx, input: { image: 'a.png' }, output: undefined });
}

type Invoking = InvokeOptions<z.infer<typeof Image>, { thumbnail: string }>;
const resize = (more: Partial<Invoking> = {}): HttpAgent<never, never> =>
  invoke('resize', {
    input: Image,
    output: z.object({ thumbnail: z.string() }),
    effect: 'idempotent',
    execute: ({ input, idempotencyKey }) => ({
      function: 'arn:aws:lambda:eu-west-1:111111111111:function:resizer:live',
      payload: { image: input.image, key: idempotencyKey },
    }),
    undo: 'none',
    ...more,
  }) as never;

describe('a function', () => {
  it('is waited for, and its answer is the output', async () => {
    service.answer = gives(200, '{"thumbnail":"t"}');
    expect(await called(resize())).toMatchObject({ kind: 'done', output: { thumbnail: 't' } });
    const [one] = service.asked;
    expect(one).toMatchObject({
      method: 'POST',
      path: '/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-west-1%3A111111111111%3Afunction%3Aresizer%3Alive/invocations',
      body: '{"image":"a.png","key":"e.s.1"}',
    });
    expect(one?.headers['x-amz-invocation-type']).toBe('RequestResponse');
    expect(one?.headers.authorization).toContain('/eu-west-1/lambda/aws4_request');
  });

  const failed = gives(200, '{"errorType":"Declined"}', { 'x-amz-function-error': 'Unhandled' });
  const ANSWERS: readonly (readonly [string, Answer, string])[] = [
    ['an error of its own', failed, 'unknown http-200'],
    ['too many calls', gives(429), 'transient http-429'],
    ['no right yet', gives(403), 'transient http-403'],
    ['no function yet', gives(404), 'transient http-404'],
    ['a function that is being made', gives(409), 'transient http-409'],
    ['a payload that it cannot read', gives(400), 'permanent http-400'],
    ['a fault of Lambda', gives(502), 'unknown http-502'],
    ['half an answer', gives(200, '{"thumb'), 'unknown bad-answer'],
  ];
  it.each(ANSWERS)('S6 that answers with %s', async (_name, answer, outcome) => {
    service.answer = answer;
    expect(outcomeIn(await called(resize()))).toBe(outcome);
  });

  it('may say by its error what it has not done', async () => {
    service.answer = failed;
    const execute: Invoking['execute'] = ({ idempotencyKey }) => ({
      function: 'resizer',
      payload: { key: idempotencyKey },
      outcomes: ({ body: read }) => [{ when: eq(read('errorType'), 'Declined'), is: 'permanent' }],
    });
    expect(outcomeIn(await called(resize({ execute })))).toBe('permanent http-200');
  });

  it('S6 that is asked and is not there, or fails, says nothing of the work', async () => {
    const probe: Invoking['probe'] = { function: 'finder' };
    for (const answer of [gives(404), failed, gives(429)]) {
      service.answer = answer;
      expect(outcomeIn(await called(resize({ probe }), 'probe'))).toBe('cannot-tell cannot-tell');
    }
    service.answer = gives(200, '{"thumbnail":"t"}');
    expect(outcomeIn(await called(resize({ probe }), 'probe'))).toBe('done');
    expect(service.asked.at(-1)?.body).toBe('{"image":"a.png"}');
  });

  it('is named by a variable', async () => {
    const execute: Invoking['execute'] = ({ idempotencyKey: key }) => ({
      function: { env: 'RESIZER' },
      payload: { key },
    });
    expect(await called(resize({ execute }))).toMatchObject({
      permanent: false,
      failure: { message: expect.stringContaining('the environment variable RESIZER is not set') },
    });
    process.env['RESIZER'] = 'resizer-2';
    service.answer = gives(200, '{"thumbnail":"t"}');
    expect(outcomeIn(await called(resize({ execute })))).toBe('done');
    delete process.env['RESIZER'];
    expect(service.asked.at(-1)?.path).toContain('/functions/resizer-2/');
  });

  it('is refused where its declaration is wrong', () => {
    const wrong = (execute: object) => () => resize({ execute: execute as never });
    expect(wrong({ payload: {} })).toThrow(
      "invoke 'resize': function is a function's name or ARN, or { env }",
    );
    expect(wrong({ function: 'a', url: 'b' })).toThrow("invoke 'resize': 'url' is not an option");
    expect(wrong({ function: 'a' })).toThrow('by a key');
  });
});

const announcing = (to: PublishOptions<unknown>['to']): HttpAgent<never, never> =>
  publish('announce', { input: Image, effect: 'idempotent', to, message: { text: 'ready' } }) as never;

describe('a message', () => {
  it('goes to a queue, with its key; a FIFO queue drops it if it comes twice', async () => {
    expect(await called(announcing({ queue: 'https://sqs/q' }))).toMatchObject({ kind: 'done', output: {} });
    await called(announcing({ queue: 'https://sqs/q.fifo', group: 'g' }));
    expect(service.asked[0]?.headers).toMatchObject({
      'x-amz-target': 'AmazonSQS.SendMessage',
      'content-type': 'application/x-amz-json-1.0',
      authorization: expect.stringContaining('/eu-west-1/sqs/aws4_request'),
    });
    const bodies = service.asked.map(({ body }) => JSON.parse(body) as object);
    const MessageAttributes = { idempotencyKey: { DataType: 'String', StringValue: 'e.s.1' } };
    const message = { MessageBody: '{"text":"ready"}', MessageAttributes };
    expect(bodies).toEqual([
      { ...message, QueueUrl: 'https://sqs/q' },
      { ...message, QueueUrl: 'https://sqs/q.fifo', MessageGroupId: 'g', MessageDeduplicationId: 'e.s.1' },
    ]);
  });

  it('has an id that a FIFO queue or topic takes, also where its key is long', async () => {
    const keyOf = (item: number): string => `${'execution-in-another'.repeat(6)}.step.${item}.life`;
    const to = [{ queue: 'https://sqs/q.fifo' }, { topic: 'arn:aws:sns:eu-west-1:111111111111:t.fifo' }];
    for (const one of to) for (const item of [1, 2, 2]) await called(announcing(one), 'execute', keyOf(item));
    const ids = service.asked.map(({ body }) => {
      const { MessageDeduplicationId: once, MessageGroupId: group } = body.startsWith('{')
        ? (JSON.parse(body) as Record<string, string>)
        : Object.fromEntries(new URLSearchParams(body));
      expect([once, group]).toEqual([expect.stringMatching(/^[\w.-]{1,128}$/), once]);
      return once;
    });
    expect(ids).toEqual([ids[0], ids[1], ids[1], ids[0], ids[1], ids[1]]);
    expect(ids[0]).not.toBe(ids[1]);
    expect(service.asked[0]?.body).toContain(`"StringValue":"${keyOf(1)}"`);
  });

  it('goes to a topic', async () => {
    process.env['TOPIC'] = 'arn:aws:sns:eu-west-1:111111111111:news';
    expect(outcomeIn(await called(announcing({ topic: { env: 'TOPIC' } })))).toBe('done');
    delete process.env['TOPIC'];
    expect(Object.fromEntries(new URLSearchParams(service.asked[0]?.body))).toEqual({
      Action: 'Publish',
      Version: '2010-03-31',
      TopicArn: 'arn:aws:sns:eu-west-1:111111111111:news',
      Message: '{"text":"ready"}',
      'MessageAttributes.entry.1.Name': 'idempotencyKey',
      'MessageAttributes.entry.1.Value.DataType': 'String',
      'MessageAttributes.entry.1.Value.StringValue': 'e.s.1',
    });
  });

  it('goes to a bus as the detail of an event', async () => {
    const bus = { bus: 'default', source: 'shop', detailType: 'Ready' };
    expect(outcomeIn(await called(announcing(bus)))).toBe('done');
    expect(JSON.parse(service.asked[0]?.body ?? '')).toEqual({
      Entries: [{ EventBusName: 'default', Source: 'shop', DetailType: 'Ready', Detail: '{"text":"ready"}' }],
    });
    service.answer = gives(200, '{"FailedEntryCount":1,"Entries":[{"ErrorCode":"InternalFailure"}]}');
    expect(outcomeIn(await called(announcing(bus)))).toBe('transient http-200');
  });

  it.each([
    ['throttled', gives(400, '{"__type":"com.amazonaws.sqs#ThrottlingException"}'), 'transient http-400'],
    ['not allowed yet', gives(400, '{"__type":"AccessDeniedException"}'), 'transient http-400'],
    ['no such queue', gives(400, '{"__type":"QueueDoesNotExist"}'), 'permanent http-400'],
    ['a fault of the service', gives(500), 'unknown http-500'],
  ])('S6 is not sent, or perhaps: %s', async (_name, answer, outcome) => {
    service.answer = answer;
    expect(outcomeIn(await called(announcing({ queue: 'https://sqs/q' })))).toBe(outcome);
  });

  it.each([
    ['throttled', 400, 'Throttling', 'transient http-400'],
    ['its key throttled', 400, 'KMSThrottling', 'transient http-400'],
    ['its key not allowed yet', 400, 'KMSAccessDenied', 'transient http-400'],
    ['not allowed yet', 403, 'AuthorizationError', 'transient http-403'],
    ['a message that is none', 400, 'InvalidParameter', 'permanent http-400'],
    ['a fault of the service', 500, 'InternalError', 'unknown http-500'],
  ] as const)('S6 is not announced, or perhaps: %s', async (_name, status, code, outcome) => {
    const xml = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code></Error></ErrorResponse>`;
    service.answer = gives(status, xml, { 'content-type': 'text/xml' });
    const topic = 'arn:aws:sns:eu-west-1:111111111111:t';
    expect(outcomeIn(await called(announcing({ topic })))).toBe(outcome);
  });
});
