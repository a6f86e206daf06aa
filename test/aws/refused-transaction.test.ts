/** A transaction that DynamoDB refuses because an index has no capacity is repeated. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { putAll } from '../../lib/aws/dynamo-put.ts';
import { throttlingAnswer } from '../../local/control/fault.ts';

let server: Server;
let asked: number;
beforeEach(async () => {
  asked = 0;
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1;
      const refused = throttlingAnswer('dynamodb', 'TransactWriteItems');
      if (asked <= 2) response.writeHead(refused.statusCode, refused.headers).end(refused.body);
      else response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{}');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const put = (id: string) => ({
  TableName: 't',
  Item: { pk: { S: id }, writeId: { S: 'w' } },
  ConditionExpression: 'attribute_not_exists(pk)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

test('until there is room', async () => {
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  const pauses: number[] = [];
  const result = await putAll(client, [put('one'), put('two')], async (ms) => void pauses.push(ms));
  expect(result).toEqual({ kind: 'written', stored: [] });
  expect([asked, pauses.length]).toEqual([3, 2]);
});
