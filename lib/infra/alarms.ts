/**
 * The alarms, for what a person must know at once.
 *
 * Owns: the conditions, the thresholds, and the meaning of missing data. Does not own: who is notified
 * (`monitoring.ts`).
 *
 * Missing data raises an alarm for three metrics only, which have data even if nothing is due: sweeps, made
 * every minute by a living supervisor, and, at their own intervals, runs of the audit and ends of canaries.
 * These alarms use the state "insufficient data": an alarm notifies when it enters that state, and a new
 * deployment, whose alarms begin in it, raises none
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
import type { AgentFunction } from './deployed-agent.ts';
import type { MetricMaker } from './metrics.ts';
import { deadLettersOf } from './queue-rules.ts';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
/**
 * The age at which an overdue execution raises an alarm: twice the tick within which it should be evaluated.
 */
const OVERDUE = Duration.minutes(2);
/** The number of missing audit runs that raise an alarm: one may be late, and one may be killed. */
const MISSED_AUDITS = 3;
/** The longest period of an alarm. */
const DAY = Duration.days(1);
/**
 * The time after which an open breaker raises an alarm. Shorter outages are common, and deferred work
 * continues by itself.
 */
const BREAKER_OPEN_MINUTES = 10;
/** How long an agent may be missing: a deployment replaces one function after another. */
const MISSING_MINUTES = 3;
/** The fewest ends from which a rate is computed. */
const FEWEST_ENDS = 10;
/** CloudWatch's limit of metrics in one alarm. */
const METRICS_IN_AN_ALARM = 10;

export interface AlarmsProps {
  readonly metricOf: MetricMaker;
  readonly agents: readonly AgentFunction[];
  readonly scheduler: IFunction;
  readonly supervisor: IFunction;
  readonly table: ITable;
  /** The percentage of ended executions that failed or were undone from which an alarm is raised. */
  readonly failurePercent: number;
  /** How often a canary starts; without it there is no alarm about it. */
  readonly canary?: Duration;
  readonly audit: {
    /** The expected interval between runs of the audit. */
    readonly runEvery: Duration;
    /** The interval between the beginnings of two passes. */
    readonly every: Duration;
  };
}

type Settings = Pick<AlarmProps, 'metric' | 'alarmDescription'> & {
  /** @default 1 */
  readonly threshold?: number;
  /** How many of the last periods must be bad. @default 1 */
  readonly bad?: number;
  /** @default `bad` */
  readonly of?: number;
};

