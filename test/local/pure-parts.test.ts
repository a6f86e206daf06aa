import { askingForCapacity, capacityOf, refusedCapacityOf } from '../../local/gateway/capacity.ts';
import { readAwsCall } from '../../local/gateway/aws-call.ts';
import { parseExact, plain, stringifyExact } from '../../local/events/exact-json.ts';
import { matchesPattern } from '../../local/events/pattern.ts';
import { byPath } from '../../local/http/by-path.ts';
import { httpAnswer, proxyEvent } from '../../local/http/proxy-event.ts';
import { matchRoute } from '../../local/http/routes.ts';
import { failedIds } from '../../local/lambda/event-source.ts';
import { pick } from '../../local/control/named.ts';
import type { Json } from '../../local/template/json.ts';

const entries = (...values: unknown[]) => ({
  batchItemFailures: values.map((itemIdentifier) => ({ itemIdentifier })),
});

const call = (target: string, body: unknown, key = 'ChargeCardFn1A2B-3') =>
  readAwsCall(
    {
      authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host`,
      'x-amz-target': target,
    },
    Buffer.from(JSON.stringify(body)),
  );

describe('a partial batch failure', () => {
  const ids = ['a', 'b'];
  const answered = (answer: unknown, reports = true) =>
    [...failedIds({ ok: true, payload: JSON.stringify(answer) }, ids, reports)].join('');
  test.each<[string, unknown, string]>([
    ['a null answer succeeds all', null, ''],
    ['an empty answer succeeds all', {}, ''],
    ['a null list succeeds all', { batchItemFailures: null }, ''],
    ['an empty list succeeds all', { batchItemFailures: [] }, ''],
    ['a named message fails alone', entries('b'), 'b'],
    ['an unknown id fails all', entries('z'), 'ab'],
    ['an empty id fails all', entries(''), 'ab'],
    ['a null id fails all', entries(null), 'ab'],
    ['a bad key fails all', { batchItemFailures: [{ id: 'a' }] }, 'ab'],
    ['a garbled list fails all', { batchItemFailures: 'a' }, 'ab'],
    ['a garbled answer fails all', 'oops', 'ab'],
  ])('%s', (_name, answer, failed) => {
    expect(answered(answer)).toBe(failed);
  });

  test('without ReportBatchItemFailures any answer succeeds all, and an error always fails all', () => {
    expect(answered(entries('a'), false)).toBe('');
    const error = { errorType: 'E', errorMessage: 'm' };
    expect([...failedIds({ ok: false, kind: 'error', error }, ids, false)]).toEqual(ids);
  });
});

describe('an event pattern', () => {
  const event: Json = {
    source: 'shop',
    'detail-type': 'Done',
    detail: { total: 20, tags: ['a', 'b'], name: 'Order-7', nested: { ok: true, gone: null } },
  };
  test.each<[string, Record<string, Json>, boolean]>([
    ['a wildcard', { detail: { name: [{ wildcard: 'O*-*7' }] } }, true],
    ['a wildcard whose star is a star', { detail: { name: [{ wildcard: 'Order\\*7' }] } }, false],
    ['exact', { source: ['shop', 'x'] }, true],
    ['exact, not', { source: ['x'] }, false],
    ['several fields must all match', { source: ['shop'], 'detail-type': ['Other'] }, false],
    ['an item of a list', { detail: { tags: ['b'] } }, true],
    ['prefix', { detail: { name: [{ prefix: 'Order-' }] } }, true],
    ['suffix', { detail: { name: [{ suffix: '-8' }] } }, false],
    ['ignoring case', { detail: { name: [{ 'equals-ignore-case': 'ORDER-7' }] } }, true],
    ['wildcard', { detail: { name: [{ wildcard: 'O*r-*' }] } }, true],
    ['anything but', { source: [{ 'anything-but': ['shop'] }] }, false],
    ['anything but a prefix', { source: [{ 'anything-but': { prefix: 'aws.' } }] }, true],
    ['anything but needs the field', { detail: { missing: [{ 'anything-but': 'x' }] } }, false],
    ['numeric range', { detail: { total: [{ numeric: ['>', 10, '<=', 20] }] } }, true],
    ['numeric, not', { detail: { total: [{ numeric: ['<', 20] }] } }, false],
    ['exists', { detail: { nested: { ok: [{ exists: true }] } } }, true],
    ['does not exist', { detail: { missing: [{ exists: false }] } }, true],
    ['null', { detail: { nested: { gone: [null] } } }, true],
    ['or', { $or: [{ source: ['x'] }, { detail: { total: [20] } }] }, true],
  ])('%s', (_name, pattern, expected) => {
    expect(matchesPattern(pattern, event)).toBe(expected);
  });
});

test('routes: exact before parameter before greedy before default', () => {
  const routes = [
    '$default',
    'ANY /items/{rest+}',
    'GET /items/{id}',
    'GET /items/all',
    'POST /items/{id}',
  ].map((routeKey) => ({ routeKey, functionName: 'f', integrationTimeoutMs: 1, authorization: 'NONE' }));
  const chosen = (method: string, path: string) => {
    const match = matchRoute(routes, method, path);
    return [match?.route.routeKey, match?.pathParameters];
  };
  expect(chosen('GET', '/items/all')).toEqual(['GET /items/all', {}]);
  expect(chosen('GET', '/items/a%20b')).toEqual(['GET /items/{id}', { id: 'a b' }]);
  expect(chosen('DELETE', '/items/7')).toEqual(['ANY /items/{rest+}', { rest: '7' }]);
  expect(chosen('GET', '/items/7/parts')).toEqual(['ANY /items/{rest+}', { rest: '7/parts' }]);
  expect(chosen('GET', '/')).toEqual(['$default', {}]);
  expect(matchRoute(routes.slice(1), 'GET', '/')).toBeUndefined();
});

describe('payload format 2.0', () => {
  const request = {
    method: 'POST',
    rawPath: '/a/b',
    rawQuery: 'x=1&x=2&y=%20',
    headers: { host: 'h', cookie: 'a=1; b=2', 'content-type': 'application/json' },
    sourceIp: '127.0.0.1',
    body: Buffer.from('{"a":1}'),
    at: 1_700_000_000_000,
    requestId: 'r',
  };
  const route = {
    routeKey: '$default',
    pathParameters: {},
    apiId: 'api',
    stage: '$default',
    accountId: '0',
    authorization: 'AWS_IAM',
    user: 'ann',
  };

  test('a request becomes the event', () => {
    expect(proxyEvent(request, route)).toMatchObject({
      version: '2.0',
      rawPath: '/a/b',
      rawQueryString: 'x=1&x=2&y=%20',
      queryStringParameters: { x: '1,2', y: ' ' },
      cookies: ['a=1', 'b=2'],
      headers: { host: 'h' },
      body: '{"a":1}',
      isBase64Encoded: false,
      requestContext: {
        time: '14/Nov/2023:22:13:20 +0000',
        http: { method: 'POST', path: '/a/b', sourceIp: '127.0.0.1' },
        authorizer: { iam: { userArn: 'arn:aws:iam::0:user/ann' } },
      },
    });
  });

  test.each([
    ['JWT', { jwt: { claims: { iss: 'local', sub: 'ann' }, scopes: null } }],
    ['NONE', undefined],
    ['CUSTOM', undefined],
  ])('a route with %s says who calls as API Gateway does, or not at all', (authorization, authorizer) => {
    const { requestContext } = proxyEvent(request, { ...route, authorization }) as { requestContext: object };
    expect((requestContext as { authorizer?: unknown }).authorizer).toEqual(authorizer);
  });

  test('a binary body is base64', () => {
    const headers = { 'content-type': 'image/png' };
    expect(proxyEvent({ ...request, headers, body: Buffer.from([255]) }, route)).toMatchObject({
      body: '/w==',
      isBase64Encoded: true,
    });
  });

  test.each<[unknown, number, string, string]>([
    [{ statusCode: 201, headers: { 'X-A': 'b' }, body: 'hi' }, 201, 'hi', 'text/plain;charset=utf-8'],
    [{ statusCode: 200, body: 'aGk=', isBase64Encoded: true }, 200, 'hi', 'text/plain;charset=utf-8'],
    [{ a: 1 }, 200, '{"a":1}', 'application/json'],
    ['text', 200, 'text', 'application/json'],
  ])('the answer %j', (answer, statusCode, body, contentType) => {
    const result = httpAnswer(JSON.stringify(answer));
    expect([result.statusCode, result.body.toString(), result.headers['content-type']]).toEqual([
      statusCode,
      body,
      contentType,
    ]);
  });

  test('an invalid status code is an error', () => {
    expect(() => httpAnswer('{"statusCode":"soon"}')).toThrow(/bad statusCode/);
  });
});

test('a call is attributed by its access key, and named by a search of the body', () => {
  const item = { note: { S: 'a "TableName":"fake" in a text' } };
  expect(call('DynamoDB_20120810.PutItem', { Item: item, TableName: 'Real' })).toMatchObject({
    caller: 'ChargeCardFn1A2B',
    service: 'dynamodb',
    operation: 'PutItem',
    resource: 'Real',
  });
  expect(call('DynamoDB_20120810.BatchGetItem', { RequestItems: { Real: {} } }).resource).toBe('Real');
  expect(call('AmazonSQS.SendMessage', { QueueUrl: 'http://x/0/Work' })).toMatchObject({
    service: 'sqs',
    resource: 'Work',
  });
  expect(call('AWSEvents.PutEvents', {}, 'AKIAOUTSIDE').caller).toBe('outside');
});

test('capacity is asked for once and summed up', () => {
  const asked = askingForCapacity('PutItem', Buffer.from('{"TableName":"T"}')).toString();
  expect(JSON.parse(asked)).toEqual({ ReturnConsumedCapacity: 'TOTAL', TableName: 'T' });
  expect(askingForCapacity('PutItem', Buffer.from(asked)).toString()).toBe(asked);
  expect(askingForCapacity('DescribeTable', Buffer.from('{}')).toString()).toBe('{}');
  expect(capacityOf('{"ConsumedCapacity":[{"CapacityUnits":2},{"CapacityUnits":0.5}]}')).toBe(2.5);
});

test('a refused write consumes what it would have written, in a transaction twice', () => {
  const consumed = (request: object, type = 'ConditionalCheckFailedException') =>
    refusedCapacityOf(
      Buffer.from(JSON.stringify(request)),
      JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}` }),
    );
  const small = { Put: { Item: { pk: { S: 'x' } } } };
  const large = { Put: { Item: { pk: { S: 'x'.repeat(1_024) } } } };
  expect(consumed(small.Put)).toBe(1);
  expect(consumed(large.Put)).toBe(2);
  expect(consumed({ Key: { pk: { S: 'x' } } })).toBe(1);
  const transaction = { TransactItems: [small, large, { ConditionCheck: { Key: {} } }] };
  expect(consumed(transaction, 'TransactionCanceledException')).toBe(8);
  expect(consumed(large.Put, 'ProvisionedThroughputExceededException')).toBe(0);
});

