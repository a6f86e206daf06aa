/**
 * The charts of one workflow or agent, in its table row. Without charts, it says how to get them. It does not
 * read them itself.
 */

import type { JSX } from 'preact';
import type { ShownCharts } from '../../lib/view/shown-charts.ts';
import { durationText } from '../../lib/view/text.ts';
import { settings } from '../api.ts';
import type { Live } from '../live.ts';
import { latestOf, valueText } from './chart-text.ts';

interface MeasuredProps {
  readonly charts: Live<ShownCharts>;
  readonly by: 'workflow' | 'agent';
  /** The chart's title, as in `lib/aws/charts.ts`. */
  readonly title: string;
  readonly name: string;
}

export function Measured({ charts: { data, error }, by, title, name }: MeasuredProps): JSX.Element {
  const chart = data?.[by]?.find((one) => one.title === title);
  const line = chart?.lines.find(({ label }) => label === name);
  const latest = line === undefined ? undefined : latestOf(line);
  if (data === undefined || chart === undefined || line === undefined || latest === undefined)
    return (
      <span class="faint" title={whyNone(data, error, by)}>
        –
      </span>
    );
  const time = durationText(data.everyMs * data.periods);
  return (
    <span title={`in the latest minute with a value; at most ${valueText(line.over, chart.unit)} in ${time}`}>
      {valueText(latest, chart.unit)}
    </span>
  );
}

/** Whether the charts come from a deployment; a server on one machine has no queue metrics. */
export const isDeployed = ({ queue }: ShownCharts): boolean => queue.some(({ lines }) => lines.length > 0);

function whyNone(data: ShownCharts | undefined, error: unknown, by: MeasuredProps['by']): string {
  if (!settings.hasCharts) return 'This console reads no metrics.';
  if (data === undefined)
    return error === undefined
      ? 'The metrics are being read.'
      : 'The metrics cannot be read: see the charts.';
  if (data[by] === undefined)
    return `Not measured per ${by}${isDeployed(data) ? `: deploy with metricsBy: ['${by}']` : ''}.`;
  return `Nothing was measured in the last ${durationText(data.everyMs * data.periods)}.`;
}
