/**
 * The alarms: what a person has to know of at once, and nothing else.
 *
 * Owns: what is alarming, from when on, and what silence means. Does not own: who
 * is notified (`monitoring.ts`).
 *
 * Silence is alarming for two metrics only: sweeps, which a living supervisor makes every minute whatever
 * there is to do, and runs of the audit, which come in their own time. These alarms are about having no data,
 * which is a state of its own: it is notified when an alarm gets there, and a new deployment, which begins
 * there, raises none
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html).
 */

import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { INDEXES } from '../aws/names.ts';
import type { Agent } from './agent-fleet.ts';
import type { MetricMaker } from './metrics.ts';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
/** What is due is evaluated within a tick; twice that is late. */
const OVERDUE = Duration.minutes(2);
/** One run of the audit may be late, and one may be killed. */
const MISSED_AUDITS = 3;
/** The longest period of an alarm. */
const DAY = Duration.days(1);
/** A shorter absence of a service is an everyday matter: deferred work comes back by itself. */
const BREAKER_OPEN_MINUTES = 10;
/**
 * While a deployment replaces one function after another, one of them may not know
 * yet what another already needs.
 */
const MISSING_MINUTES = 3;
/** Fewer ends say nothing about a rate. */
const FEWEST_ENDS = 10;
/** CloudWatch's limit for one alarm. */
const METRICS_IN_AN_ALARM = 10;

export interface AlarmsProps {
  readonly metricOf: MetricMaker;
  readonly agents: readonly Agent[];
  readonly scheduler: IFunction;
  readonly supervisor: IFunction;
  readonly table: ITable;
  /**
   * Percent of the executions that ended which failed or had to be undone, from which on there is an alarm.
   */
  readonly failurePercent: number;
  readonly audit: {
    /** How often a run is expected. */
    readonly runEvery: Duration;
    /** From the beginning of a pass to the next. */
    readonly every: Duration;
  };
}

type Settings = Pick<AlarmProps, 'metric' | 'threshold' | 'alarmDescription'> & {
  /** How many periods of the last ones have to be bad. */
  readonly bad: number;
  readonly of: number;
  readonly silence?: TreatMissingData;
};

