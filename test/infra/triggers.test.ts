/** Each kind of trigger in the template: its queue, where undeliverable events go, who is notified. */

import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Duration, TimeZone } from 'aws-cdk-lib/core';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { Json } from '../../local/template/json.ts';
import { FOUND } from './fixture.ts';
import { linesOf, namerOf, policiesOf, resolved } from './named-permissions.ts';
import { PERMISSIONS, TRIGGER_PERMISSIONS } from './permissions.ts';
import { findingsOf, makeStack, Reader, type Resource } from './template.ts';

const stack = makeStack();
const { steadfast } = stack;
const uploads = new Bucket(stack, 'Uploads', { enforceSSL: true, serverAccessLogsPrefix: 'log/' });
const bucket = { bucket: '$.detail.bucket.name', key: '$.detail.object.key' } as const;
const objects = steadfast.triggerOnObjectCreated(uploads, 'report', { suffix: '.csv', input: bucket });
const events = steadfast.triggerOnEvent({ source: ['shop'] }, 'report', {
  name: 'shop-sold',
  input: '$.detail',
  eventBus: EventBus.fromEventBusName(stack, 'Bus', 'shop'),
});
const daily = steadfast.triggerOnSchedule(
  ScheduleExpression.cron({ minute: '0', hour: '6', timeZone: TimeZone.EUROPE_BERLIN }),
  'report',
  { input: { day: '$.time' } },
);
const messages = steadfast.startQueue('order', { idempotencyKey: '$.body.orderId' });
const reader = new Reader(stack);
/** The buckets except that of large values. */
const bucketsIn = (read: Reader): Resource[] =>
  read.ofType('AWS::S3::Bucket').filter(({ id }) => !/Values/.test(id));
const logical = (path: string, type = 'AWS::SQS::Queue'): string => reader.one(type, path).id;
const arnOf = (path: string): object => ({ 'Fn::GetAtt': [logical(path), 'Arn'] });
const at = ({ triggerName }: { readonly triggerName: string }): string => `Triggers/${triggerName}`;

test('a name says workflow and source, unless it is given', () => {
  expect([...steadfast.triggers.all.keys()]).toEqual([
    'report-object-created',
    'shop-sold',
    'report-schedule',
    'order-queue',
  ]);
});

test('an object reaches its queue from a bucket that tells EventBridge, without a function of CDK’s', () => {
  const [own] = bucketsIn(reader);
  expect(own?.Properties['NotificationConfiguration']).toEqual({
    EventBridgeConfiguration: { EventBridgeEnabled: true },
  });
  expect(reader.all.filter(({ Type }) => Type.startsWith('Custom::'))).toEqual([]);
  const rule = reader.one('AWS::Events::Rule', `${at(objects)}/Rule`).Properties;
  expect(rule['EventPattern']).toEqual({
    source: ['aws.s3'],
    'detail-type': ['Object Created'],
    detail: { bucket: { name: [{ Ref: own?.id }] }, object: { key: [{ suffix: '.csv' }] } },
  });
  expect(rule['Targets']).toMatchObject([
    {
      Arn: arnOf(`${at(objects)}/Queue`),
      DeadLetterConfig: { Arn: arnOf(`${at(objects)}/DeadLetterQueue`) },
    },
  ]);
});

test('prefix and suffix are one pattern, with stars that mean themselves', () => {
  const other = makeStack();
  const prefixed = { prefix: 'in*/', suffix: '.csv', input: bucket };
  other.steadfast.triggerOnObjectCreated(new Bucket(other, 'B'), 'report', prefixed);
  const [rule] = new Reader(other).ofType('AWS::Events::Rule').filter(({ id }) => id.includes('Triggers'));
  expect(JSON.stringify(rule?.Properties['EventPattern'])).toContain('{"wildcard":"in\\\\*/*.csv"}');
});

test('an event comes from the bus that is named', () => {
  const rule = reader.one('AWS::Events::Rule', `${at(events)}/Rule`).Properties;
  expect(rule).toMatchObject({ EventBusName: 'shop', EventPattern: { source: ['shop'] } });
});

test('a schedule sends the time that was planned, in its own zone, with its own role', () => {
  const schedule = reader.one('AWS::Scheduler::Schedule', at(daily)).Properties;
  expect(schedule).toMatchObject({
    ScheduleExpression: 'cron(0 6 * * ? *)',
    ScheduleExpressionTimezone: 'Europe/Berlin',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: {
      Arn: arnOf(`${at(daily)}/Queue`),
      DeadLetterConfig: { Arn: arnOf(`${at(daily)}/DeadLetterQueue`) },
      Input: '{"time":"<aws.scheduler.scheduled-time>","schedule":"<aws.scheduler.schedule-arn>"}',
    },
  });
});

test.each([objects, events, daily, messages])(
  'what $triggerName cannot start is kept and told',
  (trigger) => {
    const path = at(trigger);
    const queue = reader.one('AWS::SQS::Queue', `${path}/Queue`).Properties;
    expect(queue).toMatchObject({
      MessageRetentionPeriod: 1_209_600,
      RedrivePolicy: { deadLetterTargetArn: arnOf(`${path}/DeadLetterQueue`), maxReceiveCount: 20 },
    });
    const settings = reader.functionOf(`${path}/Function`).Properties;
    expect(Number(queue['VisibilityTimeout'])).toBeGreaterThanOrEqual(6 * Number(settings['Timeout']));
    const alarms = reader
      .ofType('AWS::CloudWatch::Alarm')
      .filter(({ Metadata }) => Metadata?.['aws:cdk:path']?.includes(`/${path}/`));
    expect(alarms.map(({ Properties }) => [Properties['MetricName'], Properties['Dimensions']])).toEqual([
      [
        'ApproximateNumberOfMessagesVisible',
        [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [logical(`${path}/DeadLetterQueue`), 'QueueName'] } }],
      ],
      [
        'ApproximateAgeOfOldestMessage',
        [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [logical(`${path}/Queue`), 'QueueName'] } }],
      ],
    ]);
    for (const { Properties } of alarms) expect(Properties['AlarmActions']).toHaveLength(1);
  },
);

