/**
 * The AWS ports of `verify`, over HTTP: their calls, and reading the answers. The answers follow AWS's
 * documentation; they were not recorded from an account.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Calls } from '../../../cli/aws/calls.ts';
import { awsPorts, bootstrapIn } from '../../../cli/verify/aws.ts';
import { ENTRIES } from '../../../cli/verify/checks/table.ts';
import { run as command } from '../../../cli/main.ts';
import { run } from '../../../cli/verify/run.ts';
import { bucketsIn } from '../../../cli/verify/throwaway.ts';
import { readBody } from '../../../local/http/read-body.ts';

type Body = Record<string, unknown>;
const AT = 'eu-central-1:123456789012';
const asked: string[] = [];
let url = '';

const RESOURCES: readonly (readonly [type: string, id: string])[] = [
  ['AWS::Logs::LogGroup', 'Shop-PayLogs'],
  ['AWS::S3::Bucket', 'verify-values'],
  ['AWS::S3::Bucket', ''],
  ['AWS::S3::BucketPolicy', 'verify-values'],
  ['AWS::SQS::Queue', 'https://sqs/Shop-pay'],
  ['AWS::SQS::Queue', 'https://sqs/Shop-dead'],
  ['AWS::SNS::Topic', 'arn:aws:sns:eu-central-1:123456789012:Shop'],
];
const member = (fields: Readonly<Record<string, string>>): string =>
  `<member>${Object.entries(fields)
    .map(([name, text]) => `<${name}>${text}</${name}>`)
    .join('')}</member>`;
const OUTPUTS: Record<string, string> = { ApiUrl: 'https://api.example/?a=1&amp;b=2' };

let drifted = '';
const FORMS: Readonly<Record<string, () => string>> = {
  DetectStackDrift: () => '<StackDriftDetectionId>d1</StackDriftDetectionId>',
  DescribeStackDriftDetectionStatus: () => '<DetectionStatus>DETECTION_COMPLETE</DetectionStatus>',
  DescribeStackResourceDrifts: () => `<StackResourceDrifts>${drifted}</StackResourceDrifts>`,
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
      ApproximateNumberOfMessages: '2',
      ApproximateNumberOfMessagesNotVisible: '1',
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
  GetParameter: () => ({ Parameter: { Value: '21' } }),
  DescribeResourcePolicies: () => ({ resourcePolicies: [{ policyDocument: '{}' }] }),
  FilterLogEvents: () => ({ events: [{ message: 'AccessDenied: Request ID 1' }] }),
};

const REST: readonly (readonly [pattern: RegExp, answer: Body])[] = [
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

const RUN = { stack: 'Shop', runId: 'r' };

it('finds the queues of the stack and where their dead letters go', async () => {
  const ports = await awsPorts({ calls: calls(), ...RUN });
  expect(await ports.queues()).toEqual([
    { name: 'Shop-pay', url: 'https://sqs/Shop-pay', deadLetters: 'Shop-dead', depth: 3 },
    { name: 'Shop-dead', url: 'https://sqs/Shop-dead', depth: 3 },
  ]);
});

it('changes nothing in a stack of another’s, and says which rows only its own stack answers', async () => {
  asked.length = 0;
  const ports = await awsPorts({ calls: calls(), ...RUN });
  const entries = ENTRIES.filter(({ id }) => !['health', 'unsigned', 'metrics', 'sweeps'].includes(id));
  const results = await run(entries, ports, { say: () => {} });
  const outcome = (id: string): unknown => results.find(({ entry }) => entry.id === id)?.outcome;
  expect(
    ['identity', 'bootstrap', 'concurrency', 'log-policies', 'drift', 'subscribers'].map(outcome),
  ).toEqual(Array.from({ length: 6 }, () => 'held'));
  expect(['canary', 'order', 'dies', 'teardown'].map(outcome)).toEqual(
    Array.from({ length: 4 }, () => 'not run'),
  );
  expect(asked.filter((what) => !/^(?:GET|Get|List|Describe|DetectStackDrift)/.test(what))).toEqual([]);
});

it('names each resource that is not as the template has it', async () => {
  const { stack } = await awsPorts({ calls: calls(), ...RUN });
  drifted = member({
    LogicalResourceId: 'State',
    ResourceType: 'AWS::DynamoDB::Table',
    PropertyDifferences: member({ PropertyPath: '/BillingMode' }),
    StackResourceDriftStatus: 'MODIFIED',
  });
  expect(await stack.drifted()).toEqual(['State (AWS::DynamoDB::Table) has drifted']);
  drifted = '';
});

it.each([
  [['--throwaway', '--local'], 'give one of --local, --throwaway, --stack <name>'],
  [[], 'give one of --local, --throwaway, --stack <name>'],
])('refuses %j, and starts nothing to say so', async (flags, problem) => {
  const said: string[] = [];
  const terminal = { out: () => true, err: (text: string) => said.push(text) > 0, env: {}, isTTY: false };
  expect(await command(['verify', ...flags], terminal)).not.toBe(0);
  expect(said.join('')).toContain(problem);
});

it('finds what a log group has, with texts in quotes', async () => {
  const ports = await awsPorts({ calls: calls(), ...RUN });
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

it('empties the buckets that the stack has made and nothing else', async () => {
  expect(await bucketsIn(calls(), 'Shop')).toEqual(['verify-values']);
});
