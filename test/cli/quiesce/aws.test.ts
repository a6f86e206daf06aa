/** What quiesce asks of AWS, over HTTP: addresses, shapes, pages, refusals. */

import type { Clock } from '../../../cli/io.ts';
import { AwsAccount } from '../../../cli/quiesce/aws.ts';
import { Calls } from '../../../cli/aws/calls.ts';
import { type Options, planned, quiesce, unquiesce } from '../../../cli/quiesce/order.ts';
import { steadfast } from '../fake-api.ts';
import { stackResources } from '../../../cli/aws/stack-resources.ts';
import { FakeAws, SERVICE } from './fake-aws.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const DENIED =
  '<ErrorResponse><Error><Code>AccessDenied</Code><Message>User &#39;x&#39; is not authorized</Message></Error></ErrorResponse>';
const OPTIONS: Options = { drain: false, sources: true, say: () => undefined };

let aws: FakeAws;
const clock: Clock & { at: number; readonly slept: number[] } = {
  at: 1_700_000_000_000,
  slept: [],
  now: () => clock.at,
  async sleep(ms) {
    clock.slept.push(ms);
    clock.at += ms;
  },
};
const accountOf = (stack = 'Shop'): AwsAccount =>
  new AwsAccount(new Calls({ region: 'eu-central-1', endpoint: aws.url, credentials: KEYS, clock }), stack);

beforeEach(async () => {
  aws = new FakeAws();
  clock.slept.length = 0;
  await aws.open();
});
afterEach(() => aws.close());

test('finds every part by its tags, through all pages, also of a queue that another stack reads', async () => {
  const parts = planned(await accountOf().find(), { sources: true });
  expect(parts.map(({ role, kind, id, tailMs }) => `${role} ${kind} ${id} ${tailMs}`)).toEqual([
    'source rule arn:aws:events:eu-central-1:123456789012:rule/aws.partner/shop/Sold 0',
    'source schedule Shop-Schedules/daily 0',
    'start mapping m1 30000',
    'start route a1/$default/POST /workflows/{name}/executions 30000',
    'start route a1/$default/$default 30000',
    'work route a1/$default/POST /callbacks/{token}/heartbeat 30000',
    'work mapping m2 45000',
    'work mapping m3 30000',
    `work service ${SERVICE} 0`,
    'supervision rule arn:aws:events:eu-central-1:123456789012:rule/Shop-Tick 30000',
    'supervision rule arn:aws:events:eu-central-1:123456789012:rule/Shop-Audit 0',
  ]);
});

