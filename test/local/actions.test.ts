/** Which permissions a call needs, as the services' authorisation references say. */
import { type CallPlace, needsOf } from '../../local/iam/actions.ts';

const PLACE: CallPlace = {
  region: 'us-east-1',
  accountId: '000000000000',
  partitionKey: (table) => (table === 'T' ? 'pk' : undefined),
};
const T = 'arn:aws:dynamodb:us-east-1:000000000000:table/T';
const QUEUE_URL = 'http://127.0.0.1:1/000000000000/work';
const text = (S: string): object => ({ S });

/** `action resource [condition keys]`, one line each; undefined when it cannot be told. */
function needs(service: string, operation: string, body: object | string): string[] | undefined {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const call = { accessKeyId: '', caller: 'Fn', service, operation, resource: '', body: Buffer.from(json) };
  return needsOf(call, PLACE)?.map(({ action, resource, context }) => {
    const keys = Object.entries(context).map(([key, values]) => `${key}=${values.join('+')}`);
    return [action, resource, ...keys].join(' ');
  });
}

test.each<[string, string, string, object, string[]]>([
  [
    'a write',
    'dynamodb',
    'PutItem',
    { TableName: 'T', Item: { pk: text('a') } },
    [`dynamodb:PutItem ${T} dynamodb:leadingkeys=a`],
  ],
  [
    'a table by its ARN',
    'dynamodb',
    'GetItem',
    { TableName: T, Key: { pk: text('a') } },
    [`dynamodb:GetItem ${T} dynamodb:leadingkeys=a`],
  ],
  [
    'a table of which nothing is known',
    'dynamodb',
    'GetItem',
    { TableName: 'X', Key: { pk: text('a') } },
    [`dynamodb:GetItem ${T.replace(/T$/, 'X')}`],
  ],
  [
    'a scan',
    'dynamodb',
    'Scan',
    { TableName: 'T', Select: 'COUNT' },
    [`dynamodb:Scan ${T} dynamodb:select=COUNT`],
  ],
  [
    'a query',
    'dynamodb',
    'Query',
    {
      TableName: 'T',
      KeyConditionExpression: '#p = :p AND sk > :s',
      ExpressionAttributeNames: { '#p': 'pk' },
      ExpressionAttributeValues: { ':p': text('a'), ':s': text('b') },
    },
    [`dynamodb:Query ${T} dynamodb:leadingkeys=a`],
  ],
  [
    'a query of an index',
    'dynamodb',
    'Query',
    {
      TableName: 'T',
      IndexName: 'due',
      KeyConditionExpression: 'shard = :p',
      ExpressionAttributeValues: { ':p': text('a') },
    },
    [`dynamodb:Query ${T}/index/due dynamodb:leadingkeys=(not known here)`],
  ],
  [
    'a transaction of writes: each part',
    'dynamodb',
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { TableName: 'T', Item: { pk: text('a') } } },
        { Update: { TableName: 'T', Key: { pk: text('b') } } },
        { Delete: { TableName: 'X', Key: {} } },
        { ConditionCheck: { TableName: 'T', Key: { pk: text('c') } } },
      ],
    },
    [
      `dynamodb:PutItem ${T} dynamodb:leadingkeys=a dynamodb:enclosingoperation=TransactWriteItems`,
      `dynamodb:UpdateItem ${T} dynamodb:leadingkeys=b dynamodb:enclosingoperation=TransactWriteItems`,
      `dynamodb:DeleteItem ${T.replace(/T$/, 'X')} dynamodb:enclosingoperation=TransactWriteItems`,
      `dynamodb:ConditionCheckItem ${T} dynamodb:leadingkeys=c dynamodb:enclosingoperation=TransactWriteItems`,
    ],
  ],
  [
    'a transaction of reads: each part',
    'dynamodb',
    'TransactGetItems',
    { TransactItems: [{ Get: { TableName: 'T', Key: { pk: text('a') } } }] },
    [`dynamodb:GetItem ${T} dynamodb:leadingkeys=a dynamodb:enclosingoperation=TransactGetItems`],
  ],
  [
    'a batch of reads: its own action on each table',
    'dynamodb',
    'BatchGetItem',
    {
      RequestItems: {
        T: { Keys: [{ pk: text('a') }, { pk: text('b') }, { pk: text('a') }] },
        X: { Keys: [] },
      },
    },
    [`dynamodb:BatchGetItem ${T} dynamodb:leadingkeys=a+b`, `dynamodb:BatchGetItem ${T.replace(/T$/, 'X')}`],
  ],
  [
    'a batch of writes: its own action',
    'dynamodb',
    'BatchWriteItem',
    {
      RequestItems: {
        T: [{ PutRequest: { Item: { pk: text('a') } } }, { DeleteRequest: { Key: { pk: text('b') } } }],
      },
    },
    [`dynamodb:BatchWriteItem ${T} dynamodb:leadingkeys=a+b`],
  ],
  ['a list of tables', 'dynamodb', 'ListTables', {}, ['dynamodb:ListTables *']],
  [
    'a message',
    'sqs',
    'SendMessage',
    { QueueUrl: QUEUE_URL },
    ['sqs:SendMessage arn:aws:sqs:us-east-1:000000000000:work'],
  ],
  [
    'many messages: the single action',
    'sqs',
    'SendMessageBatch',
    { QueueUrl: QUEUE_URL },
    ['sqs:SendMessage arn:aws:sqs:us-east-1:000000000000:work'],
  ],
  [
    'many deletions',
    'sqs',
    'DeleteMessageBatch',
    { QueueUrl: QUEUE_URL },
    ['sqs:DeleteMessage arn:aws:sqs:us-east-1:000000000000:work'],
  ],
  [
    'many visibilities',
    'sqs',
    'ChangeMessageVisibilityBatch',
    { QueueUrl: QUEUE_URL },
    ['sqs:ChangeMessageVisibility arn:aws:sqs:us-east-1:000000000000:work'],
  ],
  [
    'a queue by its name',
    'sqs',
    'GetQueueUrl',
    { QueueName: 'work' },
    ['sqs:GetQueueUrl arn:aws:sqs:us-east-1:000000000000:work'],
  ],
  ['a list of queues', 'sqs', 'ListQueues', {}, ['sqs:ListQueues *']],
  [
    'events: each bus once',
    'events',
    'PutEvents',
    {
      Entries: [
        { EventBusName: 'shop' },
        { EventBusName: 'shop' },
        {},
        { EventBusName: 'arn:aws:events:eu-west-1:1:event-bus/far' },
      ],
    },
    ['shop', 'default']
      .map((bus) => `events:PutEvents arn:aws:events:us-east-1:000000000000:event-bus/${bus}`)
      .concat('events:PutEvents arn:aws:events:eu-west-1:1:event-bus/far'),
  ],
])('%s', (_, service, operation, body, expected) => {
  expect(needs(service, operation, body)).toEqual(expected);
});

test.each<[string, string, string, object | string]>([
  ['SQL', 'dynamodb', 'ExecuteStatement', { Statement: 'SELECT * FROM T' }],
  [
    'a part of a transaction that is none',
    'dynamodb',
    'TransactWriteItems',
    { TransactItems: [{ Merge: { TableName: 'T' } }] },
  ],
  ['a body that is no JSON', 'sqs', 'SendMessage', 'QueueUrl=x'],
  ['a service that is not emulated', 's3', 'unknown', ''],
])('%s cannot be told', (_, service, operation, body) => {
  expect(needs(service, operation, body)).toBeUndefined();
});
