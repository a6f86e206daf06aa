/**
 * The part of the dashboard that shows workflows and agents one by one, where a deployment has metrics of them.
 *
 * Owns: which figure is drawn of each. Does not own: the metrics' names (`aws/names.ts`), the rest of the dashboard (`dashboard.ts`).
 */

import { GraphWidget, type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { DETAILED_METRICS, type DetailBy, METRICS_DIMENSION, METRICS_NAMESPACE } from '../aws/names.ts';

export interface Detailed {
  readonly deployment: string;
  readonly by: DetailBy;
  /** The workflows, or the agents. */
  readonly names: readonly string[];
}

type Name = keyof (typeof DETAILED_METRICS)['workflow'] | keyof (typeof DETAILED_METRICS)['agent'];

const THIRD = 8;
const HEIGHT = 6;

export function detailedGraphs(of: Detailed): GraphWidget[] {
  const drawn = of.by === 'workflow' ? OF_WORKFLOW : OF_AGENT;
  return drawn.map(
    ([title, line]) =>
      new GraphWidget({
        title: `${title}, by ${of.by}`,
        left: of.names.map((value, at) =>
          line((name, statistic) => metricOf(of, value, name, statistic), value, at),
        ),
        width: THIRD,
        height: HEIGHT,
        leftYAxis: { min: 0 },
      }),
  );
}

type Maker = (name: Name, statistic: string) => Metric;
/** In one graph each metric of an expression has an id of its own: `at` counts the lines. */
type Drawn = readonly [string, (of: Maker, label: string, at: number) => IMetric];

const metricOf = ({ deployment, by }: Detailed, value: string, metricName: Name, statistic: string): Metric =>
  new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [METRICS_DIMENSION]: deployment, [by]: value },
    statistic,
    label: value,
  });

const times: readonly Drawn[] = [
  ['Time to detect, p99 ms', (of) => of('TimeToDetect', Stats.p(99))],
  ['Time to recover, p99 ms', (of) => of('TimeToRecover', Stats.p(99))],
];

const OF_WORKFLOW: readonly Drawn[] = [
  [
    'Success rate, %',
    (of, label, at) => share(of, 'Succeeded', ['Failed', 'Compensated', 'Canceled'], label, at),
  ],
  ['Retries per execution', (of, label, at) => ratio(of, 'Retries', 'Started', label, at)],
  ['Duration p50, ms', (of) => of('Duration', Stats.p(50))],
  ['Duration p99, ms', (of) => of('Duration', Stats.p(99))],
  ...times,
];

const OF_AGENT: readonly Drawn[] = [
  [
    'Steps done of those that ended, %',
    (of, label, at) => share(of, 'StepsDone', ['StepsFailed'], label, at),
  ],
  ['Retries per attempt', (of, label, at) => ratio(of, 'Retries', 'Attempts', label, at)],
  ['From due to claimed, p99 ms', (of) => of('TimeToClaim', Stats.p(99))],
  ...times,
];

/** The good ones of all, in percent. */
function share(of: Maker, good: Name, bad: readonly Name[], label: string, at: number): MathExpression {
  const [first, others] = [`good${at}`, bad.map((_, index) => `bad${at}_${index}`)];
  const metrics = bad.map((name, index) => [others[index] as string, of(name, Stats.SUM)] as const);
  return new MathExpression({
    label,
    expression: `100 * FILL(${first}, 0) / (${[first, ...others].map((id) => `FILL(${id}, 0)`).join(' + ')})`,
    usingMetrics: { [first]: of(good, Stats.SUM), ...Object.fromEntries(metrics) },
  });
}

function ratio(of: Maker, part: Name, whole: Name, label: string, at: number): MathExpression {
  const [one, all] = [`part${at}`, `whole${at}`];
  return new MathExpression({
    label,
    expression: `FILL(${one}, 0) / ${all}`,
    usingMetrics: { [one]: of(part, Stats.SUM), [all]: of(whole, Stats.SUM) },
  });
}
