/** A call by a plain request is the SDK's call: the same signature, the same answers and exceptions, repeated as often. */

import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as dynamo from '@aws-sdk/client-dynamodb';
import {
  ConditionalCheckFailedException,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { withPlainCalls } from '../../lib/aws/plain-calls.ts';
import { amzDate, authorization } from '../../lib/aws/signature.ts';
import { aStep } from '../contract/records.ts';

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type Answer = { readonly status: number; readonly body: unknown } | 'hang-up' | 'silence';

let server: Server;
let endpoint: string;
let heard: Heard[];
let answers: Answer[];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      const answer = answers.shift() ?? { status: 200, body: {} };
      if (answer === 'silence') return;
      if (answer === 'hang-up') {
        response.destroy();
        return;
      }
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  heard = [];
  answers = [];
});

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  AWS_LAMBDA_FUNCTION_NAME: 'one',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  AWS_SESSION_TOKEN: 'session',
  AWS_ENDPOINT_URL: endpoint,
  ...more,
});
const sdk = (): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1 });
const plain = (more?: Record<string, string>): DynamoDBClient =>
  withPlainCalls(sdk(), environment(more), { maxAttempts: 3, requestTimeout: 500 });

const GET = { TableName: 't', Key: { pk: { S: 'ä' } }, ConsistentRead: true };
const PUT = { TableName: 't', Item: { pk: { S: 'a' }, version: { N: '1' } } };
const failed = (type: string, more: object = {}, status = 400): Answer => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no', ...more },
});

describe('the signature', () => {
  it('is that of AWS’s own test case', () => {
    const headers = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' };
    expect(authorization(headers, '', CREDENTIALS, { service: 'service', region: 'us-east-1' })).toContain(
      'Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    );
  });

  it('is the SDK’s, for the same request', async () => {
    await sdk().send(new GetItemCommand(GET));
    const [{ headers, body } = { headers: {}, body: '' }] = heard;
    const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const ours = authorization(
      Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
      body,
      CREDENTIALS,
      { service: 'dynamodb', region: 'us-east-1' },
    );
    expect(signed).toContain('x-amz-date');
    expect(ours).toBe(headers.authorization);
  });

  it('has the time in the form that AWS wants', () => {
    expect(amzDate(Date.UTC(2026, 10, 21, 20, 9, 17, 123))).toBe('20261121T200917Z');
  });
});

describe('a plain call', () => {
  it('says what the SDK says, and returns what it returns', async () => {
    const Item = { pk: { S: 'ä' }, at: { N: '12.50' }, on: { BOOL: true } };
    answers = [
      { status: 200, body: { Item } },
      { status: 200, body: { Item } },
    ];
    const theirs = await sdk().send(new GetItemCommand(GET));
    const ours = await plain().send(new GetItemCommand(GET));
    expect(ours.Item).toEqual(theirs.Item);
    const [one, other] = heard;
    expect(JSON.parse(other?.body ?? '')).toEqual(JSON.parse(one?.body ?? ''));
    for (const name of ['x-amz-target', 'content-type', 'host', 'content-length'])
      expect(other?.headers[name]).toBe(one?.headers[name]);
    expect(other?.headers['x-amz-security-token']).toBe('session');
  });

  it('to SQS goes to the queue’s address, by its own target', async () => {
    const client = withPlainCalls(
      new SQSClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS }),
      environment(),
      { maxAttempts: 1, requestTimeout: 500 },
    );
    await client.send(new SendMessageCommand({ QueueUrl: 'https://sqs/1/q', MessageBody: '{}' }));
    expect(heard[0]?.headers['x-amz-target']).toBe('AmazonSQS.SendMessage');
    expect(heard[0]?.headers.authorization).toContain('/us-east-1/sqs/aws4_request');
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({ QueueUrl: 'https://sqs/1/q', MessageBody: '{}' });
  });

  it('of another kind goes the SDK’s way', async () => {
    answers = [{ status: 200, body: { Table: { TableName: 't' } } }];
    await plain().send(new DescribeTableCommand({ TableName: 't' }));
    expect(heard[0]?.headers['user-agent']).toContain('aws-sdk-js');
  });

  it.each([{ AWS_REGION: 'cn-north-1' }, { AWS_REGION: 'us-iso-east-1' }, { AWS_USE_FIPS_ENDPOINT: 'true' }])(
    'where %p holds goes the SDK’s way',
    async (more) => {
      await plain(more).send(new GetItemCommand(GET));
      expect(heard[0]?.headers['user-agent']).toContain('aws-sdk-js');
    },
  );
});