export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  /** Alarms on missing data, which the state `INSUFFICIENT_DATA` raises. */
  readonly ofSilence: ReadonlySet<Alarm>;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const silent = [this.supervisorSilent(props), this.auditSilent(props), ...this.canaryLate(props)];
    this.ofSilence = new Set(silent);
    this.all = [
      ...silent,
      ...this.ofTheWakeTimes(props),
      ...this.ofTheAudit(props),
      ...this.ofWhatIsOpen(props),
      this.failureRate(props),
      ...this.deadLetters(props),
      ...this.throttled(props),
      ...this.recursionDropped(props),
    ];
  }

  /** Adds an alarm with a threshold; missing data counts as good. */
  private raise(id: string, { threshold = 1, bad = 1, of = bad, ...settings }: Settings): Alarm {
    return new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold,
      datapointsToAlarm: bad,
      evaluationPeriods: of,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...settings,
    });
  }

  /** Adds an alarm for a number of periods in a row without data. */
  private silent(
    id: string,
    periods: number,
    settings: Pick<Settings, 'metric' | 'alarmDescription'>,
  ): Alarm {
    return new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: periods,
      treatMissingData: TreatMissingData.MISSING,
      ...settings,
    });
  }

  private supervisorSilent({ metricOf }: AlarmsProps): Alarm {
    return this.silent('SupervisorSilent', 3, {
      alarmDescription:
        'No supervisor is sweeping, so lost messages and dead agents go unnoticed. Check the errors of the supervisor, and that its rule is enabled.',
      metric: metricOf('Sweeps', { period: MINUTE }),
    });
  }

  private auditSilent({ metricOf, audit }: AlarmsProps): Alarm {
    return this.silent('AuditSilent', MISSED_AUDITS, {
      alarmDescription:
        'Three runs of the audit in a row did not finish, so an execution that lost its wake time would stay lost. Check the errors of the audit function, and that its rule is enabled.',
      // Each run writes one value.
      metric: metricOf('AuditAge', { statistic: Stats.SAMPLE_COUNT, period: audit.runEvery }),
    });
  }

  /**
   * Raises an alarm after two periods in which no canary ended. A single one is not a fault: a canary may
   * begin in one period and end in the next.
   */
  private canaryLate({ metricOf, canary }: AlarmsProps): Alarm[] {
    if (canary === undefined) return [];
    const late = this.silent('CanaryLate', 2, {
      alarmDescription:
        'The execution that the deployment starts to test itself has twice not come to its end in time: some part of it does not work. Where the latest one stands: npx steadfast list --workflow steadfast-canary, then npx steadfast why <id>; if there is none, read the log of its trigger.',
      metric: metricOf('CanaryEnded', { period: canary }),
    });
    return [late];
  }

  private ofTheWakeTimes({ metricOf }: AlarmsProps): Alarm[] {
    return [
      this.raise('OldestOverdue', {
        alarmDescription:
          'Executions have been overdue for minutes: the supervisor cannot keep up, or cannot handle one of them. To list them: npx steadfast list --at-risk',
        metric: metricOf('OldestOverdue', { period: MINUTE }),
        threshold: OVERDUE.toMilliseconds(),
        bad: 3,
        of: 5,
      }),
      this.raise('EvaluationsFailing', {
        alarmDescription:
          'For 15 minutes the supervisor has failed to evaluate an execution. Its log entry evaluation-failed names the execution.',
        // A count of none is not written. Without FILL, CloudWatch would pass over the periods that lack it,
        // and take failures long apart for failures in a row.
        metric: new MathExpression({
          label: 'evaluations that failed',
          expression: 'FILL(failed, 0)',
          usingMetrics: { failed: metricOf('EvaluationsFailed', { period: FIVE_MINUTES }) },
          period: FIVE_MINUTES,
        }),
        bad: 3,
      }),
      this.raise('ClockSkewed', {
        alarmDescription:
          'The clock of a process differs from the clock of the table by more than 2 s, so due work may be noticed late. The log entry clock-skewed says by how much.',
        metric: metricOf('ClocksSkewed', { period: FIVE_MINUTES }),
      }),
    ];
  }

  private ofTheAudit({ metricOf, audit }: AlarmsProps): Alarm[] {
    const period = audit.runEvery;
    return [
      this.raise('AuditBehind', {
        alarmDescription:
          'The audit should have finished a pass over the table a day ago, so leftovers of executions grow, and an execution that lost its wake time waits that long. Raise auditMegabytes; if the function times out, raise its memorySize.',
        metric: metricOf('AuditAge', { period }),
        threshold: DAY.toMilliseconds() + audit.every.toMilliseconds(),
      }),
      this.raise('WakeTimeHealed', {
        alarmDescription:
          'The audit found an open execution that no supervisor would have evaluated, and had it evaluated. This is expected after a restore or after wakeShards was lowered; otherwise somebody edited the table, or there is a bug.',
        metric: metricOf('WakeTimesHealed', { period: FIVE_MINUTES }),
      }),
      this.raise('RecordsUnaudited', {
        alarmDescription:
          'The audit could not read or repair a record (audit-failed), or a large value is not in the bucket any more (value-lost): the log entry names the execution.',
        metric: metricOf('RecordsUnaudited', { period: FIVE_MINUTES }),
      }),
    ];
  }

  private ofWhatIsOpen({ metricOf }: AlarmsProps): Alarm[] {
    return [
      this.raise('IncidentOpened', {
        alarmDescription:
          'An incident was opened and asks a person. npx steadfast incidents lists its execution and what happens without an answer. The event of the incident has the id.',
        metric: metricOf('IncidentsOpened', { period: FIVE_MINUTES }),
      }),
      this.raise('IncidentOpen', {
        alarmDescription:
          'An incident has been open for 15 minutes. The alarm ends when no incident is open. To list them: npx steadfast incidents',
        metric: metricOf('OpenIncidents', { period: FIVE_MINUTES }),
        bad: 3,
      }),
      this.raise('BreakerOpen', {
        alarmDescription: `The service behind an agent has been down for ${BREAKER_OPEN_MINUTES} minutes, and steps that need it wait. npx steadfast agents shows which agent, since when and with which error; npx steadfast list --at-risk lists the executions.`,
        metric: metricOf('OpenBreakers', { period: MINUTE }),
        bad: BREAKER_OPEN_MINUTES,
        // Ticks of both kinds may write their metrics in the same minute, and none in the next.
        of: BREAKER_OPEN_MINUTES + 2,
      }),
      this.raise('AgentMissing', {
        alarmDescription:
          'Open executions need an agent that is no longer deployed: their steps and undos wait. npx steadfast agents shows which agent, npx steadfast list --at-risk lists the executions. Deploy the agent again until they have ended; they continue within a minute.',
        metric: metricOf('AgentsMissing', { period: MINUTE }),
        bad: MISSING_MINUTES,
        of: MISSING_MINUTES + 2,
      }),
    ];
  }

  private failureRate({ metricOf, failurePercent }: AlarmsProps): Alarm {
    const period = FIVE_MINUTES;
    return this.raise('FailureRate', {
      alarmDescription: `${failurePercent} % or more of the executions that ended have failed or were undone. To list them with the code of each failure: npx steadfast list --status bad`,
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

  /** The alarm about dead letters; all agents share one queue of them. */
  private deadLetters({ agents: [agent] }: AlarmsProps): Alarm[] {
    if (agent === undefined) return [];
    const description =
      'An agent failed five times to take a message: its function fails before or at its claim. The message’s attribute DeadLetterQueueSourceArn names the queue of the agent. The supervisor keeps its executions going, but the cause needs a fix.';
    return [deadLettersOf(this, agent.deadLetterQueue, description)];
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
    const ofAgents = new Set(agents.flatMap((agent) => agent.function ?? []));
    const functions = [scheduler, supervisor, ...ofAgents];
    const all = [
      ...tableThrottles,
      ...indexThrottles,
      ...functions.map((one) => one.metricThrottles({ period })),
    ];
    return this.sums('Throttled', all, period, {
      alarmDescription:
        'DynamoDB or Lambda has been throttling calls for minutes. Nothing is lost, but everything is late: raise the limit, or lower the maxConcurrency of an agent.',
      bad: 3,
      of: 5,
    });
  }

  /**
   * The alarm about invocations dropped as recursive. Lambda reports them only for functions whose recursion
   * it may stop: the supervisor, and functions that could not be configured here.
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
        'Lambda mistook a chain of steps for a loop and dropped an invocation: set RecursiveLoop to Allow on the function.',
    });
  }

  /** An alarm over the sum of many metrics; several alarms if one cannot contain them all. */
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
