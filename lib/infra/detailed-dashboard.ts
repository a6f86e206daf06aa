/**
 * The part of the dashboard about single workflows and agents, if the deployment has metrics of them.
 *
 * Does not own: the charts (`aws/charts.ts`), the rest of the dashboard (`dashboard.ts`).
 */

import { type GraphWidget, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { DETAILED_CHARTS, type ChartOfEach } from '../aws/charts.ts';
import { type DetailBy, METRICS_DIMENSION, METRICS_NAMESPACE } from '../aws/names.ts';
import { chartGraphOfEach, type MetricBy } from './charts.ts';

export interface Detailed {
  readonly deployment: string;
  readonly by: DetailBy;
  /** The names of the workflows, or of the agents. */
  readonly names: readonly string[];
}

export function detailedGraphs({ deployment, by, names }: Detailed): GraphWidget[] {
  const charts: readonly ChartOfEach[] = DETAILED_CHARTS[by];
  const of =
    (value: string): MetricBy<string> =>
    (metricName, statistic, label) =>
      new Metric({
        namespace: METRICS_NAMESPACE,
        metricName,
        dimensionsMap: { [METRICS_DIMENSION]: deployment, [by]: value },
        statistic,
        label,
      });
  return charts.map((chart) => chartGraphOfEach(chart, by, names, of));
}
