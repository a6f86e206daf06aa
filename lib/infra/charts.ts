/**
 * A chart as graphs of the dashboard.
 *
 * Owns: how a line becomes a metric, or an expression over several. Does not own: which charts there are
 * (`aws/charts.ts`), the rest of the dashboard (`dashboard.ts`).
 */

import { GraphWidget, type IMetric, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Chart, ChartLine, ChartOfEach, Stat } from '../aws/charts.ts';

export const THIRD = 8;
export const HEIGHT = 6;

/** Metrics of the deployment, a workflow, an agent or a queue. */
export type MetricBy<Name extends string> = (name: Name, statistic: Stat, label: string) => Metric;

export const graph = (title: string, left: IMetric[], right: IMetric[] = []): GraphWidget =>
  new GraphWidget({ title, left, right, width: THIRD, height: HEIGHT, leftYAxis: { min: 0 } });

export const chartGraph = <Name extends string>(
  { title, lines }: Chart<Name>,
  of: MetricBy<Name>,
): GraphWidget =>
  graph(
    title,
    lines.map((line, at) => drawn(line, of, line.label, at)),
  );

/** @param by the dimension of the names: a workflow, an agent */
export const chartGraphOfEach = <Name extends string>(
  { title, line }: ChartOfEach<Name>,
  by: string,
  names: readonly string[],
  of: (name: string) => MetricBy<Name>,
): GraphWidget =>
  graph(
    `${title}, by ${by}`,
    names.map((name, at) => drawn(line, of(name), name, at)),
  );

/** @param at the index of the line. In one graph each metric of an expression needs an id of its own */
function drawn<Name extends string>(
  line: ChartLine<Name>,
  of: MetricBy<Name>,
  label: string,
  at: number,
): IMetric {
  if ('metric' in line) return of(line.metric, line.stat, label);
  const others = line.of.filter((name) => name !== line.part);
  const part = `part${at}`;
  const ids = new Map<Name, string>([
    [line.part, part],
    ...others.map((name, index) => [name, `of${at}_${index}`] as const),
  ]);
  const whole = line.of.map((name) => `FILL(${ids.get(name)}, 0)`).join(' + ');
  return new MathExpression({
    label,
    expression: `${line.percent === true ? '100 * ' : ''}FILL(${part}, 0) / (${whole})`,
    usingMetrics: Object.fromEntries([...ids].map(([name, id]) => [id, of(name, 'Sum', name)])),
  });
}
