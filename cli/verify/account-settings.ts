/**
 * The settings of a deployment, read from its account: each resource that CloudFormation names is asked for.
 *
 * Owns: the calls, and where each setting is in their answers. Does not own: what a setting must be
 * (`checks/settings.ts`). Reads alone.
 */

import { type Answer, type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';
import { type StackResource, stackResources } from '../aws/stack-resources.ts';
import type {
  AlarmFacts,
  FunctionFacts,
  MappingFacts,
  QueueFacts,
  RuleFacts,
  Settings,
  TableFacts,
} from './ports.ts';
import { metricsOfDashboard } from './template-settings.ts';

export async function accountSettings(calls: Calls, stack: string): Promise<Settings> {
  const resources = await stackResources(calls, stack);
  const each = async <Facts>(type: string, read: (id: string) => Promise<Facts>): Promise<Facts[]> => {
    const found: Facts[] = [];
    // One after the other: Lambda throttles its control plane.
    for (const { id } of resources.filter((resource) => resource.type === type)) found.push(await read(id));
    return found;
  };
  const dashboards = await each('AWS::CloudWatch::Dashboard', async (DashboardName) => {
    const { DashboardBody } = await calls.json('monitoring', 'GetDashboard', { DashboardName });
    return metricsOfDashboard(String(DashboardBody));
  });
  const subscribers = await each('AWS::SNS::Topic', (topic) => subscribersOf(calls, topic));
  const tables = await each('AWS::DynamoDB::Table', (name) => tableOf(calls, name));
  return {
    functions: await each('AWS::Lambda::Function', (name) => functionOf(calls, name)),
    queues: await each('AWS::SQS::Queue', (url) => queueOf(calls, url)),
    mappings: await each('AWS::Lambda::EventSourceMapping', (id) => mappingOf(calls, id)),
    rules: [
      ...(await each('AWS::Events::Rule', (id) => ruleOf(calls, id))),
      ...(await schedulesOf(calls, resources)),
    ],
    table: tables.find(({ indexes }) => Object.keys(indexes).length > 0) ?? NO_TABLE,
    alarms: await alarmsOf(
      calls,
      resources.filter(({ type }) => type === 'AWS::CloudWatch::Alarm').map(({ id }) => id),
    ),
    drawn: [...new Set(dashboards.flat())],
    subscribers: subscribers.reduce((sum, count) => sum + count, 0),
  };
}

const NO_TABLE: TableFacts = { name: '', indexes: {}, recovery: false };
type Fields = Readonly<Record<string, unknown>>;
const at = (answer: Answer, name: string): Fields => Object(answer[name]) as Fields;
const text = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise);
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
const lastPart = (arn: unknown): string => text(arn).split(':').at(-1) ?? '';