test('a name may be a unique part; an unclear one lists the candidates', () => {
  const all = ['ChargeCardFn12AB', 'ReserveStockFn34', 'ReserveStockElsewhereFn'];
  const find = (name: string) => pick('function', name, all, (each) => [each]);
  expect(find('charge-card')).toBe('ChargeCardFn12AB');
  expect(find('elsewhere')).toBe('ReserveStockElsewhereFn');
  expect(() => find('reserve')).toThrow(
    '"reserve" fits several functions: ReserveStockFn34, ReserveStockElsewhereFn',
  );
  expect(() => find('ship')).toThrow(/no function is called "ship"; there are: ChargeCardFn12AB/);
});

describe('JSON whose numbers keep their text', () => {
  it.each([
    '9007199254740993',
    '1.10',
    '-0',
    '1E+3',
    '"9007199254740993"',
    '"\\"1.10"',
    '{"1.10":[1.10,{"a":2}]}',
  ])('%s', (text) => {
    expect(stringifyExact(parseExact(text))).toBe(text);
    expect(plain(parseExact(text))).toEqual(JSON.parse(text));
  });

  it('is refused if it is not JSON', () => {
    for (const text of ['', '{', '01', '1.', "'a'"]) expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

test.each([
  ['/console', 'console'],
  ['/console/?a=/_local/', 'console'],
  ['/_local/queues', '_local'],
  ['/consoles', 'apis'],
  ['/x/console', 'apis'],
  ['//console/', 'apis'],
  ['http://elsewhere/console/', 'apis'],
  ['/', 'apis'],
])('%s is answered by %s', (url, wanted) => {
  const said: string[] = [];
  const as = (name: string) => () => said.push(name);
  byPath({ '/_local': as('_local'), '/console': as('console') }, as('apis'))({ url } as never, {} as never);
  expect(said).toEqual([wanted]);
});
