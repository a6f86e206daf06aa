/**
 * The ports of `verify` in an account, over HTTP: which calls they make, and what they read of the answers.
 * The answers have the forms that AWS documents; no account has given them.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Calls } from '../../../cli/aws/calls.ts';
import { accountSettings } from '../../../cli/verify/account-settings.ts';
import { awsPorts, bootstrapIn } from '../../../cli/verify/aws.ts';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import { run as command } from '../../../cli/main.ts';
import { run } from '../../../cli/verify/run.ts';
import { bucketsIn, Throwaway } from '../../../cli/verify/throwaway.ts';
import { ENV, INDEXES } from '../../../lib/aws/names.ts';
import { readBody } from '../../../local/http/read-body.ts';

type Body = Record<string, unknown>;
const AT = 'eu-central-1:123456789012';
const asked: string[] = [];
let url = '';

const RESOURCES: readonly (readonly [type: string, id: string])[] = [
  ['AWS::Lambda::Function', 'Shop-Pay'],
  ['AWS::SQS::Queue', 'https://sqs/Shop-pay'],
  ['AWS::SQS::Queue', 'https://sqs/Shop-dead'],
  ['AWS::Lambda::EventSourceMapping', 'm1'],
  ['AWS::Events::Rule', 'Shop-Tick'],
  ['AWS::Events::Rule', 'Shop-Bus|Shop-Calls'],
  ['AWS::Scheduler::ScheduleGroup', 'Shop-Group'],
  ['AWS::DynamoDB::Table', 'Shop-State'],
  ['AWS::CloudWatch::Alarm', 'Shop-SupervisorSilent'],
  ['AWS::CloudWatch::Dashboard', 'Shop-Overview'],
  ['AWS::SNS::Topic', 'arn:aws:sns:eu-central-1:123456789012:Shop'],
];
const member = (fields: Readonly<Record<string, string>>): string =>
  `<member>${Object.entries(fields)
    .map(([name, text]) => `<${name}>${text}</${name}>`)
    .join('')}</member>`;
const OUTPUTS: Record<string, string> = { ApiUrl: 'https://api.example/?a=1&amp;b=2' };

const FORMS: Readonly<Record<string, () => string>> = {
  ListStackResources: () =>
    `<StackResourceSummaries>${RESOURCES.map(([ResourceType, PhysicalResourceId]) =>
      member({ LogicalResourceId: 'x', PhysicalResourceId, ResourceType, ResourceStatus: 'CREATE_COMPLETE' }),
    ).join('')}</StackResourceSummaries>`,
  DescribeStacks: () =>
    `<Stacks><member><Outputs>${Object.entries(OUTPUTS)
      .map(([OutputKey, OutputValue]) => member({ OutputKey, OutputValue }))
      .join('')}</Outputs></member></Stacks>`,
  GetCallerIdentity: () =>
    '<GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ann</Arn><Account>123456789012</Account></GetCallerIdentityResult>',
  GetTopicAttributes: () =>
    '<Attributes><entry><key>SubscriptionsPending</key><value>3</value></entry><entry><key>SubscriptionsConfirmed</key><value>1</value></entry></Attributes>',
};

const JSON_ANSWERS: Record<string, (body: Body) => Body> = {
  GetQueueAttributes: ({ QueueUrl }) => ({
    Attributes: {
      QueueArn: `arn:aws:sqs:${AT}:${String(QueueUrl).split('/').at(-1)}`,
      VisibilityTimeout: '210',
      MessageRetentionPeriod: '1209600',
      ...(String(QueueUrl).endsWith('pay')
        ? {
            RedrivePolicy: JSON.stringify({
              deadLetterTargetArn: `arn:aws:sqs:${AT}:Shop-dead`,
              maxReceiveCount: 5,
            }),
          }
        : {}),
    },
  }),
  DescribeRule: ({ Name, EventBusName = 'default' }) => ({
    Arn: `arn:aws:events:${AT}:rule/${String(Name)}`,
    State: EventBusName === 'default' ? 'ENABLED' : 'DISABLED',
    ...(Name === 'Shop-Tick' ? { ScheduleExpression: 'rate(1 minute)' } : {}),
  }),
  ListTargetsByRule: () => ({ Targets: [{}, {}] }),
  DescribeTable: () => ({
    Table: {
      DeletionProtectionEnabled: true,
      GlobalSecondaryIndexes: INDEXES.map(({ name, pk, sk }, at) => ({
        IndexName: name,
        IndexStatus: at === 0 ? 'CREATING' : 'ACTIVE',
        KeySchema: [{ AttributeName: pk }, { AttributeName: sk }],
      })),
    },
  }),
  DescribeTimeToLive: () => ({
    TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' },
  }),
  DescribeContinuousBackups: () => ({
    ContinuousBackupsDescription: {
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
    },
  }),
  DescribeAlarms: () => ({
    MetricAlarms: [
      {
        AlarmName: 'Shop-SupervisorSilent',
        Namespace: 'Steadfast',
        MetricName: 'Sweeps',
        AlarmActions: ['topic'],
      },
    ],
  }),
  GetDashboard: () => ({
    DashboardBody: JSON.stringify({
      widgets: [
        {
          properties: {
            metrics: [
              ['Steadfast', 'Started', 'service', 'x'],
              ['.', 'Succeeded'],
            ],
          },
        },
      ],
    }),
  }),
  GetParameter: () => ({ Parameter: { Value: '21' } }),
  DescribeResourcePolicies: () => ({ resourcePolicies: [{ policyDocument: '{}' }] }),
  FilterLogEvents: () => ({ events: [{ message: 'AccessDenied: Request ID 1' }] }),
};

const REST: readonly (readonly [pattern: RegExp, answer: Body])[] = [
  [
    /\/configuration$/,
    {
      Runtime: 'nodejs24.x',
      Timeout: 35,
      LoggingConfig: { LogFormat: 'JSON', LogGroup: 'Shop-PayLogs' },
      Environment: { Variables: { [ENV.table]: 'Shop-State' } },
    },
  ],
  [/^\/2024-08-31\/functions\/.*\/recursion-config$/, { RecursiveLoop: 'Allow' }],
  [
    /event-source-mappings/,
    {
      State: 'Enabled',
      EventSourceArn: `arn:aws:sqs:${AT}:Shop-pay`,
      FunctionArn: `arn:aws:lambda:${AT}:function:Shop-Pay`,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 2 },
    },
  ],
  [/^\/schedules\?.*NextToken=more/, { Schedules: [{ Name: 'weekly' }] }],
  [/^\/schedules\?/, { Schedules: [{ Name: 'nightly' }], NextToken: 'more' }],
  [/^\/schedules\/(?:night|week)ly/, { ScheduleExpression: 'cron(0 2 * * ? *)', State: 'ENABLED' }],
  [
    /account-settings/,
    { AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 990 } },
  ],
];

const server = createServer((request, response) => {
  void readBody(request, 1e6).then((bytes) => {
    const text = String(bytes);
    const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const form = new URLSearchParams(text).get('Action') ?? '';
    if (target !== undefined) {
      asked.push(target);
      response.end(JSON.stringify(JSON_ANSWERS[target]?.(JSON.parse(text) as Body) ?? {}));
    } else if (request.method === 'POST') {
      asked.push(form);
      response.end(`<${form}Response>${FORMS[form]?.() ?? ''}</${form}Response>`);
    } else {
      asked.push(`${request.method} ${request.url}`);
      response.end(JSON.stringify(REST.find(([pattern]) => pattern.test(request.url ?? ''))?.[1] ?? {}));
    }
  });
});

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const calls = (): Calls =>
  new Calls({
    region: 'eu-central-1',
    endpoint: url,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    clock: { now: () => 0, sleep: async () => {} },
  });

it('reads every setting that the template’s reader reads, by the resources that CloudFormation names', async () => {
  const settings = await accountSettings(calls(), 'Shop');
  expect(settings.functions).toEqual([
    {
      name: 'Shop-Pay',
      runtime: 'nodejs24.x',
      timeoutS: 35,
      recursionAllowed: true,
      logFormat: 'JSON',
      logGroup: 'Shop-PayLogs',
      variables: { [ENV.table]: 'Shop-State' },
    },
  ]);
  expect(settings.queues).toEqual([
    {
      name: 'Shop-pay',
      url: 'https://sqs/Shop-pay',
      visibilityS: 210,
      retentionS: 1_209_600,
      deadLetters: 'Shop-dead',
      maxReceives: 5,
    },
    { name: 'Shop-dead', url: 'https://sqs/Shop-dead', visibilityS: 210, retentionS: 1_209_600 },
  ]);
  expect(settings.mappings).toEqual([
    {
      id: 'm1',
      queue: 'Shop-pay',
      function: 'Shop-Pay',
      enabled: true,
      reportsItemFailures: true,
      maxConcurrency: 2,
    },
  ]);
  expect(settings.rules.map(({ name, enabled }) => [name, enabled])).toEqual([
    ['Shop-Tick', true],
    ['Shop-Calls', false],
    ['nightly', true],
    ['weekly', true],
  ]);
  expect(settings.rules[0]?.id).toBe(`arn:aws:events:${AT}:rule/Shop-Tick`);
  // An index that is being made serves nobody yet.
  expect(Object.keys(settings.table.indexes)).toHaveLength(INDEXES.length - 1);
  expect([settings.table.recovery, settings.table.expiresBy, settings.table.keepsData]).toEqual([
    true,
    'expiresAt',
    true,
  ]);
  expect(settings.alarms).toEqual([
    { name: 'Shop-SupervisorSilent', metrics: ['Steadfast/Sweeps'], actions: 1 },
  ]);
  expect([settings.drawn, settings.subscribers]).toEqual([['Steadfast/Started', 'Steadfast/Succeeded'], 1]);
});

it('changes nothing in a stack of another’s, and says which rows only its own stack answers', async () => {
  asked.length = 0;
  const ports = await awsPorts({ calls: calls(), stack: 'Shop', region: 'eu-central-1', runId: 'r' });
  const phases = new Set(['preflight', 'settings', 'game-day', 'teardown'] as const);
  const results = await run(ENTRIES, ports, { phases, budget: 5, say: () => {} });
  const outcome = (id: string): unknown => results.find(({ entry }) => entry.id === id)?.outcome;
  expect(['identity', 'bootstrap', 'concurrency', 'log-policies', 'subscribers'].map(outcome)).toEqual(
    Array.from({ length: 5 }, () => 'held'),
  );
  expect(outcome('indexes')).toBe('failed');
  expect(['change-set', 'dies-after', 'mapping-off', 'supervisor-silent', 'teardown'].map(outcome)).toEqual(
    Array.from({ length: 5 }, () => 'not run'),
  );
  expect(asked.filter((what) => !/^(?:GET|Get|List|Describe)/.test(what))).toEqual([]);
});

it.each([
  [['--throwaway', '--undo'], 'give --stack <name> with --undo'],
  [['--local', '--undo'], 'give --stack <name> with --undo'],
  [['--throwaway', '--from', 'older'], '--from goes with --throwaway --slow'],
  [['--local', '--slow', '--from', 'older'], '--from goes with --throwaway --slow'],
])('refuses %j, and starts nothing to say so', async (flags, problem) => {
  const said: string[] = [];
  const terminal = { out: () => true, err: (text: string) => said.push(text) > 0, env: {}, isTTY: false };
  expect(await command(['verify', ...flags], terminal)).not.toBe(0);
  expect(said.join('')).toContain(problem);
});

it('names where no release is installed that it should go back to', () => {
  const io = { out: () => true, err: () => true, move: () => true, env: {}, isTTY: false };
  expect(() => new Throwaway({ calls: calls(), io, stack: 'Shop', before: '/nowhere' })).toThrow(
    "is not there: install the release before in '/nowhere' (npm install steadfast@<version>",
  );
});

it('finds what a log group has, with texts in quotes', async () => {
  const ports = await awsPorts({ calls: calls(), stack: 'Shop', region: 'eu-central-1', runId: 'r' });
  expect(await ports.logs(['AccessDenied'])).toEqual(['AccessDenied: Request ID 1']);
});

it('deploys nothing where the region is not bootstrapped, and says so by the row', async () => {
  const before = JSON_ANSWERS['GetParameter'];
  JSON_ANSWERS['GetParameter'] = () => ({ Parameter: { Value: '5' } });
  asked.length = 0;
  let text = '';
  const keep = (more: string): boolean => {
    text += more;
    return true;
  };
  try {
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
    const terminal = { out: keep, err: keep, env: { AWS_ENDPOINT_URL: url }, isTTY: false };
    expect(await command(['verify', '--throwaway', '--region', 'eu-central-1'], terminal)).toBe(1);
    expect(text).toContain('bootstrap in eu-central-1: version 5: npx cdk bootstrap');
    expect(asked).toEqual(['GetParameter']);
  } finally {
    JSON_ANSWERS['GetParameter'] = before as () => Body;
  }
});

it('asks once for the faults that earlier runs have left, where they are to be ended', async () => {
  OUTPUTS['VerifyEnder'] = 'arn:aws:iam::123456789012:role/ender';
  JSON_ANSWERS['GetParametersByPath'] = () => ({ Parameters: [] });
  asked.length = 0;
  let text = '';
  const keep = (more: string): boolean => (text += more) !== '';
  const terminal = { out: keep, err: keep, env: { AWS_ENDPOINT_URL: url }, isTTY: false };
  process.env['AWS_ACCESS_KEY_ID'] = 'test';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  await command(['verify', '--stack', 'Shop', '--undo', '--region', 'eu-central-1'], terminal);
  expect(text).toContain('0 faults ended');
  expect(asked.filter((what) => what === 'GetParametersByPath')).toHaveLength(1);
  delete OUTPUTS['VerifyEnder'];
});

it('asks for the bootstrap stack that the folder’s own qualifier names', () => {
  const root = mkdtempSync(join(tmpdir(), 'steadfast-qualifier-'));
  try {
    expect(bootstrapIn(root)).toBe('/cdk-bootstrap/hnb659fds/version');
    writeFileSync(join(root, 'cdk.json'), '{ "context": { "@aws-cdk/core:bootstrapQualifier": "shop" } }');
    expect(bootstrapIn(root)).toBe('/cdk-bootstrap/shop/version');
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('empties the buckets that the stack has made and nothing else', () => {
  const resources = [
    { logicalId: 'Values', type: 'AWS::S3::Bucket', id: 'verify-values' },
    { logicalId: 'Later', type: 'AWS::S3::Bucket', id: '' },
    { logicalId: 'Policy', type: 'AWS::S3::BucketPolicy', id: 'verify-values' },
  ];
  expect(bucketsIn(resources)).toEqual(['verify-values']);
});
