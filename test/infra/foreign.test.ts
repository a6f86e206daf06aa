/**
 * The construct in a foreign CDK app: other feature flags, two constructs in one stack, an existing bus. Only
 * this file checks CloudFormation's own rules, also for our app, because loading them takes seconds.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Tracing } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { App, Duration, RemovalPolicy, Stack, Stage } from 'aws-cdk-lib/core';
import { onWebhook } from '../../lib/author/triggers/trigger-declaration.ts';
import { hmacSha256 } from '../../lib/author/triggers/webhook.ts';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { AGENT_MODULE, FOUND, project, workflowModule } from './fixture.ts';
import { findingsOf, Reader } from './template.ts';

/** An app without cdk.json, and so without its feature flags. */
const app = new App({ outdir: project(), context: { 'aws:cdk:bundling-stacks': [] } });
const stack = new Stack(new Stage(app, 'Prod'), 'Shop');
const bus = EventBus.fromEventBusArn(stack, 'Bus', 'arn:aws:events:eu-west-1:123456789012:event-bus/shop');
const secret = { kind: 'steadfast:secret', env: 'KEY', parameter: '/shop/hooks' } as const;
const hooks = onWebhook(
  { name: 'report', input: { '~standard': {} } },
  { verify: hmacSha256({ header: 'x-signature', secret }), input: { key: '$.body.key' } },
);
const payments = new Steadfast(stack, 'Payments', {
  workflows: { ...FOUND, triggers: [{ file: 'triggers.ts', exportName: 'hooks', trigger: hooks }] },
  eventBus: bus,
});
const reports = new Steadfast(stack, 'Reports', {
  workflows: FOUND,
  removalPolicy: RemovalPolicy.DESTROY,
  encryptionKey: new Key(stack, 'Key', { enableKeyRotation: true }),
  tracing: Tracing.ACTIVE,
  agentSettings: { pay: { memorySize: 256, maxConcurrency: 5 } },
});
const caller = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
payments.grantStart(caller, 'order');
const uploads = Bucket.fromBucketName(stack, 'Uploads', 'acme-uploads');
payments.triggerOnObjectCreated(uploads, 'report', { prefix: 'in/', input: { key: '$.detail.object.key' } });
payments.triggerOnEvent({ source: ['shop'] }, 'order', { eventBus: bus, input: '$.detail' });
reports.triggerOnSchedule(ScheduleExpression.rate(Duration.days(1)), 'report', { input: { day: '$.time' } });
reports.startQueue('report').grantSend(caller);
payments.metricFailed().createAlarm(stack, 'Mine', { threshold: 1, evaluationPeriods: 1 });
const reader = new Reader(stack);

test('two of them have their own of everything', () => {
  const count = (type: string): number => reader.ofType(type).length;
  expect([
    count('AWS::DynamoDB::GlobalTable'),
    count('AWS::ApiGatewayV2::Api'),
    count('AWS::CloudWatch::Dashboard'),
  ]).toEqual([2, 2, 2]);
  expect(count('AWS::Lambda::EventSourceMapping')).toBe(2 * (FOUND.agents.length + 1) + 5);
  expect(payments.deploymentName).not.toBe(reports.deploymentName);
});

/** Properties whose values must be unique in the account; CloudFormation does not check that. */
const NAMES = ['Name', 'QueueName', 'LogGroupName', 'AlarmName', 'DashboardName', 'TopicName', 'RoleName'];

test('no name that they choose is that of both', () => {
  const chosen = reader.all
    .filter(({ Type }) => Type !== 'AWS::Scheduler::Schedule')
    .flatMap(({ Type, Properties }) =>
      NAMES.filter((name) => name in Properties).map((name) => `${Type} ${JSON.stringify(Properties[name])}`),
    );
  expect(chosen.length).toBeGreaterThan(2 * FOUND.agents.length);
  expect(chosen.filter((name, at) => chosen.indexOf(name) !== at)).toEqual([]);
  const outputs = Object.keys(reader.template.toJSON()['Outputs'] as object);
  expect(outputs).toEqual([
    expect.stringMatching(/^PaymentsApiUrl/),
    expect.stringMatching(/^ReportsApiUrl/),
  ]);
});

