/**
 * A fault that is planted in the template of `steadfast verify`'s own stack fails the row that names it, and
 * no other row of the settings; one that is planted in a permission fails the rows of what was refused.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENTRIES } from '../../../cli/verify/checks/all.ts';
import { localPorts } from '../../../cli/verify/local.ts';
import { startLocalStack } from '../../../cli/verify/local-stack.ts';
import type { Ports } from '../../../cli/verify/ports.ts';
import { run } from '../../../cli/verify/run.ts';
import { settingsOf } from '../../../cli/verify/template-settings.ts';
import { ioOf } from '../../../cli/io.ts';
import { resolveTemplate } from '../../../local/template/template.ts';
import type { Json } from '../../../local/template/json.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const STACK = 'Steadfast-verify';
const folder = mkdtempSync(join(tmpdir(), 'steadfast-planted-'));
const assembly = join(folder, 'cdk.out');

type Resource = { Type: string; Properties: Record<string, unknown> };
type Template = { Resources: Record<string, Resource> };
let template: Template;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'cli/verify/stack/app.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CDK_VALIDATION: 'false',
      CDK_OUTDIR: assembly,
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:enable-path-metadata': true }),
    },
  });
  template = JSON.parse(readFileSync(join(assembly, `${STACK}.template.json`), 'utf8')) as Template;
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

/** Ids of the rows that fail. */
async function failing(changed: Template): Promise<string[]> {
  const { resources } = resolveTemplate(changed as unknown as Json, place);
  const ports = fakePorts(new FakeDeployment(), settingsOf([...resources.values()]));
  const results = await run(ENTRIES, ports, { phases: new Set(['settings']), budget: 0, say: () => {} });
  return results.filter(({ outcome }) => outcome === 'failed').map(({ entry }) => entry.id);
}

/** Changes the first resource of a type that fits. */
function change(
  type: string,
  act: (resource: Resource) => unknown,
  fits: (resource: Resource) => boolean = () => true,
): Template {
  const copy = structuredClone(template);
  const found = Object.values(copy.Resources).find((each) => each.Type === type && fits(each));
  if (found === undefined) throw new Error(`no ${type} in the template`);
  act(found);
  return copy;
}
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
  expect(await failing(template)).toEqual([]);
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
  expect(await failing(planted())).toEqual([id]);
});

/** So fast does the time pass by which a check gives up. */
const PACE = 60;

it('a missing permission fails the rows of the order and of the permissions', async () => {
  const broken = join(folder, 'broken');
  cpSync(assembly, broken, { recursive: true });
  const changed = change(
    'AWS::IAM::Policy',
    ({ Properties }) => {
      const { Statement } = Properties['PolicyDocument'] as { Statement: { Action: unknown }[] };
      const effects = Statement.find(({ Action }) => JSON.stringify(Action).includes('dynamodb:DeleteItem'));
      if (effects !== undefined) effects.Action = 'dynamodb:Query';
    },
    ({ Properties }) => /verifyact/i.test(JSON.stringify(Properties['Roles'])),
  );
  writeFileSync(join(broken, `${STACK}.template.json`), JSON.stringify(changed));
  const io = ioOf({ out: () => true, err: () => true, env: process.env, isTTY: false });
  const stack = await startLocalStack(io, broken);
  try {
    const beganAt = Date.now();
    const real: Ports = await localPorts({ ...stack, runId: 'planted' });
    const clock = { ...real.clock, now: () => beganAt + (Date.now() - beganAt) * PACE };
    const entries = ENTRIES.filter(({ id }) => ['order', 'child', 'permissions'].includes(id));
    const phases = new Set(['smoke', 'traces'] as const);
    const results = await run(entries, { ...real, clock }, { phases, budget: 5, say: () => {} });
    expect(results.map(({ entry, outcome }) => [entry.id, outcome])).toEqual([
      ['order', 'failed'],
      ['child', 'held'],
      ['permissions', 'failed'],
    ]);
    expect(results[2]?.evidence).toContain('is not authorized to perform: dynamodb:PutItem');
  } finally {
    await stack.stop();
  }
});
