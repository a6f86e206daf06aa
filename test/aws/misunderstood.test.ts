/**
 * After a call of the direct transport that AWS does not understand, it and all later calls go through the
 * SDK. Also tests the SDK's internals on which the transport depends.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { transported } from '../../lib/aws/transport.ts';

const GET = new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } });

let server: Server;
let endpoint: string;
/** For each request, whether the SDK made it, by its user agent. */
let bySdk: boolean[];
let refusals: string[];

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      bySdk.push('amz-sdk-invocation-id' in request.headers);
      const code = refusals.shift();
      response.writeHead(code === undefined ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(
        code === undefined ? '{}' : JSON.stringify({ __type: `com.amazon.coral.service#${code}` }),
      );
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
  bySdk = [];
  refusals = [];
});

const settings = () => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'a', secretAccessKey: 's' },
  maxAttempts: 1,
});
const client = (): DynamoDBClient =>
  transported(new DynamoDBClient(settings()), { transport: 'direct', requestTimeout: 120_000 });

it.each([
  'SignatureDoesNotMatch',
  'InvalidSignatureException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'UnknownOperation',
  'UnknownOperationException',
])('after %s the call is made by the SDK, and so is every later one', async (code) => {
  const emitWarning = process.emitWarning.bind(process);
  let warnings = 0;
  process.emitWarning = () => void (warnings += 1);
  const dynamo = client();
  await dynamo.send(GET);
  refusals = [code];
  await dynamo.send(GET);
  await dynamo.send(GET);
  expect(bySdk).toEqual([false, false, true, true]);
  process.emitWarning = emitWarning;
  expect(warnings).toBe(1);
});

it('any other refusal stays what it is', async () => {
  const dynamo = client();
  refusals = ['ValidationException'];
  await expect(dynamo.send(GET)).rejects.toThrow();
  await dynamo.send(GET);
  expect(bySdk).toEqual([false, false]);
});

// They are private: if an update of the SDK moves them, a test must notice before a request is malformed.
it.each([
  ['DynamoDB_20120810', new DynamoDBClient({ region: 'r' }), GET, 'GetItem'],
  [
    'AmazonSQS',
    new SQSClient({ region: 'r' }),
    new SendMessageCommand({ QueueUrl: 'q', MessageBody: 'm' }),
    'SendMessage',
  ],
  ['AWSEvents', new EventBridgeClient({ region: 'r' }), new PutEventsCommand({ Entries: [] }), 'PutEvents'],
])('the SDK has the parts of %s where they are used', (target, of, command, name) => {
  const { protocol, ...config } = of.config as unknown as Record<string, Record<string, unknown>>;
  expect(protocol).toMatchObject({ serviceTarget: target });
  for (const method of ['getJsonRpcVersion', 'deserializeResponse'])
    expect([method, typeof protocol?.[method]]).toEqual([method, 'function']);
  for (const method of ['region', 'credentials', 'retryStrategy'])
    expect([method, typeof config[method]]).toEqual([method, 'function']);
  expect(typeof config['defaultSigningName']).toBe('string');
  const { schema } = command as unknown as { readonly schema: readonly unknown[] };
  expect([typeof schema[0], typeof schema[1], schema[2]]).toEqual(['number', 'string', name]);
  expect(schema).toHaveLength(6);
});