describe('an answer that says no', () => {
  it('is the SDK’s exception, with the item that stands in the way', async () => {
    answers = [failed('ConditionalCheckFailedException', { Item: { writeId: { S: 'w' } } })];
    const error: unknown = await plain()
      .send(new PutItemCommand(PUT))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConditionalCheckFailedException);
    expect((error as ConditionalCheckFailedException).Item).toEqual({ writeId: { S: 'w' } });
    expect(heard).toHaveLength(1);
  });

  it('of a transaction names its reasons', async () => {
    const CancellationReasons = [
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Item: { a: { S: 'b' } } },
    ];
    answers = [failed('TransactionCanceledException', { CancellationReasons })];
    const call = plain().send(new TransactWriteItemsCommand({ TransactItems: [{ Put: PUT }] }));
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect((error as TransactionCanceledException).CancellationReasons).toEqual(CancellationReasons);
  });

  const looksInto = join(import.meta.dirname, '..', '..', 'lib', 'aws');
  const lookedInto = new Set(
    readdirSync(looksInto).flatMap((file) =>
      [...readFileSync(join(looksInto, file), 'utf8').matchAll(/instanceof (\w+Exception)/g)].map(
        ([, name]) => name as string,
      ),
    ),
  );
  it.each([...lookedInto])('of the kind %s is what lib/aws takes it for', async (name) => {
    answers = [failed(name)];
    const kind = (dynamo as unknown as Record<string, new () => Error>)[name] as new () => Error;
    await expect(plain().send(new PutItemCommand(PUT))).rejects.toBeInstanceOf(kind);
    expect(heard).toHaveLength(1);
  });

  it('because a transaction is writing the record is a race that was lost', async () => {
    answers = [failed('TransactionConflictException')];
    const store = dynamoStore(plain(), { table: 'state', watchShards: 2 });
    expect(await store.write({ executionId: 'e-1', step: aStep() })).toBe('conflict');
  });

  it('with a page instead of JSON is told by its status', async () => {
    answers = [{ status: 403, body: '<html>' }];
    await expect(plain().send(new GetItemCommand(GET))).rejects.toMatchObject({
      name: 'HTTP 403',
      $metadata: { httpStatusCode: 403 },
    });
    expect(heard).toHaveLength(1);
  });

  it('for good is not asked for again', async () => {
    answers = [failed('AccessDeniedException')];
    await expect(plain().send(new GetItemCommand(GET))).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
    expect(heard).toHaveLength(1);
  });
});

describe('an answer that is missing, or says later', () => {
  it.each<[string, Answer]>([
    ['a throttle', failed('ProvisionedThroughputExceededException')],
    ['a throttle that has no name', { status: 429, body: {} }],
    ['a server’s own trouble', failed('InternalServerError', {}, 500)],
    ['a connection that breaks', 'hang-up'],
    ['no answer in time', 'silence'],
  ])('is asked for again after %s', async (_, answer) => {
    answers = [answer, { status: 200, body: { Item: { a: { S: 'b' } } } }];
    await expect(plain().send(new GetItemCommand(GET))).resolves.toMatchObject({ Item: { a: { S: 'b' } } });
    expect(heard).toHaveLength(2);
  });

  it('three times is told', async () => {
    answers = Array.from({ length: 3 }, () => failed('InternalServerError', {}, 500));
    await expect(plain().send(new GetItemCommand(GET))).rejects.toMatchObject({
      name: 'InternalServerError',
    });
    expect(heard).toHaveLength(3);
  });

  it('because an idle connection was closed meanwhile costs no attempt', async () => {
    const client = withPlainCalls(sdk(), environment(), { maxAttempts: 1, requestTimeout: 500 });
    await client.send(new GetItemCommand(GET));
    server.closeIdleConnections();
    await expect(client.send(new GetItemCommand(GET))).resolves.toBeDefined();
  });
});

describe('the trace of an invocation', () => {
  const TRACE = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
  const settings = { endpoint, region: 'us-east-1', credentials: CREDENTIALS };
  const senders = (variables: Record<string, string>) => {
    const options = { maxAttempts: 1, requestTimeout: 500 };
    const sqs = withPlainCalls(new SQSClient({ ...settings, endpoint }), variables, options);
    const bus = withPlainCalls(new EventBridgeClient({ ...settings, endpoint }), variables, options);
    return async (): Promise<unknown[]> => {
      heard = [];
      await sqs.send(new SendMessageCommand({ QueueUrl: `${endpoint}/1/q`, MessageBody: 'a' }));
      await bus.send(new PutEventsCommand({ Entries: [{ Detail: '{}' }] }));
      return heard.map(({ headers }) => headers['x-amzn-trace-id']);
    };
  };

  it('goes with messages and events, each time that of the invocation under way', async () => {
    const variables = environment({ _X_AMZN_TRACE_ID: TRACE });
    const send = senders(variables);
    expect(await send()).toEqual([TRACE, TRACE]);
    const next = TRACE.replace('5759', '5760');
    variables['_X_AMZN_TRACE_ID'] = next;
    expect(await send()).toEqual([next, next]);
    expect(heard[0]?.headers.authorization).not.toContain('x-amzn-trace-id');
  });

  it('is left out where there is none, and where it would be more than a line', async () => {
    expect(await senders(environment())()).toEqual([undefined, undefined]);
    const split = environment({ _X_AMZN_TRACE_ID: 'Root=1\r\nx-amz-target: AmazonSQS.PurgeQueue' });
    expect(await senders(split)()).toEqual([undefined, undefined]);
    expect(heard[0]?.headers['x-amz-target']).toBe('AmazonSQS.SendMessage');
  });

  it('is not told to the table, which passes nothing on', async () => {
    await plain({ _X_AMZN_TRACE_ID: TRACE }).send(new GetItemCommand(GET));
    expect(heard[0]?.headers).not.toHaveProperty('x-amzn-trace-id');
  });
});