test('the dashboard shows the alarms of triggers too', () => {
  const [dashboard] = reader.ofType('AWS::CloudWatch::Dashboard');
  expect(JSON.stringify(dashboard?.Properties)).toContain(
    logical(`${at(daily)}/Late`, 'AWS::CloudWatch::Alarm'),
  );
});

test('a starter knows the agents of its workflow only', () => {
  expect(reader.environmentOf(`${at(daily)}/Function`)['STEADFAST_AGENTS']).toBe('mail');
});

test('each of them may do what is listed, and nothing else', () => {
  const template = resolved(reader.template.toJSON() as Json, 'Test');
  const lines = policiesOf(template).permissions().map(namerOf(template));
  const agents = { pay: ['pay', 'ship'], ship: ['pay', 'ship'], mail: ['mail'], 'steadfast-bulk': [] };
  const rows = TRIGGER_PERMISSIONS({
    'report-object-created': { source: 'rule', agents: ['mail'] },
    'shop-sold': { source: 'rule', agents: ['mail'] },
    'report-schedule': { source: 'schedule', agents: ['mail'] },
    'order-queue': { source: 'none', agents: ['pay', 'ship'] },
  });
  const ours = lines.filter((line) => !line.startsWith('logging.s3'));
  expect([...new Set(ours)].sort()).toEqual(linesOf([...PERMISSIONS, ...rows], agents));
});

test('cdk-nag finds nothing', () => {
  expect(findingsOf(stack)).toEqual([]);
});

test('with a key of your own, sources may use it', () => {
  const keyed = makeStack();
  const encryptionKey = new Key(keyed, 'Key', { enableKeyRotation: true });
  const shop = new Steadfast(keyed, 'Shop', { workflows: FOUND, encryptionKey });
  shop.triggerOnEvent({ source: ['shop'] }, 'report', { input: '$.detail' });
  shop.triggerOnSchedule(ScheduleExpression.rate(Duration.hours(1)), 'report', { input: {} });
  const all = new Reader(keyed);
  expect(JSON.stringify(all.ofType('AWS::KMS::Key')[0]?.Properties['KeyPolicy'])).toContain(
    'events.amazonaws.com',
  );
  const [schedules] = all.ofType('AWS::IAM::Policy').filter(({ id }) => id.includes('ScheduleRole'));
  expect(JSON.stringify(schedules?.Properties)).toContain('kms:GenerateDataKey');
});

describe('is refused when the stack is built', () => {
  const other = makeStack().steadfast;
  const on =
    (input: unknown, more: object = {}) =>
    (): unknown =>
      other.startQueue('order', {
        name: `t${Math.random()}`.replace('.', ''),
        input: input as never,
        ...more,
      });
  const bus = { source: ['shop'] };

  it.each<[string, () => unknown, string]>([
    [
      'a workflow that is not there',
      () => other.startQueue('orders'),
      "'orders', which is not a workflow of this deployment; there are order, report",
    ],
    [
      'a name that is none',
      () => other.startQueue('order', { name: 'My Queue' }),
      "a trigger is named 'My Queue'; allowed:",
    ],
    [
      'a name twice',
      () => [other.startQueue('report'), other.startQueue('report')],
      "two triggers are named 'report-queue'; give one of them another name",
    ],
    [
      'a path that no event has',
      () => other.triggerOnObjectCreated(uploads, 'report', { input: { key: '$.detail.object.name' } }),
      "trigger 'report-object-created': input.key: '$.detail.object.name' is not in events of this kind; $.detail.object has key, size, etag, version-id, sequencer",
    ],
    [
      'a path of another source',
      () => other.triggerOnEvent(bus, 'report', { input: '$.body' }),
      "'$.body' is not in events of this kind",
    ],
    ['what is no path', on('$detail..x'), "'$detail..x' is not a path; write $.field"],
    ['another operator', on({ a: { $join: ['x'] } }), 'is not understood; of keys with $ there are'],
    ['two operators', on({ $concat: [], $literal: 1 }), 'is not understood'],
    ['a function', on({ a: () => 1 }), 'is not JSON'],
    ['no number', on({ a: Number.NaN }), 'NaN is not JSON'],
    [
      'what only a deployment knows',
      on({ table: other.stateTable.table.tableName }),
      'known only after the deployment',
    ],
    [
      'a constant as the key',
      on('$.body', { idempotencyKey: 'order' }),
      "'order' is the same for every event",
    ],
    ['no key', on('$.body', { idempotencyKey: [] }), 'no path; allowed: paths'],
  ])('%s', (_, build, message) => {
    expect(build).toThrow(message);
  });
});

test('a bucket whose notifications CDK manages gets this one from CDK too, or is refused', () => {
  const other = makeStack();
  const managed = new Bucket(other, 'Managed', { eventBridgeEnabled: true });
  other.steadfast.triggerOnObjectCreated(managed, 'report', { input: bucket });
  const [own] = bucketsIn(new Reader(other));
  expect(JSON.stringify(own)).not.toContain('NotificationConfiguration');

  const late = makeStack();
  const later = new Bucket(late, 'Later');
  late.steadfast.triggerOnObjectCreated(later, 'report', { input: bucket });
  later.enableEventBridgeNotification();
  const problems = late.steadfast.triggers.all.get('report-object-created')?.node.validate();
  expect(problems).toEqual([expect.stringContaining('give the bucket eventBridgeEnabled: true')]);
});
