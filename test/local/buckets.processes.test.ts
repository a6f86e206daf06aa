/** Buckets and their events; events and schedules that cannot be delivered. */
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { readAwsCall } from '../../local/gateway/aws-call.ts';
import { cloudFor, template } from './fixture.ts';

/**
 * The fixture's stack with a bucket that sends events and one that does not, a rule for these events, and
 * unreachable targets.
 */
function stack(): ReturnType<typeof template> {
  const made = template();
  const arn = (id: string, path = ''): object => ({ 'Fn::Sub': `\${${id}.Arn}${path}` });
  const { webRole, OnDone, DeadPolicy } = made.Resources;
  const policies = webRole?.Properties['Policies'] as { PolicyDocument: { Statement: object[] } }[];
  policies[0]?.PolicyDocument.Statement.push({
    Effect: 'Allow',
    Action: ['s3:PutObject', 's3:GetObject'],
    Resource: arn('Uploads', '/in/*'),
  });
  OnDone!.Properties['EventPattern'] = { source: ['aws.s3', 'shop'] };
  const target = OnDone!.Properties['Targets'] as { Arn: object; DeadLetterConfig?: object }[];
  // The rule may send to the dead-letter queue only.
  Object.assign(target[0]!, { Arn: arn('Work'), DeadLetterConfig: { Arn: arn('Dead') } });
  expect(DeadPolicy).toBeDefined();
  const EventBridgeConfiguration = { EventBridgeEnabled: true };
  Object.assign(made.Resources, {
    OnForeign: {
      Type: 'AWS::Events::Rule',
      Properties: {
        EventPattern: { source: ['aws.s3'], detail: { bucket: { name: ['from-elsewhere', 'silent'] } } },
        Targets: [],
      },
    },
    Uploads: {
      Type: 'AWS::S3::Bucket',
      Properties: { NotificationConfiguration: { EventBridgeConfiguration } },
    },
    Silent: { Type: 'AWS::S3::Bucket', Properties: { BucketName: 'silent' } },
  });
  return made;
}

let cloud: Cloud;
let assembly: string;
let dataDir: string;
let end: () => Promise<void>;
beforeAll(async () => {
  ({ cloud, assembly, dataDir, end } = await cloudFor({}, stack()));
});
afterAll(async () => {
  await cloud.stop();
  await end();
});

const ask = async (method: string, path: string, init: RequestInit = {}) =>
  await fetch(`${cloud.gatewayUrl}/${path}`, { method, ...init });
