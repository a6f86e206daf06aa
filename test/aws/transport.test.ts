/**
 * Both transports make the same requests, return the same answers and exceptions, and retry equally often.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as dynamo from '@aws-sdk/client-dynamodb';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { ClockSkew } from '../../lib/aws/clock-skew.ts';
import { clock } from '../../lib/aws/clock.ts';
import { AGENTS } from '../../lib/aws/exchange.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { ENV, type Transport, TRANSPORTS } from '../../lib/aws/names.ts';
import { authorization } from '../../lib/aws/signature.ts';
import { transported, transportOf } from '../../lib/aws/transport.ts';
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
const settings = () => ({ endpoint, region: 'us-east-1', credentials: CREDENTIALS });
const sdk = (): DynamoDBClient => new DynamoDBClient({ ...settings(), maxAttempts: 1 });
/** The timeout where an answer comes: long enough for a busy machine. */
const PATIENT_MS = 120_000;
/** The timeout where no answer comes: shorter than in a function. */
const HASTY_MS = 500;
const clientOf = (transport: Transport, limits: object = {}, requestTimeout = PATIENT_MS): DynamoDBClient => {
  const requestHandler = { requestTimeout, throwOnRequestTimeout: true };
  const client = new DynamoDBClient({ ...settings(), maxAttempts: 3, requestHandler, ...limits });
  return transported(client, { transport, requestTimeout });
};

const KEYS = {
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
};
const rejected = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error('it was not rejected'),
    (error: Error) => error,
  );
async function withVariables<Result>(
  variables: Readonly<Record<string, string>>,
  act: () => Promise<Result>,
): Promise<Result> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await act();
  } finally {
    process.env = before;
  }
}

const GET = { TableName: 't', Key: { pk: { S: 'ä' } }, ConsistentRead: true };
const PUT = { TableName: 't', Item: { pk: { S: 'a' }, version: { N: '1' } } };
const failed = (type: string, more: object = {}, status = 400): Answer => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no', ...more },
});

describe('the signature', () => {
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
});

