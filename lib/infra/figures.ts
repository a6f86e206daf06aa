/**
 * The roles' own figures as CloudWatch metrics of one deployment.
 *
 * Owns: how a name of `aws/names.ts` becomes a metric to draw or to watch. Does not own: the names.
 */

import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type MetricName, METRICS, METRICS_DIMENSION, METRICS_NAMESPACE } from '../aws/names.ts';

export type Figure = (name: MetricName, options?: MetricOptions) => Metric;

/** Counts are summed and durations shown at their 99th percentile, unless `options` says otherwise. */
export const figuresOf =
  (deploymentName: string): Figure =>
  (metricName, options = {}) =>
    new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { [METRICS_DIMENSION]: deploymentName },
      statistic: METRICS[metricName] === 'Count' ? Stats.SUM : Stats.p(99),
      ...options,
    });
