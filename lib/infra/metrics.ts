/**
 * The roles' metrics of one deployment in CloudWatch.
 *
 * Owns: how a name of `aws/names.ts` becomes a metric for a graph or an alarm. Does not own: the names.
 */

import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { GAUGES, type MetricName, METRICS, METRICS_DIMENSION, METRICS_NAMESPACE } from '../aws/names.ts';

export type MetricMaker = (name: MetricName, options?: MetricOptions) => Metric;

const usual = (name: MetricName): string => {
  if (GAUGES.has(name)) return Stats.MAXIMUM;
  return METRICS[name] === 'Count' ? Stats.SUM : Stats.p(99);
};

/**
 * A metric by its name. Unless `options` says otherwise, counts are summed, durations are the 99th
 * percentile, and gauges the maximum.
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