test('stops each part in the shape of its own API, keeps what was, and restores exactly that', async () => {
  const before = structuredClone([
    aws.mappings,
    aws.rules,
    aws.schedule,
    aws.service,
    aws.scaling,
    aws.routeSettings,
  ]);
  await quiesce(accountOf(), clock, OPTIONS);
  expect(aws.changes).toMatchInlineSnapshot(`
[
  "PutParameter {"Name":"/steadfast/Shop/quiesced/1","Value":"[{\\"role\\":\\"source\\",\\"kind\\":\\"rule\\",\\"id\\":\\"arn:aws:events:eu-central-1:123456789012:rule/aws.partner/shop/Sold\\",\\"state\\":\\"ENABLED\\"},{\\"role\\":\\"source\\",\\"kind\\":\\"schedule\\",\\"id\\":\\"Shop-Schedules/daily\\",\\"state\\":\\"ENABLED\\"},{\\"role\\":\\"start\\",\\"kind\\":\\"mapping\\",\\"id\\":\\"m1\\",\\"state\\":true},{\\"role\\":\\"start\\",\\"kind\\":\\"route\\",\\"id\\":\\"a1/$default/POST /workflows/{name}/executions\\",\\"state\\":null},{\\"role\\":\\"start\\",\\"kind\\":\\"route\\",\\"id\\":\\"a1/$default/$default\\",\\"state\\":null},{\\"role\\":\\"work\\",\\"kind\\":\\"route\\",\\"id\\":\\"a1/$default/POST /callbacks/{token}/heartbeat\\",\\"state\\":{\\"throttlingRateLimit\\":9}},{\\"role\\":\\"work\\",\\"kind\\":\\"mapping\\",\\"id\\":\\"m2\\",\\"state\\":true},{\\"role\\":\\"work\\",\\"kind\\":\\"mapping\\",\\"id\\":\\"m3\\",\\"state\\":false},{\\"role\\":\\"work\\",\\"kind\\":\\"service\\",\\"id\\":\\"arn:aws:ecs:eu-central-1:123456789012:service/Cluster/Encode\\",\\"state\\":{\\"desired\\":3,\\"scaling\\":{\\"DynamicScalingInSuspended\\":true,\\"DynamicScalingOutSuspended\\":false,\\"ScheduledScalingSuspended\\":false}}},{\\"role\\":\\"supervision\\",\\"kind\\":\\"rule\\",\\"id\\":\\"arn:aws:events:eu-central-1:123456789012:rule/Shop-Tick\\",\\"state\\":\\"ENABLED\\"},{\\"role\\":\\"supervision\\",\\"kind\\":\\"rule\\",\\"id\\":\\"arn:aws:events:eu-central-1:123456789012:rule/Shop-Audit\\",\\"state\\":\\"DISABLED\\"}]","Type":"String","Overwrite":false}",
  "DisableRule {"Name":"Sold","EventBusName":"aws.partner/shop"}",
  "PUT /schedules/daily {"GroupName":"Shop-Schedules","State":"DISABLED","ScheduleExpression":"rate(1 day)","Target":{"Arn":"queue"},"FlexibleTimeWindow":{"Mode":"OFF"},"StartDate":3}",
  "PUT /2015-03-31/event-source-mappings/m1 {"Enabled":false}",
  "PATCH /v2/apis/a1/stages/%24default {"routeSettings":{"GET /executions":{"throttlingRateLimit":5},"POST /callbacks/{token}/heartbeat":{"throttlingRateLimit":9},"POST /workflows/{name}/executions":{"throttlingBurstLimit":0,"throttlingRateLimit":0}}}",
  "PATCH /v2/apis/a1/stages/%24default {"routeSettings":{"GET /executions":{"throttlingRateLimit":5},"POST /callbacks/{token}/heartbeat":{"throttlingRateLimit":9},"POST /workflows/{name}/executions":{"throttlingBurstLimit":0,"throttlingRateLimit":0},"$default":{"throttlingBurstLimit":0,"throttlingRateLimit":0}}}",
  "PATCH /v2/apis/a1/stages/%24default {"routeSettings":{"GET /executions":{"throttlingRateLimit":5},"POST /callbacks/{token}/heartbeat":{"throttlingRateLimit":0,"throttlingBurstLimit":0},"POST /workflows/{name}/executions":{"throttlingBurstLimit":0,"throttlingRateLimit":0},"$default":{"throttlingBurstLimit":0,"throttlingRateLimit":0}}}",
  "PUT /2015-03-31/event-source-mappings/m2 {"Enabled":false}",
  "RegisterScalableTarget {"ServiceNamespace":"ecs","ScalableDimension":"ecs:service:DesiredCount","ResourceId":"service/Cluster/Encode","SuspendedState":{"DynamicScalingInSuspended":true,"DynamicScalingOutSuspended":true,"ScheduledScalingSuspended":true}}",
  "UpdateService {"cluster":"Cluster","service":"arn:aws:ecs:eu-central-1:123456789012:service/Cluster/Encode","desiredCount":0}",
  "DisableRule {"Name":"Shop-Tick"}",
]
`);
  expect(aws.mappings).toMatchObject({ m1: { State: 'Disabled' }, m2: { State: 'Disabled' } });
  expect(aws.rules).toEqual({
    'aws.partner/shop Sold': 'DISABLED',
    'Shop-Tick': 'DISABLED',
    'Shop-Audit': 'DISABLED',
  });
  expect([...aws.parameters.keys()]).toEqual(['/steadfast/Shop/quiesced/1']);
  aws.calls.length = 0;
  // Once more keeps and changes nothing but what says itself again.
  await quiesce(accountOf(), clock, OPTIONS);
  expect(aws.changes.filter((change) => change.startsWith('PutParameter'))).toEqual([]);
  await unquiesce(accountOf(), OPTIONS);
  for (const mapping of Object.values(aws.mappings))
    if (mapping.State === 'Enabling') mapping.State = 'Enabled';
  expect([aws.mappings, aws.rules, aws.schedule, aws.service, aws.scaling, aws.routeSettings]).toEqual(
    before,
  );
  expect(aws.parameters.size).toBe(0);
});

test('each request is signed for its own service, where AWS knows it by another name too', async () => {
  await quiesce(accountOf(), clock, OPTIONS);
  const services = new Set(aws.calls.map(({ service }) => service));
  expect([...services].sort((a, b) => a.localeCompare(b))).toEqual([
    'apigateway',
    'application-autoscaling',
    'cloudformation',
    'dynamodb',
    'ecs',
    'events',
    'lambda',
    'scheduler',
    'ssm',
    'tagging',
  ]);
  const scan = aws.calls.find(({ what }) => what === 'Scan');
  expect(scan?.headers['content-type']).toBe('application/x-amz-json-1.0');
});

