/**
 * The dashboard: four questions, in the order in which a person on call asks them.
 *
 * Owns: which metric answers which question. Does not own: the charts that the console draws as well
 * (`aws/charts.ts`), the metrics' names (`aws/names.ts`), the thresholds of alarms.
 */

import {
  type Alarm,
  AlarmStatusWidget,
  type CfnDashboard,
  Dashboard,
  GraphWidget,
  type IWidget,
  MathExpression,
  Metric,
  SingleValueWidget,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Duration, Names } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { CHARTS, QUEUE_DIMENSION, QUEUE_CHARTS, QUEUE_NAMESPACE } from '../aws/charts.ts';
import type { MetricName } from '../aws/names.ts';
import type { AgentFunction } from './deployed-agent.ts';
import { type Detailed, detailedGraphs } from './detailed-dashboard.ts';
import { chartGraph, chartGraphOfEach, graph, HEIGHT, type MetricBy, THIRD } from './charts.ts';
import type { MetricMaker } from './metrics.ts';

const WHOLE = 24;
/** The most log groups that one query may read. */
const MOST_LOG_GROUPS = 50;

export interface DashboardProps {
  readonly metricOf: MetricMaker;
  /** Read when the dashboard is written, because more may be added after its creation. */
  readonly alarms: Alarm[];
  readonly agents: readonly AgentFunction[];
  readonly scheduler: IFunction;
  readonly supervisor: IFunction;
  readonly api?: HttpApi;
  readonly table: ITable;
  readonly detailed: readonly Detailed[];
}

export class SteadfastDashboard extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    this.dashboard = new Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(3),
      widgets: [
        ...section('Is it healthy?', healthy(props)),
        ...section('What is at risk?', atRisk(props)),
        ...section('What is slow?', slow(this, props)),
        ...props.detailed.flatMap((of) => section(`Each ${of.by}`, detailedGraphs(of))),
        ...section('What does it cost?', costs(props)),
      ],
    });
    // Without tags, even if the whole app has some: me-central-1 refuses a dashboard with tags.
    (this.dashboard.node.defaultChild as CfnDashboard).addPropertyDeletionOverride('Tags');
  }
}

const section = (question: string, widgets: IWidget[]): IWidget[][] => [
  [new TextWidget({ markdown: `## ${question}`, width: WHOLE, height: 1 })],
  widgets,
];

const charts = (answers: keyof typeof CHARTS, { metricOf }: DashboardProps): GraphWidget[] => {
  const of: MetricBy<MetricName> = (name, statistic, label) => metricOf(name, { statistic, label });
  return CHARTS[answers].map((chart) => chartGraph(chart, of));
};

function healthy(props: DashboardProps): IWidget[] {
  const { metricOf, alarms } = props;
  const ends: MetricName[] = ['Succeeded', 'Failed', 'Compensated', 'Canceled'];
  return [
    new AlarmStatusWidget({ title: 'Alarms', alarms, width: THIRD, height: HEIGHT }),
    ...charts('healthy', props),
    new SingleValueWidget({
      title: 'In the time shown',
      metrics: [
        metricOf('Started'),
        ...ends.map((name) => metricOf(name)),
        metricOf('StepsDone'),
        metricOf('Sweeps'),
        metricOf('AuditAge', { statistic: Stats.SAMPLE_COUNT, label: 'Audits' }),
      ],
      setPeriodToTimeRange: true,
      width: THIRD,
      height: HEIGHT,
    }),
  ];
}

function atRisk(props: DashboardProps): IWidget[] {
  const { metricOf, agents } = props;
  return [
    ...charts('atRisk', props),
    graph('Evaluations that failed', [
      metricOf('EvaluationsFailed'),
      metricOf('RecordsUnaudited'),
      metricOf('AgentsMissing'),
      metricOf('ClocksSkewed'),
    ]),
    graph('Found and repaired', [metricOf('Adoptions'), metricOf('Dispatches'), metricOf('WakeTimesHealed')]),
    graph('Deferred, and people asked', [
      metricOf('Deferred'),
      metricOf('BreakersOpened'),
      metricOf('BreakersClosed'),
      metricOf('IncidentsOpened'),
      metricOf('IncidentsClosed'),
    ]),
    graph(
      'Dead letters',
      agents.slice(0, 1).map(({ deadLetterQueue }) =>
        deadLetterQueue.metricApproximateNumberOfMessagesVisible({
          label: 'of all agents',
          statistic: Stats.MAXIMUM,
        }),
      ),
    ),
    graph('Retries', [
      metricOf('Attempts'),
      metricOf('Retries'),
      metricOf('Probes'),
      metricOf('Undos'),
      metricOf('CarriedOn'),
      metricOf('StepsFailed'),
    ]),
    graph(
      'Errors of functions, by agent',
      agents.flatMap(({ agentName: label, function: one }) => one?.metricErrors({ label }) ?? []),
    ),
  ];
}

