/**
 * Dashboard and alarms read only metrics that the roles write (`aws/names.ts`; `test/aws/metrics.test.ts`
 * checks the writing).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { METRICS } from '../../lib/aws/names.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader, type Resource, statementsIn } from './template.ts';
import { drawnIn, widgetsOf } from './widgets.ts';

const stack = makeStack({ alarmEmail: 'on-call@example.com' });
const reader = new Reader(stack);
const alarms = reader.ofType('AWS::CloudWatch::Alarm');
const named = (id: string, from = reader): Resource =>
  from.one('AWS::CloudWatch::Alarm', `Monitoring/Alarms/${id}`);

const widgets = widgetsOf(reader);
const drawn = (namespace: string): unknown[][] => drawnIn(widgets, namespace);

interface Watched {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: { readonly Name: string; readonly Value: unknown }[];
}
const watchedBy = ({ Properties }: Resource): Watched[] =>
  'MetricName' in Properties
    ? [Properties as unknown as Watched]
    : (Properties['Metrics'] as { MetricStat?: { Metric: Watched } }[]).flatMap(({ MetricStat }) =>
        MetricStat === undefined ? [] : [MetricStat.Metric],
      );

describe('the names', () => {
  const watched = alarms
    .flatMap(watchedBy)
    .filter(({ Namespace }) => Namespace === 'Steadfast')
    .map(({ MetricName, Dimensions }) => [MetricName, Dimensions[0]!.Name, Dimensions[0]!.Value]);
  const used = [...drawn('Steadfast'), ...watched];

  test('on the dashboard and in alarms are those that the roles emit, all of them', () => {
    // Only the canary's own alarm uses this one, in a deployment that has a canary.
    const { CanaryEnded: _, ...always } = METRICS;
    expect(new Set(used.map(([name]) => name))).toEqual(new Set(Object.keys(always)));
    const withCanary = new Reader(makeStack({ canary: Duration.minutes(5) }));
    expect(
      withCanary.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties['MetricName']),
    ).toContain('CanaryEnded');
  });

  test('are distinguished by the deployment that every function has in its environment', () => {
    const { deploymentName } = stack.steadfast;
    for (const [, dimension, value] of used) expect([dimension, value]).toEqual(['service', deploymentName]);
    for (const path of ['Scheduler', 'Supervisor', 'Agents/pay'])
      expect(reader.environmentOf(path)['STEADFAST_DEPLOYMENT']).toBe(deploymentName);
  });

  test('in the query of the logs are among them', () => {
    const [saved] = reader.ofType('AWS::Logs::QueryDefinition').map(({ Properties }) => Properties);
    const query = String(saved?.['QueryString']);
    const fields = [...query.matchAll(/(?:sum|pct|ispresent)\((\w+)/g)].map(([, field]) => field);
    expect(fields.length).toBeGreaterThan(3);
    expect(fields.filter((field) => !Object.hasOwn(METRICS, String(field)))).toEqual([]);
    expect(saved?.['LogGroupNames']).toHaveLength(4);
  });
});

describe('alarms', () => {
  test('are there for what a person must know of', () => {
    const ids = alarms.map(({ Metadata }) => Metadata!['aws:cdk:path']!.split('/').at(-2));
    expect(new Set(ids)).toEqual(
      new Set([
        'SupervisorSilent',
        'OldestOverdue',
        'EvaluationsFailing',
        'ClockSkewed',
        'WakeTimeHealed',
        'AuditSilent',
        'AuditBehind',
        'RecordsUnaudited',
        'IncidentOpened',
        'IncidentOpen',
        'BreakerOpen',
        'AgentMissing',
        'FailureRate',
        'DeadLetters',
        'Throttled',
        'Throttled2',
        'RecursionDropped',
      ]),
    );
  });

  test('raise nothing when a deployment is new, and has no data', () => {
    const treated = alarms.map(({ Properties }) => Properties['TreatMissingData']);
    expect(treated).not.toContain('breaching');
    const onSilence = alarms.filter(({ Properties }) => Properties['InsufficientDataActions'] !== undefined);
    expect(onSilence).toEqual([named('SupervisorSilent'), named('AuditSilent')]);
    for (const { Properties } of onSilence)
      expect(Properties['InsufficientDataActions']).toEqual(Properties['AlarmActions']);
  });

  test('take silence for bad in two cases only: when nobody sweeps, and when nobody audits', () => {
    const silent = alarms.filter(({ Properties }) => Properties['TreatMissingData'] !== 'notBreaching');
    expect(silent).toEqual([named('SupervisorSilent'), named('AuditSilent')]);
    expect(silent[0]!.Properties).toMatchObject({
      MetricName: 'Sweeps',
      Period: 60,
      EvaluationPeriods: 3,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'missing',
    });
  });

  test.each([
    [Duration.minutes(10), 600, 86_400_000 + 600_000],
    [undefined, 900, 2 * 86_400_000],
    [Duration.hours(36), 900, 60 * 3_600_000],
  ])(
    'of the audit look for three runs that are missing, and for a pass that is late: %s',
    (auditEvery, period, lateMs) => {
      const changed = new Reader(makeStack(auditEvery === undefined ? {} : { tuning: { auditEvery } }));
      expect(named('AuditSilent', changed).Properties).toMatchObject({
        MetricName: 'AuditAge',
        Statistic: 'SampleCount',
        Period: period,
        EvaluationPeriods: 3,
        Threshold: 1,
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: 'missing',
      });
      expect(named('AuditBehind', changed).Properties).toMatchObject({
        MetricName: 'AuditAge',
        Statistic: 'Maximum',
        Period: period,
        Threshold: lateMs,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      });
    },
  );

  test('an audit every three days is refused: what it would put in order waits for so long', () => {
    expect(() => makeStack({ tuning: { auditEvery: Duration.days(3) } })).toThrow(
      'auditEvery is 3 days; allowed: 2 days or less',
    );
  });

  test('about open things last as long as they are open, and do not add up counts of each minute', () => {
    const open = { Statistic: 'Maximum', Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold' };
    expect(named('IncidentOpen').Properties).toMatchObject({
      ...open,
      MetricName: 'OpenIncidents',
      Period: 300,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 3,
    });
    expect(named('BreakerOpen').Properties).toMatchObject({
      ...open,
      MetricName: 'OpenBreakers',
      Period: 60,
      EvaluationPeriods: 12,
      DatapointsToAlarm: 10,
    });
  });

  test('of a missing agent wait for a deployment to be over, and say what to do', () => {
    const { Properties } = named('AgentMissing');
    expect(Properties).toMatchObject({
      MetricName: 'AgentsMissing',
      Statistic: 'Sum',
      Period: 60,
      EvaluationPeriods: 5,
      DatapointsToAlarm: 3,
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    });
    expect(Properties['AlarmDescription']).toMatch(
      /npx steadfast agents shows which.* Deploy the agent again/,
    );
  });

  test('are sent, raised and over, to one topic, which takes them from CloudWatch and over TLS alone', () => {
    const topic = reader.ofType('AWS::SNS::Topic');
    expect(topic).toHaveLength(1);
    const ref = { Ref: topic[0]!.id };
    for (const { Properties } of alarms)
      expect(Properties).toMatchObject({ AlarmActions: [ref], OKActions: [ref] });
    expect(statementsIn(reader.ofType('AWS::SNS::TopicPolicy')[0]!)).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
    expect(reader.ofType('AWS::SNS::Subscription')[0]!.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
    });
  });

  test('of evaluations that fail take a period without data for one without failures', () => {
    const { Properties } = named('EvaluationsFailing');
    expect((Properties['Metrics'] as { Expression?: string }[])[0]!.Expression).toBe('FILL(failed, 0)');
    expect(watchedBy(named('EvaluationsFailing')).map(({ MetricName }) => MetricName)).toEqual([
      'EvaluationsFailed',
    ]);
    expect(Properties).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3, Threshold: 1 });
  });

  test('of the failure rate wait for ten ends, and count what was undone as failed', () => {
    const { Properties } = named('FailureRate');
    const { Expression } = (Properties['Metrics'] as { Expression?: string }[])[0]!;
    const ended = 'FILL(s,0)+FILL(f,0)+FILL(u,0)+FILL(c,0)';
    expect(Expression).toBe(`IF(${ended}>=10, 100*(FILL(f,0)+FILL(u,0))/(${ended}), 0)`);
    expect(watchedBy(named('FailureRate')).map(({ MetricName }) => MetricName)).toEqual([
      'Succeeded',
      'Failed',
      'Compensated',
      'Canceled',
    ]);
    expect(Properties['Threshold']).toBe(10);
  });

  test('of many agents’ throttles are several, since one holds ten metrics', () => {
    const agents = Array.from({ length: 20 }, (_, n) => ({
      ...FOUND.agents[2]!,
      name: `a-${n}`,
      peers: [`a-${n}`],
    }));
    const many = new Reader(makeStack({ workflows: { ...FOUND, agents } }));
    const throttled = ['Throttled', 'Throttled2', 'Throttled3', 'Throttled4'].map((id) =>
      watchedBy(named(id, many)),
    );
    expect(throttled.map((metrics) => metrics.length)).toEqual([10, 10, 10, 2]);
    expect(throttled.flat().filter(({ MetricName }) => MetricName === 'Throttles')).toHaveLength(23);
  });
});

test('the operators’ guide says what metrics and alarms cost, and names every alarm', () => {
  const docs = join(import.meta.dirname, '..', '..', 'docs');
  const guide = ['ALARMS.md', 'COST.md'].map((page) => readFileSync(join(docs, page), 'utf8')).join('\n');
  const names = Object.keys(METRICS).length;
  expect(guide).toContain(`| metrics: ${names} names at 0.30`);
  expect(guide).toContain(` without faults, ${(names * 0.3).toFixed(1)} at most |`);
  const { agents } = stack.steadfast;
  const read = alarms.flatMap(watchedBy).length - agents.size;
  expect(guide).toContain(`that they read | ${(read * 0.1).toFixed(1)}, 0.1 an agent`);
  const ids = alarms.map(({ Metadata }) => Metadata!['aws:cdk:path']!.split('/').at(-2)!);
  const kinds = ids.map((id) => id.replace(/-.*/, '-<agent>').replace(/\d+$/, ''));
  expect(kinds.filter((id) => !guide.includes(`| \`${id}\` |`))).toEqual([]);
});

test('an own topic takes the alarms; the dashboard, or all of it, can be left away', () => {
  const some = makeStack({ monitoring: 'alarms' });
  const counts = (one: Reader): number[] =>
    ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::SNS::Topic'].map(
      (type) => one.ofType(type).length,
    );
  expect(counts(new Reader(some))).toEqual([17, 0, 1]);
  expect(counts(new Reader(makeStack({ monitoring: 'none' })))).toEqual([0, 0, 0]);
  const topic = Topic.fromTopicArn(some, 'Own', 'arn:aws:sns:us-east-1:123456789012:own');
  expect(counts(new Reader(makeStack({ alarmTopic: topic })))).toEqual([17, 1, 0]);
});