test('waits for leases and process deadlines of the table that the functions use, through all pages', async () => {
  const at = clock.now();
  aws.items = [
    { leaseUntil: { N: String(at + 5) }, processDeadlineAt: { N: String(at + 60) } },
    { processDeadlineAt: { N: String(at + 9_000) } },
  ];
  expect(await accountOf().leases(at)).toEqual({ count: 2, lastAt: at + 9_000 });
  expect(await accountOf().open()).toBe(2);
  const [first, second, count] = aws.calls.filter(({ what }) => what === 'Scan').map(({ body }) => body);
  expect(first).toEqual({
    TableName: 'restored',
    ConsistentRead: true,
    FilterExpression: 'leaseUntil > :at OR processDeadlineAt > :at',
    ExpressionAttributeValues: { ':at': { N: String(at) } },
    ProjectionExpression: 'leaseUntil, processDeadlineAt',
  });
  expect(second).toMatchObject({ ExclusiveStartKey: 1 });
  expect(count).toEqual({ TableName: 'restored', IndexName: 'wake', Select: 'COUNT' });
});

test('of two Steadfasts in one stack all is found or named, and the tables of both are waited for', async () => {
  const [own = ''] = aws.tagged.find(([arn]) => arn.endsWith('Shop-Scheduler')) ?? [];
  aws.tagged = [...aws.tagged, [own.replace('Shop-Scheduler', 'Shop-OtherScheduler'), 'api']];
  aws.variables = {
    ...aws.variables,
    'Shop-OtherScheduler': {
      STEADFAST_TABLE: 'other',
      STEADFAST_AGENTS: 'pay,mail',
      STEADFAST_QUEUES: 'https://sqs.eu-central-1.amazonaws.com/123456789012/Shop-99999999_',
    },
  };
  await expect(accountOf().find()).rejects.toMatchObject({
    message: expect.stringContaining(
      'were not found by their tags: the API (1 of 2), the rule of the supervisor (1 of 2), the rule of the audit (1 of 2), the queue of the agent pay, the queue of the agent mail.',
    ) as string,
  });
  aws.items = [{ leaseUntil: { N: '2' } }];
  expect(await accountOf().leases(1)).toEqual({ count: 2, lastAt: 2 });
  expect(await accountOf().open()).toBe(2);
  const scans = aws.calls.filter(({ what }) => what === 'Scan').map(({ body }) => body['TableName']);
  expect(scans).toEqual(['restored', 'other', 'restored', 'other']);
});

test('a part that is gone is left out, before it is kept and after', async () => {
  const account = accountOf();
  const parts = await account.find();
  delete aws.mappings['m1'];
  expect(await account.state(parts.find(({ id }) => id === 'm1')!)).toBeUndefined();
  expect(await account.restore({ role: 'start', kind: 'mapping', id: 'm1', state: true })).toBe(false);
});

test('a stack that is none, a part that is unknown, and parts that are missing are named', async () => {
  await expect(accountOf('Shoop').find()).rejects.toMatchObject({
    code: 'no-stack',
    message: "no stack named 'Shoop' holds a Steadfast deployment; there are Shop",
  });
  aws.tagged = [...aws.tagged, ['arn:aws:sqs:eu-central-1:123456789012:x', 'new-part']];
  await expect(accountOf().find()).rejects.toMatchObject({ code: 'unknown-part' });
  aws.tagged = aws.tagged.slice(0, -1).filter(([arn]) => !arn.endsWith('_pay') && !arn.endsWith('Shop-Tick'));
  await expect(accountOf().find()).rejects.toMatchObject({
    code: 'incomplete',
    message: expect.stringContaining('the rule of the supervisor, the queue of the agent pay') as string,
  });
});

test('what CloudFormation lists and tags do not show yet is named, and nothing stops, unless it is left out', async () => {
  aws.resources = [
    ...aws.resources,
    ['NewStarter', 'AWS::Lambda::EventSourceMapping', 'm9'],
    ['Theirs', 'AWS::Events::Rule', 'a&b'],
  ];
  await expect(quiesce(accountOf(), clock, OPTIONS)).rejects.toMatchObject({
    code: 'incomplete',
    message: expect.stringContaining(
      'NewStarter (AWS::Lambda::EventSourceMapping), Theirs (AWS::Events::Rule)',
    ) as string,
  });
  expect(aws.changes.filter((change) => !change.startsWith('ListStackResources'))).toEqual([]);
  const calls = new Calls({ region: 'eu-central-1', endpoint: aws.url, credentials: KEYS, clock });
  const left = new AwsAccount(calls, 'Shop', ['NewStarter', 'Theirs']);
  expect(await left.find()).toHaveLength(11);
});