describe.each(TRANSPORTS)('a call (%s)', (transport) => {
  const client = (limits?: object, ms?: number): DynamoDBClient => clientOf(transport, limits, ms);

  it('says what the SDK says, and returns what it returns', async () => {
    const Item = { pk: { S: 'ä' }, at: { N: '12.50' }, on: { BOOL: true } };
    answers = [
      { status: 200, body: { Item } },
      { status: 200, body: { Item } },
    ];
    const theirs = await sdk().send(new GetItemCommand(GET));
    const ours = await client().send(new GetItemCommand(GET));
    expect(ours.Item).toEqual(theirs.Item);
    const [one, other] = heard;
    expect(JSON.parse(other?.body ?? '')).toEqual(JSON.parse(one?.body ?? ''));
    for (const name of ['x-amz-target', 'content-type', 'host', 'content-length'])
      expect(other?.headers[name]).toBe(one?.headers[name]);
  });

  it('says for which session its credentials are', async () => {
    const credentials = { ...CREDENTIALS, sessionToken: 'session' };
    await client({ credentials }).send(new GetItemCommand(GET));
    expect(heard[0]?.headers['x-amz-security-token']).toBe('session');
    expect(heard[0]?.headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-security-token/);
  });

  it('to SQS goes to the queue’s address, by its own target', async () => {
    const sqs = transported(new SQSClient(settings()), { transport });
    answers = [
      { status: 200, body: { MessageId: '1', MD5OfMessageBody: '99914b932bd37a50b983c5e7c90ae93b' } },
    ];
    await sqs.send(new SendMessageCommand({ QueueUrl: `${endpoint}/1/q`, MessageBody: '{}' }));
    expect(heard[0]?.headers['x-amz-target']).toBe('AmazonSQS.SendMessage');
    expect(heard[0]?.headers.authorization).toContain('/us-east-1/sqs/aws4_request');
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({ QueueUrl: `${endpoint}/1/q`, MessageBody: '{}' });
  });

  it('to EventBridge says times in seconds', async () => {
    const events = transported(new EventBridgeClient(settings()), { transport });
    await events.send(new PutEventsCommand({ Entries: [{ Detail: '{}', Time: new Date(1_500) }] }));
    expect(heard[0]?.headers['x-amz-target']).toBe('AWSEvents.PutEvents');
    expect(heard[0]?.headers['content-type']).toBe('application/x-amz-json-1.1');
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({ Entries: [{ Detail: '{}', Time: 1.5 }] });
  });

  it('goes where the environment says, as the identity that it has', async () => {
    const variables = { AWS_ENDPOINT_URL: endpoint, AWS_REGION: 'eu-north-1', ...KEYS };
    await withVariables(variables, async () => {
      const own = transported(new DynamoDBClient({ maxAttempts: 1 }), { transport });
      await own.send(new GetItemCommand(GET));
    });
    expect(heard[0]?.headers.authorization).toMatch(/Credential=AKIDEXAMPLE\/\d+\/eu-north-1\/dynamodb/);
  });

  describe('that is answered no', () => {
    it('is rejected with the SDK’s exception, with the item that stands in the way', async () => {
      answers = [failed('ConditionalCheckFailedException', { Item: { writeId: { S: 'w' } } })];
      const error = await rejected(client().send(new PutItemCommand(PUT)));
      expect(error).toBeInstanceOf(ConditionalCheckFailedException);
      expect((error as ConditionalCheckFailedException).Item).toEqual({ writeId: { S: 'w' } });
      expect(heard).toHaveLength(1);
    });

    it('as a transaction says why', async () => {
      const CancellationReasons = [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: { a: { S: 'b' } } },
      ];
      answers = [failed('TransactionCanceledException', { CancellationReasons })];
      const call = client().send(new TransactWriteItemsCommand({ TransactItems: [{ Put: PUT }] }));
      const error = await rejected(call);
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
    it.each([...lookedInto])('is the %s that lib/aws takes it for', async (name) => {
      answers = [failed(name)];
      const kind = (dynamo as unknown as Record<string, new () => Error>)[name] as new () => Error;
      await expect(client().send(new PutItemCommand(PUT))).rejects.toBeInstanceOf(kind);
      expect(heard).toHaveLength(1);
    });

    it('because a transaction is writing the record is a race that was lost', async () => {
      answers = [failed('TransactionConflictException')];
      const store = dynamoStore(client(), { table: 'state', wakeShards: 2 });
      expect(await store.write({ executionId: 'e-1', step: aStep() })).toBe('conflict');
    });

    it('by a page instead of JSON has its status', async () => {
      answers = [{ status: 403, body: '<html>' }];
      await expect(client().send(new GetItemCommand(GET))).rejects.toMatchObject({
        $metadata: { httpStatusCode: 403 },
      });
      expect(heard).toHaveLength(1);
    });

    it('for good is not made again', async () => {
      answers = [failed('AccessDeniedException')];
      await expect(client().send(new GetItemCommand(GET))).rejects.toMatchObject({
        name: 'AccessDeniedException',
      });
      expect(heard).toHaveLength(1);
    });
  });

  describe('that has no answer, or is answered later', () => {
    it.each<[string, Answer]>([
      ['a throttle', failed('ProvisionedThroughputExceededException')],
      ['a throttle that has no name', { status: 429, body: {} }],
      ['a server’s own trouble', failed('InternalServerError', {}, 500)],
      ['a page of a load balancer', { status: 503, body: '<html>' }],
      ['a connection that breaks', 'hang-up'],
      ['no answer in time', 'silence'],
    ])('is made again after %s', async (_, answer) => {
      answers = [answer, { status: 200, body: { Item: { a: { S: 'b' } } } }];
      const limitMs = answer === 'silence' ? 6 * HASTY_MS : PATIENT_MS;
      await expect(client({}, limitMs).send(new GetItemCommand(GET))).resolves.toMatchObject({
        Item: { a: { S: 'b' } },
      });
      expect(heard).toHaveLength(2);
    });

    it('is made three times', async () => {
      answers = Array.from({ length: 3 }, () => failed('InternalServerError', {}, 500));
      await expect(client().send(new GetItemCommand(GET))).rejects.toMatchObject({
        name: 'InternalServerError',
      });
      expect(heard).toHaveLength(3);
    });
  });

  it('takes the trace of the invocation under way along, not signed', async () => {
    const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
    const next = trace.replace('5759', '5760');
    const events = transported(new EventBridgeClient(settings()), { transport });
    const send = () => events.send(new PutEventsCommand({ Entries: [{ Detail: '{}' }] }));
    const inFunction = (id: string) => ({ AWS_LAMBDA_FUNCTION_NAME: 'one', _X_AMZN_TRACE_ID: id });
    await withVariables(inFunction(trace), send);
    await withVariables(inFunction(next), send);
    await send();
    expect(heard.map(({ headers }) => headers['x-amzn-trace-id'])).toEqual([trace, next, undefined]);
    for (const { headers } of heard) expect(headers.authorization).not.toContain('x-amzn-trace-id');
  });
});

it('a direct call that was refused for a clock that is an hour wrong is made again by the right time', async () => {
  answers = [failed('InvalidSignatureException')];
  clock.correct(-3_600_000);
  const skew = new ClockSkew({ note: () => undefined }, clock.correct);
  const one = transported(new DynamoDBClient({ ...settings(), maxAttempts: 1 }), {
    transport: 'direct',
    skew,
  });
  await one.send(new GetItemCommand(GET)).finally(() => clock.correct(Date.now() - clock.now()));
  expect(new Set(heard.map(({ headers }) => headers['x-amz-date'])).size).toBe(2);
});

describe('a direct call', () => {
  const client = (limits?: object, ms?: number): DynamoDBClient => clientOf('direct', limits, ms);
  const get = (from: DynamoDBClient) => from.send(new GetItemCommand(GET));

  it('is made again at no cost where an idle connection was closed meanwhile', async () => {
    const one = client({ maxAttempts: 1 });
    await get(one);
    server.closeIdleConnections();
    await expect(get(one)).resolves.toBeDefined();
  });

  it('is answered with its own answer, of however many at once', async () => {
    answers = Array.from({ length: 120 }, (_, at) => ({
      status: 200,
      body: { Item: { at: { N: `${at}` } } },
    }));
    const one = client({ maxAttempts: 1 });
    const ask = (at: number) => one.send(new GetItemCommand({ ...GET, TableName: `t${at}` }));
    const found = await Promise.all(Array.from({ length: 120 }, (_, at) => ask(at)));
    const asked = heard.map(({ body }) => (JSON.parse(body) as { TableName: string }).TableName);
    for (const [at, table] of asked.entries())
      expect(found[Number(table.slice(1))]?.Item?.['at']).toEqual({ N: `${at}` });
  });

  it('waits for a connection no longer than its time: of a silent server all end within one limit', async () => {
    answers = Array.from({ length: 240 }, () => 'silence' as const);
    const one = client({ maxAttempts: 1 }, HASTY_MS);
    const startedAt = performance.now();
    const ends = Array.from({ length: 240 }, () => rejected(get(one)).then(({ name }) => name));
    expect(await Promise.all(ends)).toEqual(Array(240).fill('TimeoutError'));
    // In turns of fifty connections they would take five limits, on any machine.
    expect(performance.now() - startedAt).toBeLessThan(4 * HASTY_MS);
  });

  it('by TLS is made to whom this process trusts, and to nobody else', async () => {
    const pem = (name: string): string =>
      readFileSync(join(import.meta.dirname, '..', 'fixtures', 'tls', `${name}.pem`), 'utf8');
    const tls = createTlsServer({ cert: pem('localhost'), key: pem('localhost-key') }, (_request, response) =>
      response.end('{}'),
    );
    await new Promise<void>((done) => tls.listen(0, 'localhost', done));
    const secure = client({
      endpoint: `https://localhost:${(tls.address() as AddressInfo).port}`,
      maxAttempts: 1,
    });
    await expect(get(secure)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    AGENTS.tls.options.ca = pem('localhost');
    await get(secure);
    delete AGENTS.tls.options.ca;
    tls.closeAllConnections();
    await new Promise((done) => tls.close(done));
  });
});

test('which way is taken is said by the environment, and is one of two', () => {
  expect(transportOf({})).toBe('direct');
  expect(transportOf({ [ENV.transport]: 'sdk' })).toBe('sdk');
  expect(() => transportOf({ [ENV.transport]: 'fax' })).toThrow('allowed: direct and sdk');
});