test('dashboards and alarms have the metrics of their own alone', () => {
  const drawn = ['AWS::CloudWatch::Dashboard', 'AWS::CloudWatch::Alarm'].flatMap((type) =>
    reader.ofType(type),
  );
  const { deploymentName: one } = payments;
  const { deploymentName: other } = reports;
  const of = (name: string): string[] =>
    drawn.filter(({ Properties }) => JSON.stringify(Properties).includes(name)).map(({ id }) => id);
  expect(of(one).filter((id) => !/^(Payments|Mine)/.test(id))).toEqual([]);
  expect(of(other).filter((id) => !id.startsWith('Reports'))).toEqual([]);
  expect([of(one).length, of(other).length]).toEqual([expect.any(Number), of(one).length - 1]);
});

test('an imported bus is used, and only the other one makes its own', () => {
  expect(reader.ofType('AWS::Events::EventBus').map(({ id }) => id)).toEqual([
    expect.stringMatching(/^PaymentsWakeUps/),
    expect.stringMatching(/^ReportsWakeUps/),
    expect.stringMatching(/^ReportsEvents/),
  ]);
  const environments = reader
    .ofType('AWS::Lambda::Function')
    .map(({ Properties }) => (Properties['Environment'] as { Variables: Record<string, unknown> }).Variables);
  const buses = environments.map((variables) => variables['STEADFAST_BUS']).filter((name) => name === 'shop');
  expect(buses).toHaveLength(environments.length / 2);
});

test('triggers listen to an imported bucket and to an imported bus', () => {
  const rules = reader.ofType('AWS::Events::Rule').filter(({ id }) => id.includes('Triggers'));
  expect(rules.map(({ Properties }) => [Properties['EventBusName'], Properties['EventPattern']])).toEqual([
    [
      undefined,
      {
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: { bucket: { name: ['acme-uploads'] }, object: { key: [{ prefix: 'in/' }] } },
      },
    ],
    ['shop', { source: ['shop'] }],
  ]);
});

test('cdk-nag finds nothing of ours there either', () => {
  expect(findingsOf(stack)).toEqual([]);
});

test('CloudFormation’s own rules find nothing to say', () => {
  const { directory } = app.synth({ force: true });
  const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8')) as {
    pluginReports: unknown[];
  };
  expect(report.pluginReports).toEqual([]);
});

test('and nothing to say of an assembly of ours', async () => {
  const root = project({
    'order/workflow.ts': workflowModule('order', ['pay']),
    'order/agents/pay.ts': AGENT_MODULE,
    'report/workflow.ts': workflowModule('report', ['mail']),
    'report/agents/mail.ts': AGENT_MODULE,
  });
  const outdir = join(root, 'out');
  const { assembly, stackName } = await synthesize({ outdir, folders: [root], bundling: false });
  expect([assembly, stackName]).toEqual([outdir, 'Steadfast-dev']);
  expect(existsSync(join(assembly, 'manifest.json'))).toBe(true);
  const report = readFileSync(join(assembly, 'validation-report.json'), 'utf8');
  expect((JSON.parse(report) as { pluginReports: unknown[] }).pluginReports).toEqual([]);
});

test('and would refuse what CloudFormation would', () => {
  const context = { 'aws:cdk:bundling-stacks': [], '@aws-cdk/core:validateAgainstDefaultRules': true };
  const other = new App({ outdir: project(), context });
  const { scheduler } = new Steadfast(new Stack(other, 'Other'), 'Steadfast', { workflows: FOUND });
  scheduler.function.addEnvironment('I', 'a name of one letter');
  expect(() => other.synth()).toThrow('F3002');
});
