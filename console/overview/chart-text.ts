/** Writes the texts of charts: a value with its unit, and the total of the shown time. */

import type { ShownChart, ShownCharts, ShownLine } from '../../lib/view/shown-charts.ts';
import { durationText } from '../../lib/view/text.ts';

type Unit = ShownChart['unit'];

export function valueText(value: number, unit: Unit): string {
  switch (unit) {
    case 'ms':
      return durationText(value);
    case 's':
      return durationText(value * 1_000);
    case 'percent':
      return `${Number(value.toFixed(1))} %`;
    case 'ratio':
      return String(Number(value.toPrecision(2)));
    case 'count':
      return value.toLocaleString('en');
  }
}

export const latestOf = ({ values }: ShownLine): number | undefined =>
  values.findLast((value) => value !== null) ?? undefined;

/** Describes a line of a chart for readers who cannot see it. */
export function lineText(line: ShownLine, unit: Unit): string {
  const latest = latestOf(line);
  const now = latest === undefined ? 'no value' : valueText(latest, unit);
  return `${now}; ${line.isHighest ? 'at most' : 'in all'} ${valueText(line.over, unit)}`;
}

/**
 * The price in dollars of one metric read by GetMetricData: $0.01 for 1,000
 * (https://aws.amazon.com/cloudwatch/pricing/).
 */
const PER_METRIC = 0.01 / 1_000;

export const priceText = ({ asked }: ShownCharts): string =>
  `${asked} metrics a minute, about $${(60 * asked * PER_METRIC).toFixed(3)} an hour`;