/** https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html, and the recursion's. */
async function functionOf(calls: Calls, name: string): Promise<FunctionFacts> {
  const path = `functions/${encodeURIComponent(name)}`;
  const found = await calls.rest(
    'lambda',
    'GetFunctionConfiguration',
    'GET',
    `/2015-03-31/${path}/configuration`,
  );
  const { RecursiveLoop } = await calls.rest(
    'lambda',
    'GetFunctionRecursionConfig',
    'GET',
    `/2024-08-31/${path}/recursion-config`,
  );
  const logging = at(found, 'LoggingConfig');
  return {
    name,
    runtime: text(found['Runtime']),
    timeoutS: Number(found['Timeout']),
    recursionAllowed: RecursiveLoop === 'Allow',
    logFormat: text(logging['LogFormat'], 'Text'),
    logGroup: text(logging['LogGroup']),
    variables: (at(found, 'Environment')['Variables'] ?? {}) as Record<string, string>,
  };
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html */
async function queueOf(calls: Calls, QueueUrl: string): Promise<QueueFacts> {
  const answer = await calls.json('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
  const found = at(answer, 'Attributes') as Readonly<Record<string, string | undefined>>;
  const redrive = JSON.parse(found['RedrivePolicy'] ?? '{}') as Fields;
  const dead = redrive['deadLetterTargetArn'];
  return {
    name: lastPart(found['QueueArn']),
    url: QueueUrl,
    visibilityS: Number(found['VisibilityTimeout']),
    retentionS: Number(found['MessageRetentionPeriod']),
    ...(dead === undefined
      ? {}
      : { deadLetters: lastPart(dead), maxReceives: Number(redrive['maxReceiveCount']) }),
  };
}

async function mappingOf(calls: Calls, id: string): Promise<MappingFacts> {
  const path = `/2015-03-31/event-source-mappings/${encodeURIComponent(id)}`;
  const found = await calls.rest('lambda', 'GetEventSourceMapping', 'GET', path);
  const most = at(found, 'ScalingConfig')['MaximumConcurrency'];
  const responses = found['FunctionResponseTypes'];
  return {
    id,
    queue: lastPart(found['EventSourceArn']),
    function: lastPart(found['FunctionArn']),
    enabled: found['State'] === 'Enabled',
    reportsItemFailures: Array.isArray(responses) && responses.includes('ReportBatchItemFailures'),
    ...(most === undefined ? {} : { maxConcurrency: Number(most) }),
  };
}

/** A rule on another bus than the account's own has the physical id `bus|rule`. */
async function ruleOf(calls: Calls, id: string): Promise<RuleFacts> {
  const [name = '', bus] = id.split('|').toReversed();
  const on = bus === undefined ? {} : { EventBusName: bus };
  const found = await calls.json('events', 'DescribeRule', { Name: name, ...on });
  const { Targets } = await calls.json('events', 'ListTargetsByRule', { Rule: name, ...on });
  return {
    id: text(found['Arn']),
    name,
    expression: text(found['ScheduleExpression']),
    enabled: found['State'] === 'ENABLED',
    targets: listOf(Targets).map(({ Arn }) => lastPart(Arn)),
  };
}

async function schedulesOf(calls: Calls, resources: readonly StackResource[]): Promise<RuleFacts[]> {
  const groups = resources.filter(({ type }) => type === 'AWS::Scheduler::ScheduleGroup');
  const found: RuleFacts[] = [];
  for (const { id } of groups) {
    const pages = calls.pages((token) => {
      const more = token === undefined ? {} : { NextToken: token };
      const query = String(new URLSearchParams({ ScheduleGroup: id, ...more }));
      return calls.rest('scheduler', 'ListSchedules', 'GET', `/schedules?${query}`);
    }, 'NextToken');
    const names: Fields[] = [];
    for await (const { Schedules } of pages) names.push(...listOf(Schedules));
    for (const { Name } of names) {
      const path = `/schedules/${encodeURIComponent(text(Name))}?groupName=${encodeURIComponent(id)}`;
      const { ScheduleExpression, State, Target } =
        (await unlessGone(calls.rest('scheduler', 'GetSchedule', 'GET', path))) ?? {};
      found.push({
        id: `${id}/${text(Name)}`,
        name: text(Name),
        expression: text(ScheduleExpression),
        enabled: State === 'ENABLED',
        targets: [lastPart((Object(Target) as Fields)['Arn'])],
      });
    }
  }
  return found;
}

async function tableOf(calls: Calls, TableName: string): Promise<TableFacts> {
  const table = at(await calls.json('dynamodb', 'DescribeTable', { TableName }), 'Table');
  const ttl = at(await calls.json('dynamodb', 'DescribeTimeToLive', { TableName }), 'TimeToLiveDescription');
  const backups = at(
    await calls.json('dynamodb', 'DescribeContinuousBackups', { TableName }),
    'ContinuousBackupsDescription',
  );
  const recovery = Object(backups['PointInTimeRecoveryDescription']) as Fields;
  const indexes = listOf(table['GlobalSecondaryIndexes'])
    .filter(({ IndexStatus }) => IndexStatus === 'ACTIVE')
    .map(({ IndexName, KeySchema }) => [
      text(IndexName),
      listOf(KeySchema)
        .map(({ AttributeName }) => text(AttributeName))
        .join('/'),
    ]);
  return {
    name: TableName,
    indexes: Object.fromEntries(indexes) as Record<string, string>,
    ...(ttl['TimeToLiveStatus'] === 'ENABLED' ? { expiresBy: text(ttl['AttributeName']) } : {}),
    recovery: recovery['PointInTimeRecoveryStatus'] === 'ENABLED',
    keepsData: table['DeletionProtectionEnabled'] === true,
  };
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html */
const ALARMS_AT_ONCE = 100;
async function alarmsOf(calls: Calls, names: readonly string[]): Promise<AlarmFacts[]> {
  const found: AlarmFacts[] = [];
  for (let from = 0; from < names.length; from += ALARMS_AT_ONCE) {
    const AlarmNames = names.slice(from, from + ALARMS_AT_ONCE);
    const { MetricAlarms } = await calls.json('monitoring', 'DescribeAlarms', { AlarmNames });
    found.push(...listOf(MetricAlarms).map(alarmOf));
  }
  return found;
}

function alarmOf(alarm: Fields): AlarmFacts {
  const several = listOf(alarm['Metrics']).flatMap(({ MetricStat }) => {
    const { Namespace, MetricName } = Object((Object(MetricStat) as Fields)['Metric']) as Fields;
    return MetricName === undefined ? [] : [`${text(Namespace)}/${text(MetricName)}`];
  });
  const { MetricName, Namespace } = alarm;
  return {
    name: text(alarm['AlarmName']),
    metrics: MetricName === undefined ? several : [`${text(Namespace)}/${text(MetricName)}`],
    actions: listOf(alarm['AlarmActions']).length,
  };
}

/** https://docs.aws.amazon.com/sns/latest/api/API_GetTopicAttributes.html: those that are confirmed. */
async function subscribersOf(calls: Calls, TopicArn: string): Promise<number> {
  const xml = await calls.form('GetTopicAttributes', { TopicArn }, 'sns');
  const entry = inXml(xml, 'entry').find((one) => inXml(one, 'key')[0] === 'SubscriptionsConfirmed');
  return Number(plainOf(inXml(entry ?? '', 'value')[0] ?? '0'));
}