const as = (accessKeyId: string): { headers: Record<string, string> } => ({
  headers: {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host`,
  },
});

test('an object is written, read and deleted, and is there after the next start', async () => {
  const headers = { 'content-type': 'text/csv' };
  const put = await ask('PUT', 'shop-uploads/in/a%20b.csv', { body: 'x,y', headers });
  expect(put.status).toBe(200);
  const got = await ask('GET', 'shop-uploads/in/a%20b.csv');
  expect([got.status, got.headers.get('content-type'), await got.text()]).toEqual([200, 'text/csv', 'x,y']);
  const head = await ask('HEAD', 'shop-uploads/in/a%20b.csv');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', '']);
  expect(cloud.control.buckets()[0]).toEqual({
    logicalId: 'Uploads',
    name: 'shop-uploads',
    keys: ['in/a b.csv'],
  });
  await cloud.stop();
  cloud = await startCloud({ assembly, dataDir, port: 0, schedules: false });
  expect(cloud.control.buckets()[0]?.keys).toEqual(['in/a b.csv']);
  expect((await ask('DELETE', 'shop-uploads/in/a%20b.csv')).status).toBe(204);
  const gone = await ask('GET', 'shop-uploads/in/a%20b.csv');
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('<Code>NoSuchKey</Code>')]);
});

test('an object in chunks is put together', async () => {
  const body =
    '5;chunk-signature=ab\r\nhello\r\n1;chunk-signature=cd\r\n!\r\n0;chunk-signature=ef\r\nx-amz-checksum-crc32:AA==\r\n\r\n';
  const headers = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
  await ask('PUT', 'silent/s.txt', { body, headers });
  expect(await (await ask('GET', 'silent/s.txt')).text()).toBe('hello!');
});

test('an object’s event has S3’s form, each write with a later sequencer; a bucket without notifications sends none', async () => {
  cloud.control.putObject('uploads', 'in/x.csv', 'ab');
  cloud.control.putObject('uploads', 'in/x.csv', 'abc');
  cloud.control.putObject('silent', 'in/x.csv', 'abc');
  const created = cloud.control.events().filter(({ detailType }) => detailType === 'Object Created');
  expect(created).toHaveLength(2);
  expect(created[0]).toMatchObject({
    bus: 'default',
    source: 'aws.s3',
    detail: {
      version: '0',
      bucket: { name: 'shop-uploads' },
      object: { key: 'in/x.csv', size: 2, etag: '187ef4436122d1cc2f40dc2b92f0eba0' },
      reason: 'PutObject',
    },
  });
  const [first, second] = created.map(
    ({ detail }) => (detail as { object: { sequencer: string } }).object.sequencer,
  );
  expect(first! < second!).toBe(true);
});

test('a bucket from elsewhere is there when a rule names it, and tells; one of the stack’s own stays as it is', async () => {
  const names = cloud.control.buckets().map(({ name }) => name);
  expect(names.filter((name) => /^(?:from-elsewhere|silent)$/.test(name))).toEqual([
    'silent',
    'from-elsewhere',
  ]);
  const eventCount = (): number => cloud.control.events().filter(({ source }) => source === 'aws.s3').length;
  const before = eventCount();
  expect((await ask('PUT', 'silent/a', { body: 'a' })).status).toBe(200);
  expect(eventCount()).toBe(before);
  expect((await ask('PUT', 'from-elsewhere/a', { body: 'a' })).status).toBe(200);
  expect(eventCount()).toBe(before + 1);
});

test('a function may do with objects what its role allows', async () => {
  expect((await ask('PUT', 'shop-uploads/in/f.csv', { body: 'f', ...as('Web-1') })).status).toBe(200);
  const refused = await ask('PUT', 'shop-uploads/out/f.csv', { body: 'f', ...as('Web-1') });
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('s3:PutObject on resource: arn:aws:s3:::shop-uploads/out/f.csv'),
  ]);
  expect((await ask('HEAD', 'shop-uploads/in/f.csv', as('Web-1'))).status).toBe(200);
  expect((await ask('DELETE', 'shop-uploads/in/f.csv', as('Web-1'))).status).toBe(403);
  expect(cloud.control.calls()).toContainEqual(
    expect.objectContaining({
      caller: 'Web',
      service: 's3',
      operation: 'PutObject',
      resource: 'shop-uploads',
      calls: 2,
      errors: 1,
    }),
  );
});

test('a list has the keys that begin so, in their order, page by page', async () => {
  for (const key of ['list/c', 'list/a%20b', 'other', 'list/b'])
    expect((await ask('PUT', `silent/${key}`, { body: '1' })).status).toBe(200);
  const keysOf = async (query: string): Promise<string[]> => {
    const xml = await (await ask('GET', `silent?list-type=2&prefix=list%2F&max-keys=2${query}`)).text();
    return [...xml.matchAll(/<Key>([^<]*)|<IsTruncated>([^<]*)/g)].map(([, key, more]) => key ?? more ?? '');
  };
  expect(await keysOf('')).toEqual(['true', 'list/a b', 'list/b']);
  expect(await keysOf('&start-after=list%2Fb')).toEqual(['false', 'list/c']);
});

test.each([
  ['GET', 'silent?list-type=2&delimiter=/', 501],
  ['GET', 'nobody?list-type=2', 404],
  ['PUT', 'silent/k?uploadId=1', 501],
  ['GET', 'nobody/k', 404],
])('%s %s is answered with what is missing', async (method, path, status) => {
  expect((await ask(method, path)).status).toBe(status);
});

test('an event that may not reach its target goes to the target’s dead-letter queue', async () => {
  cloud.control.purge('dead');
  cloud.control.putEvent({ source: 'shop', detailType: 'Sold', detail: { n: 1 } });
  expect(cloud.control.peek('dead').map(({ body }) => JSON.parse(body) as object)).toEqual([
    expect.objectContaining({ source: 'shop', 'detail-type': 'Sold', detail: { n: 1 } }),
  ]);
});

test('a source of AWS’s own is theirs: PutEvents refuses it, and an unknown bus is named', () => {
  expect(() => cloud.control.putEvent({ bus: 'nobody', source: 'a', detailType: 'b', detail: {} })).toThrow(
    'there are: default',
  );
});

test('what an S3 call is about is read off its path', () => {
  const read = (method: string, url: string, headers = {}): unknown =>
    readAwsCall(headers, Buffer.alloc(0), { method, url }).object;
  expect(read('PUT', '/b/a/c%2Bd?x-id=PutObject')).toEqual({
    operation: 'PutObject',
    bucket: 'b',
    key: 'a/c+d',
  });
  expect(read('PUT', '/b/a', { 'x-amz-copy-source': '/c/d' })).toMatchObject({ operation: 'unknown' });
  expect(read('POST', '/b/a')).toBeUndefined();
});