test('a refusal in XML reads like any other', async () => {
  const calls = new Calls({ region: 'eu-central-1', endpoint: aws.url, credentials: KEYS, clock });
  aws.refusals.push({ what: /ListStackResources/, status: 403, body: {}, times: 9, text: DENIED });
  await expect(stackResources(calls, 'Shop')).rejects.toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining(
      "AWS denied cloudformation:ListStackResources: User 'x' is not authorized",
    ) as string,
  });
});

test('a refusal names the action; what is busy or throttled is tried again', async () => {
  aws.refusals.push({
    what: /event-source-mappings\/m2/,
    status: 409,
    body: { __type: 'com.amazonaws#ResourceInUseException' },
    times: 3,
  });
  aws.refusals.push({ what: /GetResources/, status: 400, body: { __type: 'ThrottledException' }, times: 1 });
  const account = accountOf();
  await account.find();
  expect(await account.stop({ role: 'work', kind: 'mapping', id: 'm2', state: true })).toBe(true);
  expect(clock.slept).toEqual([500, 500, 1_000, 2_000]);
  aws.refusals.push({
    what: /^PUT .*\/m2/,
    status: 403,
    body: { __type: 'AccessDeniedException', Message: 'User x is not authorized' },
    times: 9,
  });
  aws.mappings['m2']!.State = 'Enabled';
  await expect(account.stop({ role: 'work', kind: 'mapping', id: 'm2', state: true })).rejects.toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining('AWS denied lambda:UpdateEventSourceMapping: User x') as string,
  });
});

describe('the commands', () => {
  const former = { ...process.env };
  beforeEach(() => {
    process.env['AWS_ACCESS_KEY_ID'] = KEYS.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = KEYS.secretAccessKey;
  });
  afterEach(() => {
    process.env = { ...former };
  });
  const ran = (...args: string[]) =>
    steadfast(args, { AWS_ENDPOINT_URL: aws.url, AWS_REGION: 'eu-central-1' });

  test('--dry-run says what would change, and changes nothing', async () => {
    const text = await ran('quiesce', '--stack', 'Shop', '--dry-run');
    expect(text).toMatchObject({ exitCode: 0, err: '' });
    expect(text.out.split('\n')[0]).toBe('start       mapping   m1');
    const { out } = await ran('quiesce', '--stack', 'Shop', '--dry-run', '--sources', '--json');
    expect(JSON.parse(out)).toMatchObject({ stack: 'Shop', dryRun: true });
    expect((JSON.parse(out) as { changed: unknown[] }).changed).toHaveLength(11);
    expect(aws.changes).toEqual([]);
  });

  test('unquiesce restores what is kept, and says when nothing is', async () => {
    await quiesce(accountOf(), clock, OPTIONS);
    const restored = await ran('unquiesce', '--stack', 'Shop');
    expect(restored.exitCode).toBe(0);
    expect(restored.out).toContain('start       mapping   m1');
    expect(restored.err).toContain('restoring starts: 3');
    expect((await ran('unquiesce', '--stack', 'Shop')).out).toBe("no part of 'Shop' was stopped\n");
  });

  test('--check names what a deployment has turned on again, and fails', async () => {
    await quiesce(accountOf(), clock, { ...OPTIONS, sources: false });
    expect(await ran('quiesce', '--stack', 'Shop', '--check')).toMatchObject({
      exitCode: 0,
      out: "'Shop' is at rest\n",
    });
    aws.rules['Shop-Tick'] = 'ENABLED';
    const awake = await ran('quiesce', '--stack', 'Shop', '--check');
    expect(awake.exitCode).toBe(1);
    expect(awake.out).toMatch(
      /^supervision rule .*Shop-Tick\nthese parts are running: stop them with npx steadfast quiesce/,
    );
  });

  test('what is missing in the command is said in one sentence', async () => {
    expect(await ran('quiesce', '--stack', 'no/stack')).toMatchObject({ exitCode: 2 });
    const { err, exitCode } = await steadfast(['quiesce', '--stack', 'Shop']);
    expect([exitCode, err]).toEqual([2, 'no AWS region is set: add --region <region>, or set AWS_REGION\n']);
    const none = await ran('quiesce', '--stack', 'Shoop', '--dry-run');
    expect([none.exitCode, none.err]).toEqual([
      2,
      "no stack named 'Shoop' holds a Steadfast deployment; there are Shop\n",
    ]);
  });
});
