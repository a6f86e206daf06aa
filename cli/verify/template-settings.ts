/**
 * The settings of a deployment, read from its template: what the local cloud runs.
 *
 * Owns: where each setting is in a template of CloudFormation. Does not own: what a setting must be
 * (`checks/settings.ts`).
 */

import type {
  AlarmFacts,
  FunctionFacts,
  MappingFacts,
  QueueFacts,
  RuleFacts,
  Settings,
  TableFacts,
} from './ports.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** As the local cloud's control gives it. */
export interface Resource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalName: string;
  readonly ref: string;
  readonly properties: Readonly<Record<string, Json>>;
}

export function settingsOf(resources: readonly Resource[]): Settings {
  const ofType = (...types: string[]): readonly Resource[] =>
    resources.filter(({ type }) => types.includes(type));
  const dashboards = ofType('AWS::CloudWatch::Dashboard').map(({ properties }) =>
    textOf(properties['DashboardBody'] ?? ''),
  );
  return {
    functions: ofType('AWS::Lambda::Function').map(functionOf),
    queues: ofType('AWS::SQS::Queue').map(queueOf),
    mappings: ofType('AWS::Lambda::EventSourceMapping').map(mappingOf),
    rules: ofType('AWS::Events::Rule', 'AWS::Scheduler::Schedule').map(ruleOf),
    table: tableOf(ofType('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable')),
    alarms: ofType('AWS::CloudWatch::Alarm').map(alarmOf),
    drawn: [...new Set(dashboards.flatMap(metricsOfDashboard))],
    subscribers: ofType('AWS::SNS::Subscription').length,
  };
}

const at = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((found, key) => (Object(found) as Record<string, Json>)[key], value);
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const nameIn = (arn: Json | undefined): string =>
  String(arn ?? '')
    .split(':')
    .at(-1) ?? '';

const functionOf = ({ properties, physicalName }: Resource): FunctionFacts => ({
  name: physicalName,
  runtime: String(properties['Runtime'] ?? ''),
  timeoutS: Number(properties['Timeout'] ?? 3),
  recursionAllowed: properties['RecursiveLoop'] === 'Allow',
  logFormat: String(at(properties, 'LoggingConfig', 'LogFormat') ?? 'Text'),
  logGroup: String(at(properties, 'LoggingConfig', 'LogGroup') ?? ''),
  variables: (at(properties, 'Environment', 'Variables') ?? {}) as Record<string, string>,
});

function queueOf({ properties, physicalName, ref }: Resource): QueueFacts {
  const dead = at(properties, 'RedrivePolicy', 'deadLetterTargetArn');
  return {
    name: physicalName,
    url: ref,
    visibilityS: Number(properties['VisibilityTimeout'] ?? 30),
    retentionS: Number(properties['MessageRetentionPeriod'] ?? 345_600),
    ...(dead === undefined
      ? {}
      : {
          deadLetters: nameIn(dead),
          maxReceives: Number(at(properties, 'RedrivePolicy', 'maxReceiveCount')),
        }),
  };
}

function mappingOf({ properties, physicalName, logicalId }: Resource): MappingFacts {
  const most = at(properties, 'ScalingConfig', 'MaximumConcurrency');
  return {
    id: logicalId || physicalName,
    queue: nameIn(properties['EventSourceArn']),
    function: nameIn(properties['FunctionName']),
    enabled: properties['Enabled'] !== false,
    reportsItemFailures: list(properties['FunctionResponseTypes']).includes('ReportBatchItemFailures'),
    ...(most === undefined ? {} : { maxConcurrency: Number(most) }),
  };
}

const ruleOf = ({ properties, physicalName }: Resource): RuleFacts => ({
  id: physicalName,
  name: physicalName,
  expression: String(properties['ScheduleExpression'] ?? ''),
  enabled: properties['State'] !== 'DISABLED',
  targets: [...list(properties['Targets']), properties['Target'] ?? []].flatMap((target) => {
    const arn = at(target, 'Arn');
    return arn === undefined ? [] : [nameIn(arn)];
  }),
});

/** The state table: that with indexes. */
function tableOf(tables: readonly Resource[]): TableFacts {
  const state = tables.find(({ properties }) => list(properties['GlobalSecondaryIndexes']).length > 0);
  const { properties = {}, physicalName = '' } = state ?? {};
  const indexes = list(properties['GlobalSecondaryIndexes']).map((index) => {
    const keys = list(at(index, 'KeySchema')).map((key) => String(at(key, 'AttributeName')));
    return [String(at(index, 'IndexName')), keys.join('/')] as const;
  });
  const expiresBy = at(properties, 'TimeToLiveSpecification', 'AttributeName');
  const recovery =
    at(properties, 'PointInTimeRecoverySpecification', 'PointInTimeRecoveryEnabled') ??
    at(list(properties['Replicas'])[0], 'PointInTimeRecoverySpecification', 'PointInTimeRecoveryEnabled');
  return {
    name: physicalName,
    indexes: Object.fromEntries(indexes),
    ...(expiresBy === undefined ? {} : { expiresBy: String(expiresBy) }),
    recovery: recovery === true,
  };
}

const nameOf = (namespace: Json | undefined, name: Json | undefined): string =>
  [namespace, name].map(String).join('/');

function alarmOf({ properties, logicalId }: Resource): AlarmFacts {
  const single = properties['MetricName'];
  const several = list(properties['Metrics']).flatMap((one) => {
    const metric = at(one, 'MetricStat', 'Metric');
    return metric === undefined ? [] : [nameOf(at(metric, 'Namespace'), at(metric, 'MetricName'))];
  });
  return {
    name: logicalId,
    metrics: single === undefined ? several : [nameOf(properties['Namespace'], single)],
    actions: list(properties['AlarmActions']).length,
  };
}

/** The text of a join, with a word where the template refers to something. */
const textOf = (value: Json): string => {
  if (typeof value === 'string') return value;
  const parts = at(value, 'Fn::Join');
  const joined = list(list(parts)[1]).map((part) => (typeof part === 'string' ? part : 'reference'));
  return joined.join(String(list(parts)[0] ?? ''));
};

/** `["Steadfast","Started",…]` of each widget, by `namespace/name`; a '.' repeats the value above it. */
export function metricsOfDashboard(body: string): string[] {
  const { widgets } = Object(JSON.parse(body || '{}')) as { readonly widgets?: readonly Json[] };
  return (widgets ?? []).flatMap((widget) => {
    let before: readonly Json[] = [];
    return list(at(widget, 'properties', 'metrics')).flatMap((metric) => {
      const [namespace, name] = list(metric);
      if (typeof namespace !== 'string' || typeof name !== 'string') return [];
      before = [namespace === '.' ? (before[0] ?? '') : namespace, name === '.' ? (before[1] ?? '') : name];
      return [before.join('/')];
    });
  });
}
