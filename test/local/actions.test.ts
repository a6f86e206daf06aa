/** Which permissions a call needs, as the services' authorisation references say. */
import { type CallPlace, needsOf } from '../../local/iam/actions.ts';

const PLACE: CallPlace = {
  region: 'us-east-1',
  accountId: '000000000000',
  partitionKey: (table) => (table === 'T' ? 'pk' : undefined),
};
const TABLES = 'arn:aws:dynamodb:us-east-1:000000000000:table/';
const HERE = 'us-east-1:000000000000:';
const QUEUE_URL = 'http://127.0.0.1:1/000000000000/work';
const text = (S: string): object => ({ S });

/**
 * `action resource [condition keys]`, one line each, `@` being the ARN of a table; undefined if it is
 * unknown.
 */
function needs(service: string, operation: string, body: object | string): string[] | undefined {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const call = { accessKeyId: '', caller: 'Fn', service, operation, resource: '', body: Buffer.from(json) };
  return needsOf(call, PLACE)?.map(({ action, resource, context }) => {
    const keys = Object.entries(context).map(([key, values]) => `${key}=${values.join('+')}`);
    return [action, resource, ...keys].join(' ').replaceAll(TABLES, '@').replaceAll(HERE, 'here:');
  });
}

const [a, b, c] = [{ pk: text('a') }, { pk: text('b') }, { pk: text('c') }];
const query = {
  TableName: 'T',
  KeyConditionExpression: '#p = :p AND sk > :s',
  ExpressionAttributeNames: { '#p': 'pk' },
  ExpressionAttributeValues: { ':p': text('a'), ':s': text('b') },
};
const due = { IndexName: 'due', KeyConditionExpression: 'shard = :p' };
const writes = [
  { Put: { TableName: 'T', Item: a } },
  { Update: { TableName: 'T', Key: b } },
  { Delete: { TableName: 'X', Key: {} } },
  { ConditionCheck: { TableName: 'T', Key: c } },
];
const reads = { T: { Keys: [a, b, a] }, X: { Keys: [] } };
const both = { T: [{ PutRequest: { Item: a } }, { DeleteRequest: { Key: b } }] };
const far = 'arn:aws:events:eu-west-1:1:event-bus/far';
const events = [{ EventBusName: 'shop' }, { EventBusName: 'shop' }, {}, { EventBusName: far }];

test.each<[string, string, object, string[]]>([
  ['a write', 'PutItem', { TableName: 'T', Item: a }, ['PutItem @T leadingkeys=a']],
  ['a table by its ARN', 'GetItem', { TableName: `${TABLES}T`, Key: a }, ['GetItem @T leadingkeys=a']],
  ['a table of which nothing is known', 'GetItem', { TableName: 'X', Key: a }, ['GetItem @X']],
  ['a scan', 'Scan', { TableName: 'T', Select: 'COUNT' }, ['Scan @T select=COUNT']],
  ['a query', 'Query', query, ['Query @T leadingkeys=a']],
  [
    'a query of an index',
    'Query',
    { ...query, ...due },
    ['Query @T/index/due leadingkeys=(not known to the local cloud)'],
  ],
  [
    'a transaction of writes: each part',
    'TransactWriteItems',
    { TransactItems: writes },
    [
      'PutItem @T leadingkeys=a',
      'UpdateItem @T leadingkeys=b',
      'DeleteItem @X',
      'ConditionCheckItem @T leadingkeys=c',
    ].map((need) => `${need} enclosingoperation=TransactWriteItems`),
  ],
  [
    'a transaction of reads: each part',
    'TransactGetItems',
    { TransactItems: [{ Get: { TableName: 'T', Key: a } }] },
    ['GetItem @T leadingkeys=a enclosingoperation=TransactGetItems'],
  ],
  [
    'a batch of reads: its own action on each table',
    'BatchGetItem',
    { RequestItems: reads },
    ['BatchGetItem @T leadingkeys=a+b', 'BatchGetItem @X'],
  ],
  [
    'a batch of writes: its own action',
    'BatchWriteItem',
    { RequestItems: both },
    ['BatchWriteItem @T leadingkeys=a+b'],
  ],
  ['a list of tables', 'ListTables', {}, ['ListTables *']],
])('%s', (_, operation, body, expected) => {
  const lines = expected.map(
    (need) => `dynamodb:${need.replaceAll(/ (?=leading|select|enclosing)/g, ' dynamodb:')}`,
  );
  expect(needs('dynamodb', operation, body)).toEqual(lines);
});

test.each<[string, string, object, string]>([
  ['a message', 'SendMessage', { QueueUrl: QUEUE_URL }, 'SendMessage'],
  ['many messages: the single action', 'SendMessageBatch', { QueueUrl: QUEUE_URL }, 'SendMessage'],
  ['many deletions', 'DeleteMessageBatch', { QueueUrl: QUEUE_URL }, 'DeleteMessage'],
  ['many visibilities', 'ChangeMessageVisibilityBatch', { QueueUrl: QUEUE_URL }, 'ChangeMessageVisibility'],
  ['a queue by its name', 'GetQueueUrl', { QueueName: 'work' }, 'GetQueueUrl'],
])('%s', (_, operation, body, action) => {
  expect(needs('sqs', operation, body)).toEqual([`sqs:${action} arn:aws:sqs:here:work`]);
});

test('a list of queues, and events: each bus once', () => {
  expect(needs('sqs', 'ListQueues', {})).toEqual(['sqs:ListQueues *']);
  const buses = ['arn:aws:events:here:event-bus/shop', 'arn:aws:events:here:event-bus/default', far];
  expect(needs('events', 'PutEvents', { Entries: events })).toEqual(
    buses.map((bus) => `events:PutEvents ${bus}`),
  );
});

test.each<[string, string, string, object | string]>([
  ['SQL', 'dynamodb', 'ExecuteStatement', { Statement: 'SELECT * FROM T' }],
  [
    'a part that is none',
    'dynamodb',
    'TransactWriteItems',
    { TransactItems: [{ Merge: { TableName: 'T' } }] },
  ],
  ['a body that is no JSON', 'sqs', 'SendMessage', 'QueueUrl=x'],
  ['a service that is not emulated', 's3', 'unknown', ''],
])('%s cannot be told', (_, service, operation, body) => {
  expect(needs(service, operation, body)).toBeUndefined();
});
