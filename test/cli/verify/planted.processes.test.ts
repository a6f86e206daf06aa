/**
 * A fault that is planted in the template of `steadfast verify`'s own stack makes the whole command end with
 * 1 and print the row that names it, and no other. Faults that a running cloud shows are in
 * `planted.nightly.test.ts`.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run as command } from '../../../cli/main.ts';
import { resolveTemplate } from '../../../local/template/template.ts';
import type { Json } from '../../../local/template/json.ts';
import { changed, type Resource, STACK, synthesized, type Template } from './planted.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-planted-'));
let template: Template;

beforeAll(async () => {
  template = await synthesized(join(folder, 'cdk.out'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = {
  stackName: STACK,
  region: 'us-east-1',
  accountId: '000000000000',
  gatewayUrl: 'http://127.0.0.1:1',
  apiUrl: () => 'http://127.0.0.1:2',
  functionUrl: () => 'http://127.0.0.1:3',
};

/** What a local cloud of this template answers about it; nothing runs. */
function answersOf(planted: Template): (path: string, url: string) => readonly [number, unknown] {
  const { resources } = resolveTemplate(planted as unknown as Json, place);
  return (path, url) => {
    if (path === '/_local/') return [200, { gatewayUrl: url, outputs: {} }];
    if (path === '/_local/resources') return [200, [...resources.values()]];
    if (path === '/_local/denials') return [200, []];
    if (path === '/health') return [200, { status: 'ok', oldestOverdueMs: 0 }];
    // CloudWatch, of whatever metric is asked for.
    if (path === '/') return [200, { MetricDataResults: [{ Values: [1] }] }];
    return [404, { error: { code: 'unknown-route', message: 'none' } }];
  };
}

/** Runs the whole command against it. @returns its exit code, and the ids of the rows that failed */
async function verified(planted: Template): Promise<readonly [exitCode: number, failed: readonly string[]]> {
  const answers = answersOf(planted);
  const server = createServer((request, response) => {
    const [status, body] = answers(request.url ?? '', urlOf(server));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let text = '';
  const out = (more: string): boolean => {
    text += more;
    return true;
  };
  try {
    const terminal = { out, err: () => true, env: {}, isTTY: false };
    const exitCode = await command(['--url', urlOf(server), 'verify', '--local'], terminal);
    return [exitCode, [...text.matchAll(/^failed +([\w-]+):/gm)].map(([, id = '']) => id)];
  } finally {
    server.close();
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const change = (
  type: string,
  act: (resource: Resource) => unknown,
  fits?: (resource: Resource) => boolean,
): Template => changed(template, type, act, fits);
const set =
  (properties: object) =>
  ({ Properties }: Resource): unknown =>
    Object.assign(Properties, properties);
const without =
  (name: string) =>
  ({ Properties }: Resource): void => {
    delete Properties[name];
  };
const has =
  (name: string) =>
  ({ Properties }: Resource): boolean =>
    Properties[name] !== undefined;

const FUNCTION = 'AWS::Lambda::Function';
const MAPPING = 'AWS::Lambda::EventSourceMapping';

it('fails no row of the template as it is', async () => {
  expect(await verified(template)).toEqual([0, []]);
});

it('lets the schedules that end faults act on what there is, whatever CloudFormation makes of its name', () => {
  const named = (type: string): string[] =>
    Object.keys(template.Resources).filter((id) => template.Resources[id]?.Type === type);
  const { Properties } = template.Resources[
    named('AWS::IAM::Policy').find((id) => id.startsWith('Ender')) ?? ''
  ] as Resource;
  const { Statement } = Properties['PolicyDocument'] as { readonly Statement: readonly object[] };
  const [functions, rules] = [named(FUNCTION), named('AWS::Events::Rule')].map((ids) =>
    ids.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
  );
  expect(functions).not.toEqual([]);
  expect(Statement).toMatchObject([
    { Resource: functions },
    { Resource: rules },
    {
      Action: 'lambda:UpdateEventSourceMapping',
      Condition: { ArnLike: { 'lambda:FunctionArn': functions } },
    },
  ]);
});

it.each<[string, string, () => Template]>([
  ['a wrong runtime', 'runtime', () => change(FUNCTION, set({ Runtime: 'nodejs18.x' }))],
  [
    'recursion that is not allowed',
    'recursion-settings',
    () => change(FUNCTION, without('RecursiveLoop'), has('RecursiveLoop')),
  ],
  [
    'visibility that is too short',
    'visibility',
    () => change('AWS::SQS::Queue', set({ VisibilityTimeout: 30 }), has('RedrivePolicy')),
  ],
  ['a mapping that is off', 'mappings', () => change(MAPPING, set({ Enabled: false }))],
  ['a mapping that fails whole batches', 'batches', () => change(MAPPING, without('FunctionResponseTypes'))],
  [
    'a queue without dead letters',
    'dead-letter-queues',
    () => change('AWS::SQS::Queue', without('RedrivePolicy'), has('RedrivePolicy')),
  ],
  [
    'a missing index',
    'indexes',
    () =>
      change(
        'AWS::DynamoDB::Table',
        ({ Properties }) => (Properties['GlobalSecondaryIndexes'] as unknown[]).shift(),
        has('GlobalSecondaryIndexes'),
      ),
  ],
  [
    'a table that forgets nothing',
    'table-keeps',
    () => change('AWS::DynamoDB::Table', without('TimeToLiveSpecification'), has('TimeToLiveSpecification')),
  ],
  [
    'a rule that is off',
    'rules',
    () =>
      change('AWS::Events::Rule', set({ State: 'DISABLED' }), ({ Properties }) =>
        String(Properties['ScheduleExpression']).startsWith('rate(1 minute'),
      ),
  ],
  [
    'a metric with another name',
    'alarm-metrics',
    () => change('AWS::CloudWatch::Alarm', set({ MetricName: 'Sweps' }), has('MetricName')),
  ],
  [
    'an alarm that reaches nobody',
    'alarm-actions',
    () => change('AWS::CloudWatch::Alarm', without('AlarmActions')),
  ],
  [
    'a topic without a subscriber',
    'subscribers',
    () =>
      change('AWS::SNS::Subscription', (resource) => {
        resource.Type = 'AWS::SNS::TopicPolicy';
      }),
  ],
  [
    'a function that logs text',
    'log-settings',
    () =>
      change(
        FUNCTION,
        ({ Properties }) =>
          delete (Properties['LoggingConfig'] as Json & object as Record<string, unknown>)['LogFormat'],
      ),
  ],
])('%s fails the row %s', async (_, id, planted) => {
  expect(await verified(planted())).toEqual([1, [id]]);
});