function slow(scope: Construct, props: DashboardProps): IWidget[] {
  const { agents, api, scheduler } = props;
  const duration = agents.flatMap(
    ({ agentName: label, function: one }) => one?.metricDuration({ label, statistic: Stats.p(99) }) ?? [],
  );
  return [
    ...charts('slow', props),
    ...queues(props),
    graph('Duration p99, by agent', duration),
    graph(
      'The API',
      [
        api?.metricLatency({ statistic: Stats.p(99), label: 'latency p99' }) ??
          scheduler.metricDuration({ statistic: Stats.p(99), label: 'latency p99' }),
      ],
      [
        ...(api === undefined ? [] : [api.metricServerError({ label: '5xx' })]),
        scheduler.metricErrors({ label: 'errors of the scheduler' }),
      ],
    ),
    ...byAgent(scope, agents),
  ];
}

function queues({ agents }: DashboardProps): GraphWidget[] {
  const of =
    (agent: string): MetricBy<string> =>
    (metricName, statistic, label) =>
      new Metric({
        namespace: QUEUE_NAMESPACE,
        metricName,
        dimensionsMap: { [QUEUE_DIMENSION]: queueOf.get(agent) ?? '' },
        statistic,
        label,
      });
  const queueOf = new Map(agents.map(({ agentName, queue }) => [agentName, queue.queueName]));
  return QUEUE_CHARTS.map((chart) => chartGraphOfEach(chart, 'agent', [...queueOf.keys()], of));
}

/**
 * A saved query for values by agent. They are in each agent's log; metrics for each agent would cost money,
 * and so would a query on the dashboard at each refresh.
 */
function byAgent(scope: Construct, agents: readonly AgentFunction[]): IWidget[] {
  const all = new Set(agents.flatMap(({ logGroup }) => logGroup ?? []));
  const logGroups = [...all].slice(0, MOST_LOG_GROUPS);
  if (logGroups.length === 0) return [];
  const sum = (metric: MetricName): string => `sum(${metric}) as ${metric.toLowerCase()}`;
  const late: MetricName = 'TimeToClaim';
  const claimed: MetricName = 'Attempts';
  const sums: MetricName[] = [
    claimed,
    'Retries',
    'StepsFailed',
    'BreakersOpened',
    'Unknowns',
    'Probes',
    'Undos',
  ];
  const saved = new CfnQueryDefinition(scope, 'Agents', {
    name: `${Names.uniqueResourceName(scope, { maxLength: 200, separator: '-' })}/agents`,
    logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    queryString: [
      // Lines of `metricsBy` repeat the same values, without a role.
      `filter ispresent(${late}) and role like /./`,
      `stats ${sums.map(sum).join(', ')}, pct(${late}, 99) as claimed_after_ms by agent`,
      `sort ${claimed.toLowerCase()} desc`,
    ].join('\n| '),
  });
  const markdown = `Agent by agent: in CloudWatch Logs Insights, run the saved query \`${saved.name}\`.`;
  return [new TextWidget({ markdown, width: THIRD, height: HEIGHT })];
}

function costs({ metricOf, agents, scheduler, supervisor, table }: DashboardProps): IWidget[] {
  const agentOf = new Map(agents.toReversed().map(({ agentName, function: one }) => [one, agentName]));
  const functions = [
    ['scheduler', scheduler],
    ['supervisor', supervisor],
    // Agents of a host share one function, which is shown under the name of the first.
    ...agents.flatMap(({ agentName, function: one }) =>
      one === undefined || agentOf.get(one) !== agentName ? [] : [[agentName, one] as const],
    ),
  ] as const;
  return [
    ...messagesOfSteps(metricOf, agents),
    graph(
      'Capacity of the table',
      [
        table.metricConsumedReadCapacityUnits({ statistic: Stats.SUM }),
        table.metricConsumedWriteCapacityUnits({ statistic: Stats.SUM }),
      ],
      [metricOf('LeftoversRemoved')],
    ),
    graph(
      'Time of functions, ms',
      functions.map(([label, one]) => one.metricDuration({ label, statistic: Stats.SUM })),
    ),
  ];
}

/** How many messages a step takes, by what SQS counts, which costs nothing. */
function messagesOfSteps(metricOf: MetricMaker, agents: readonly AgentFunction[]): GraphWidget[] {
  const sent = Object.fromEntries(
    agents.map(({ queue }, at) => [`sent${at}`, queue.metricNumberOfMessagesSent()]),
  );
  const ids = Object.keys(sent);
  if (ids.length === 0) return [];
  const steps = metricOf('StepsDone');
  const messages = new MathExpression({
    label: 'messages',
    expression: `SUM([${ids.join(', ')}])`,
    usingMetrics: sent,
  });
  const each = new MathExpression({
    label: 'messages / step',
    expression: 'messages / steps',
    usingMetrics: { messages, steps },
  });
  return [
    new GraphWidget({
      title: 'Messages for each step done',
      left: [each],
      right: [messages, steps],
      leftYAxis: { min: 0 },
      width: THIRD,
      height: HEIGHT,
    }),
  ];
}