export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  /** Those that are raised by having no data any more: `INSUFFICIENT_DATA`. */
  readonly ofSilence: ReadonlySet<Alarm>;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const silent = [this.supervisorSilent(props), this.auditSilent(props)];
    this.ofSilence = new Set(silent);
    this.all = [
      ...silent,
      ...this.ofTheWakeTimes(props),
      ...this.ofTheAudit(props),
      ...this.ofWhatIsOpen(props),
      this.failureRate(props),
      ...props.agents.map((agent) => this.deadLetters(agent)),
      ...this.throttled(props),
      ...this.recursionDropped(props),
    ];
  }

  /** From a threshold on, and unless said otherwise silence is good. */
  private raise(id: string, { bad, of, silence, ...settings }: Settings): Alarm {
    return new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: bad,
      evaluationPeriods: of,
      treatMissingData: silence ?? TreatMissingData.NOT_BREACHING,
      ...settings,
    });
  }

  private supervisorSilent({ metricOf }: AlarmsProps): Alarm {
    return new Alarm(this, 'SupervisorSilent', {
      alarmDescription:
        'Nobody sweeps: lost messages and dead agents go unnoticed. Look at the errors of the supervisor and whether its rule is enabled.',
      metric: metricOf('Sweeps', { period: MINUTE }),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 3,
      treatMissingData: TreatMissingData.MISSING,
    });
  }

  private auditSilent({ metricOf, audit }: AlarmsProps): Alarm {
    return new Alarm(this, 'AuditSilent', {
      alarmDescription:
        'The audit has not come to the end of a run three times in a row: an execution that lost its wake time would stay lost. Look at the errors of its function and whether its rule is enabled.',
      metric: metricOf('Audits', { period: audit.runEvery }),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: MISSED_AUDITS,
      treatMissingData: TreatMissingData.MISSING,
    });
  }

  private ofTheWakeTimes({ metricOf }: AlarmsProps): Alarm[] {
    return [
      this.raise('OldestOverdue', {
        alarmDescription:
          'Something has been due for minutes and nobody has looked: the supervisor cannot keep up, or cannot handle an execution: npx steadfast list --at-risk names them.',
        metric: metricOf('OldestOverdue', { period: MINUTE }),
        threshold: OVERDUE.toMilliseconds(),
        bad: 3,
        of: 5,
      }),
      this.raise('EvaluationsFailing', {
        alarmDescription:
          'The supervisor has failed for a quarter of an hour to look at some execution. Its log names it: evaluation-failed.',
        metric: metricOf('EvaluationsFailed', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 3,
        of: 3,
      }),
      this.raise('ClockSkewed', {
        alarmDescription:
          "The clock of a process is more than 2 s from the store's: what is due may be noticed late. Its log says by how much: clock-skewed.",
        metric: metricOf('ClocksSkewed', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 1,
        of: 1,
      }),
    ];
  }

  private ofTheAudit({ metricOf, audit }: AlarmsProps): Alarm[] {
    const period = audit.runEvery;
    return [
      this.raise('AuditBehind', {
        alarmDescription:
          'The audit has not come through the whole table for a day: what executions leave behind grows, and one that lost its wake time waits for so long. Raise auditMegabytes; if the function runs into its time, memorySize.',
        metric: metricOf('AuditAge', { period }),
        threshold: Math.max(DAY.toMilliseconds(), MISSED_AUDITS * audit.every.toMilliseconds()),
        bad: 1,
        of: 1,
      }),
      this.raise('WakeTimeHealed', {
        alarmDescription:
          'The audit found an open execution that nobody would have looked at, and had it looked at. Expected after a restore and after wakeShards was lowered; else a hand in the table, or a defect.',
        metric: metricOf('WakeTimesHealed', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 1,
        of: 1,
      }),
      this.raise('RecordsUnaudited', {
        alarmDescription:
          'The audit could not read a record, or could not put it in order. Its log names the execution: audit-failed.',
        metric: metricOf('RecordsUnaudited', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 1,
        of: 1,
      }),
    ];
  }

  private ofWhatIsOpen({ metricOf }: AlarmsProps): Alarm[] {
    return [
      this.raise('IncidentOpened', {
        alarmDescription:
          'A question to a person was opened: npx steadfast incidents names its execution, and what happens without an answer. The event of the incident has the id.',
        metric: metricOf('IncidentsOpened', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 1,
        of: 1,
      }),
      this.raise('IncidentOpen', {
        alarmDescription:
          'A question to a person has been open for a quarter of an hour, and is over when none is: npx steadfast incidents names its execution.',
        metric: metricOf('OpenIncidents', { period: FIVE_MINUTES }),
        threshold: 1,
        bad: 3,
        of: 3,
      }),
      this.raise('BreakerOpen', {
        alarmDescription: `The service behind an agent has been away for ${BREAKER_OPEN_MINUTES} minutes: what needs it waits. npx steadfast agents says which, since when and with which error; npx steadfast list --at-risk names what waits.`,
        metric: metricOf('OpenBreakers', { period: MINUTE }),
        threshold: 1,
        bad: BREAKER_OPEN_MINUTES,
        // A tick that stays and one that does not may write their metrics in the same
        // minute, and in the next none does.
        of: BREAKER_OPEN_MINUTES + 2,
      }),
      this.raise('AgentMissing', {
        alarmDescription:
          'Executions under way need an agent that is no longer deployed: they stand still, also what is to be undone. npx steadfast agents says which, npx steadfast list --at-risk what waits for it. Deploy it again until they have ended; they go on within a minute.',
        metric: metricOf('AgentsMissing', { period: MINUTE }),
        threshold: 1,
        bad: MISSING_MINUTES,
        of: MISSING_MINUTES + 2,
      }),
    ];
  }

  private failureRate({ metricOf, failurePercent }: AlarmsProps): Alarm {
    const period = FIVE_MINUTES;
    return this.raise('FailureRate', {
      alarmDescription: `Of the executions that ended, ${failurePercent} % or more failed or had to be undone: npx steadfast list --status bad names them, each with the code of its failure.`,
      metric: new MathExpression({
        label: 'failed or undone, %',
        expression: `IF(FILL(s,0)+FILL(f,0)+FILL(u,0)+FILL(c,0)>=${FEWEST_ENDS}, 100*(FILL(f,0)+FILL(u,0))/(FILL(s,0)+FILL(f,0)+FILL(u,0)+FILL(c,0)), 0)`,
        usingMetrics: {
          s: metricOf('Succeeded', { period }),
          f: metricOf('Failed', { period }),
          u: metricOf('Compensated', { period }),
          c: metricOf('Canceled', { period }),
        },
        period,
      }),
      threshold: failurePercent,
      bad: 2,
      of: 3,
    });
  }

  private deadLetters({ agentName, deadLetterQueue }: Agent): Alarm {
    return this.raise(`DeadLetters-${agentName}`, {
      alarmDescription: `Agent '${agentName}' could not take messages five times: its function fails before or at its claim. The executions are watched and go on; the cause stays.`,
      metric: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        period: FIVE_MINUTES,
        statistic: Stats.MAXIMUM,
      }),
      threshold: 1,
      bad: 1,
      of: 1,
    });
  }

  private throttled({ agents, scheduler, supervisor, table }: AlarmsProps): Alarm[] {
    const period = MINUTE;
    const tableThrottles = ['Read', 'Write'].map((kind) =>
      table.metric(`${kind}ThrottleEvents`, { period, statistic: Stats.SUM }),
    );
    const indexThrottles = INDEXES.map(({ name }) =>
      table.metric('WriteThrottleEvents', {
        period,
        statistic: Stats.SUM,
        dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: name },
      }),
    );
    const functions = [scheduler, supervisor, ...agents.flatMap((agent) => agent.function ?? [])];
    const all = [
      ...tableThrottles,
      ...indexThrottles,
      ...functions.map((one) => one.metricThrottles({ period })),
    ];
    return this.sums('Throttled', all, period, {
      alarmDescription:
        'DynamoDB or Lambda has been refusing calls for minutes. Nothing is lost, but everything is late: raise the limit, or set an agent a lower maxConcurrency.',
      threshold: 1,
      bad: 3,
      of: 5,
    });
  }

  /**
   * Lambda reports drops only of functions that it may cut off: the supervisor, and
   * what could not be set from here.
   */
  private recursionDropped({ agents, supervisor }: AlarmsProps): Alarm[] {
    const imported = agents
      .flatMap((agent) => agent.function ?? [])
      .filter((one) => !(one instanceof LambdaFunction));
    const all = [supervisor, ...imported].map((one) =>
      one.metric('RecursiveInvocationsDropped', { period: FIVE_MINUTES, statistic: Stats.SUM }),
    );
    return this.sums('RecursionDropped', all, FIVE_MINUTES, {
      alarmDescription:
        'Lambda took a chain of steps for a loop and dropped an invocation: set RecursiveLoop to Allow on the function.',
      threshold: 1,
      bad: 1,
      of: 1,
    });
  }

  /** One alarm over the sum of many metrics; several, where one cannot hold them all. */
  private sums(
    id: string,
    metrics: readonly IMetric[],
    period: Duration,
    settings: Omit<Settings, 'metric'>,
  ): Alarm[] {
    const groups = Math.ceil(metrics.length / METRICS_IN_AN_ALARM);
    return Array.from({ length: groups }, (_, group) => {
      const some = metrics.slice(group * METRICS_IN_AN_ALARM, (group + 1) * METRICS_IN_AN_ALARM);
      const metric = new MathExpression({
        label: id,
        expression: some.map((__, at) => `FILL(m${at},0)`).join('+'),
        usingMetrics: Object.fromEntries(some.map((each, at) => [`m${at}`, each])),
        period,
      });
      return this.raise(group === 0 ? id : `${id}${group + 1}`, { ...settings, metric });
    });
  }
}
