/**
 * The roles' own metrics of one deployment, as CloudWatch has them.
 *
 * Owns: how a name of `aws/names.ts` becomes a metric to draw or to alarm on. Does not own: the names.
 */

import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { GAUGES, type MetricName, METRICS, METRICS_DIMENSION, METRICS_NAMESPACE } from '../aws/names.ts';

export type MetricMaker = (name: MetricName, options?: MetricOptions) => Metric;

const usual = (name: MetricName): string => {
  if (GAUGES.has(name)) return Stats.MAXIMUM;
  return METRICS[name] === 'Count' ? Stats.SUM : Stats.p(99);
};

/**
 * Counts are summed, durations shown at their 99th percentile, gauges at their highest,
 * unless `options` says otherwise.
 */
export const metricsOf =
  (deploymentName: string): MetricMaker =>
  (metricName, options = {}) =>
    new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { [METRICS_DIMENSION]: deploymentName },
      statistic: usual(metricName),
      ...options,
    });
