/**
 * The charts that the dashboard and the console both draw.
 *
 * Owns: which charts there are, their metrics and titles. Does not own: the metrics' names (`names.ts`), how
 * a chart is drawn (`infra/dashboard.ts`, `console/overview/charts.tsx`), the other parts of a dashboard.
 */

import type { DETAILED_METRICS, DetailBy, MetricName } from './names.ts';

/** CloudWatch's names of statistics. */
export type Stat = 'Sum' | 'Maximum' | 'p50' | 'p99';

/** One line of a chart: a metric, or a ratio of two sums of metrics. */
export type ChartLine<Name extends string = string> =
  | { readonly label: string; readonly metric: Name; readonly stat: Stat }
  | {
      readonly label: string;
      readonly part: Name;
      readonly of: readonly [Name, ...Name[]];
      readonly percent?: true;
    };

export type ChartUnit = 'count' | 'percent' | 'ratio' | 'ms' | 's';

export interface Chart<Name extends string = string> {
  readonly title: string;
  readonly unit: ChartUnit;
  readonly lines: readonly ChartLine<Name>[];
}

/** The same chart for each workflow, agent or queue: one line each. */
export interface ChartOfEach<Name extends string = string> {
  readonly title: string;
  readonly unit: ChartUnit;
  readonly line: ChartLine<Name>;
}

const metric = <Name extends string>(
  name: Name,
  stat: Stat = 'Sum',
  label: string = name,
): ChartLine<Name> => ({
  label,
  metric: name,
  stat,
});

const ENDS = ['Succeeded', 'Failed', 'Compensated', 'Canceled'] as const;

/** The whole deployment's charts, by the question that they answer. */
export const CHARTS: Readonly<Record<'healthy' | 'atRisk' | 'slow', readonly Chart<MetricName>[]>> = {
  healthy: [
    {
      title: 'Executions',
      unit: 'count',
      lines: [
        metric('Started', 'Sum', 'started'),
        ...ENDS.map((name) => metric(name, 'Sum', name.toLowerCase())),
      ],
    },
    {
      title: 'Success rate, %',
      unit: 'percent',
      lines: [{ label: 'succeeded', part: 'Succeeded', of: ENDS, percent: true }],
    },
  ],
  atRisk: [
    { title: 'Overdue, ms', unit: 'ms', lines: [metric('OldestOverdue', 'Maximum', 'oldest')] },
    {
      title: 'Became at risk, lost or unknown',
      unit: 'count',
      lines: [
        metric('AtRisk', 'Sum', 'became at risk'),
        metric('LeasesLost', 'Sum', 'leases lost'),
        metric('Unknowns', 'Sum', 'outcomes unknown'),
      ],
    },
    {
      title: 'Open now: questions to people, breakers',
      unit: 'count',
      lines: [
        metric('OpenIncidents', 'Maximum', 'incidents'),
        metric('OpenEntries', 'Maximum', 'approvals and callbacks'),
        metric('OpenBreakers', 'Maximum', 'breakers'),
      ],
    },
    {
      title: 'Retries per execution',
      unit: 'ratio',
      lines: [{ label: 'retries', part: 'Retries', of: ['Started'] }],
    },
  ],
  slow: [
    {
      title: 'From due to claimed, ms',
      unit: 'ms',
      lines: [metric('TimeToClaim', 'p50', 'p50'), metric('TimeToClaim', 'p99', 'p99')],
    },
    {
      title: 'To detect, to recover, p99 ms',
      unit: 'ms',
      lines: [metric('TimeToDetect', 'p99', 'to detect'), metric('TimeToRecover', 'p99', 'to recover')],
    },
  ],
};

type NameOf<By extends DetailBy> = keyof (typeof DETAILED_METRICS)[By] & string;

const TIMES: readonly ChartOfEach<'TimeToDetect' | 'TimeToRecover'>[] = [
  { title: 'Time to detect, p99 ms', unit: 'ms', line: metric('TimeToDetect', 'p99') },
  { title: 'Time to recover, p99 ms', unit: 'ms', line: metric('TimeToRecover', 'p99') },
];

/** The charts of each workflow and each agent, if a deployment has metrics for them (`metricsBy`). */
export const DETAILED_CHARTS: { readonly [By in DetailBy]: readonly ChartOfEach<NameOf<By>>[] } = {
  workflow: [
    {
      title: 'Success rate, %',
      unit: 'percent',
      line: { label: 'succeeded', part: 'Succeeded', of: ENDS, percent: true },
    },
    {
      title: 'Retries per execution',
      unit: 'ratio',
      line: { label: 'retries', part: 'Retries', of: ['Started'] },
    },
    { title: 'Duration p50, ms', unit: 'ms', line: metric('Duration', 'p50') },
    { title: 'Duration p99, ms', unit: 'ms', line: metric('Duration', 'p99') },
    ...TIMES,
  ],
  agent: [
    {
      title: 'Steps done of those that ended, %',
      unit: 'percent',
      line: { label: 'done', part: 'StepsDone', of: ['StepsDone', 'StepsFailed'], percent: true },
    },
    {
      title: 'Retries per attempt',
      unit: 'ratio',
      line: { label: 'retries', part: 'Retries', of: ['Attempts'] },
    },
    { title: 'From due to claimed, p99 ms', unit: 'ms', line: metric('TimeToClaim', 'p99') },
    ...TIMES,
  ],
};

export const QUEUE_NAMESPACE = 'AWS/SQS';
export const QUEUE_DIMENSION = 'QueueName';

/** The charts of each agent's queue, which SQS measures free of charge. */
export const QUEUE_CHARTS = [
  { title: 'Oldest message, s', unit: 's', line: metric('ApproximateAgeOfOldestMessage', 'Maximum') },
  {
    title: 'Messages that wait',
    unit: 'count',
    line: metric('ApproximateNumberOfMessagesVisible', 'Maximum'),
  },
] as const satisfies readonly ChartOfEach[];
