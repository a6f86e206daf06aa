/** Alarms of a local cloud: evaluation each minute, missing data, notifications. */
import { Alarms, type AlarmState } from '../../local/alarms/alarms.ts';
import { MetricStore } from '../../local/metrics/metric-store.ts';
import type { Queue } from '../../local/sqs/queue.ts';
import type { QueueDirectory } from '../../local/sqs/queue-directory.ts';
import type { Json } from '../../local/template/json.ts';
import type { ResolvedResource } from '../../local/template/template.ts';
import { resolveTemplate } from '../../local/template/template.ts';
import type { StackPlace } from '../../local/template/resource-types.ts';
import { ManualClock } from './manual-clock.ts';

const MINUTE = 60_000;
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:Topic';
const METRIC = { namespace: 'Steadfast', name: 'Sweeps', dimensions: { deployment: 'x' } };

const PLACE: StackPlace = {
  stackName: 'Stack',
  region: 'us-east-1',
  accountId: '000000000000',
  gatewayUrl: 'http://gateway',
  apiUrl: () => 'http://api',
  functionUrl: () => 'http://function',
};

const alarm = (logicalId: string, properties: Readonly<Record<string, Json>>) =>
  [
    logicalId,
    { logicalId, physicalName: `Stack-${logicalId}`, type: 'AWS::CloudWatch::Alarm', properties },
  ] as const;
const onMetric = {
  Namespace: METRIC.namespace,
  MetricName: METRIC.name,
  Dimensions: [{ Name: 'deployment', Value: 'x' }],
  Statistic: 'Sum',
  Period: 60,
  AlarmActions: [TOPIC],
  OKActions: [TOPIC],
  InsufficientDataActions: [TOPIC],
};

function cloud(...alarms: (readonly [string, object])[]) {
  const clock = new ManualClock(MINUTE * 1_000);
  const metrics = new MetricStore({ clock, file: '/nowhere/metrics', onProblem: () => {} });
  const news: string[] = [];
  const queue = { send: ({ body }: { body: string }) => news.push(body) } as unknown as Queue;
  const subscription = {
    type: 'AWS::SNS::Subscription',
    properties: { TopicArn: TOPIC, Protocol: 'sqs', Endpoint: 'arn:aws:sqs:us-east-1:000000000000:Alarms' },
  };
  const all = new Alarms({
    resources: new Map([...alarms, ['Subscription', subscription]]) as unknown as Map<
      string,
      ResolvedResource
    >,
    periods: metrics.periods.bind(metrics),
    queues: {
      byArn: (arn: string) => (arn.includes(':sqs:') ? queue : undefined),
    } as unknown as QueueDirectory,
    clock,
  });
  all.start();
  /** The alarm's state after a minute in which the metric has these values. */
  const minute = (...values: number[]): AlarmState | undefined => {
    for (const value of values) metrics.add(METRIC, value);
    clock.advance(MINUTE);
    return all.list()[0]?.state;
  };
  const announced = () =>
    news.splice(0).map((body) => {
      const { AlarmName, NewStateValue } = JSON.parse((JSON.parse(body) as { Message: string }).Message);
      return `${AlarmName} ${NewStateValue}`;
    });
  return { all, minute, announced };
}

const SILENT = alarm('SupervisorSilent', {
  ...onMetric,
  Threshold: 1,
  ComparisonOperator: 'LessThanThreshold',
  EvaluationPeriods: 3,
  TreatMissingData: 'missing',
});

test('silence is a state of its own after its periods, is announced once, and ends with the next data', () => {
  const { minute, announced } = cloud(SILENT);
  expect(minute()).toBe('INSUFFICIENT_DATA');
  // A new deployment begins with this state and does not announce it.
  expect(announced()).toEqual([]);
  expect([minute(4), minute(), minute()]).toEqual(['OK', 'OK', 'OK']);
  expect(announced()).toEqual(['Stack-SupervisorSilent OK']);
  expect([minute(), minute()]).toEqual(['INSUFFICIENT_DATA', 'INSUFFICIENT_DATA']);
  expect(announced()).toEqual(['Stack-SupervisorSilent INSUFFICIENT_DATA']);
  expect(minute(1)).toBe('OK');
  expect(announced()).toEqual(['Stack-SupervisorSilent OK']);
});

test('an alarm is raised when enough of its periods are bad, and silence may be good', () => {
  const { minute } = cloud(
    alarm('OldestOverdue', {
      ...onMetric,
      Threshold: 100,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 5,
      DatapointsToAlarm: 3,
      TreatMissingData: 'notBreaching',
    }),
  );
  expect([minute(), minute(100), minute(99), minute(60, 60)]).toEqual(['OK', 'OK', 'OK', 'OK']);
  expect(minute(500)).toBe('ALARM');
  expect([minute(), minute()]).toEqual(['ALARM', 'OK']);
});

test('one that is set by hand is announced, and evaluated again in the next minute', () => {
  const { all, minute, announced } = cloud(SILENT);
  all.set('SupervisorSilent', 'ALARM');
  expect(announced()).toEqual(['Stack-SupervisorSilent ALARM']);
  expect(minute(1)).toBe('OK');
});

test('an alarm of a template reaches the queue that subscribes by references; another’s stays as it is', () => {
  const exotic = { ...onMetric, Threshold: 1, ComparisonOperator: { 'Fn::Transform': 'unknown' } };
  const { resources } = resolveTemplate(
    {
      Resources: {
        Topic: { Type: 'AWS::SNS::Topic' },
        Queue: { Type: 'AWS::SQS::Queue' },
        OnTopic: {
          Type: 'AWS::SNS::Subscription',
          Properties: {
            Protocol: 'sqs',
            TopicArn: { Ref: 'Topic' },
            Endpoint: { 'Fn::GetAtt': ['Queue', 'Arn'] },
          },
        },
        Late: {
          Type: 'AWS::CloudWatch::Alarm',
          Properties: {
            ...onMetric,
            Threshold: 1,
            ComparisonOperator: 'LessThanThreshold',
            AlarmActions: [{ Ref: 'Topic' }],
          },
        },
        Exotic: { Type: 'AWS::CloudWatch::Alarm', Properties: exotic },
      },
    },
    PLACE,
  );
  expect(resources.get('Exotic')?.properties).toEqual(exotic);
  const { Exotic: _exotic, ...known } = Object.fromEntries(resources);
  const { all, announced } = cloud(...Object.entries(known));
  all.set('Late', 'ALARM');
  expect(announced()).toEqual([expect.stringContaining('Late')]);
});

test('an alarm over an expression has no data here', () => {
  const { minute } = cloud(
    alarm('Throttled', { Metrics: [], Threshold: 1, ComparisonOperator: 'GreaterThanThreshold' }),
  );
  expect(minute(5)).toBe('INSUFFICIENT_DATA');
});
