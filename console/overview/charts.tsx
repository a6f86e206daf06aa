/**
 * The charts of the last hours: ends of executions, late work, durations.
 *
 * Owns: their order, and the text shown without data. Does not own: a picture (`chart.tsx`), which charts
 * exist (`lib/aws/charts.ts`).
 */

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ShownChart, ShownCharts } from '../../lib/view/shown-charts.ts';
import { durationText } from '../../lib/view/text.ts';
import { readCharts, settings } from '../api.ts';
import type { Live } from '../live.ts';
import { Empty, Shown } from '../parts/states.tsx';
import { clockText, zoneText } from '../parts/time.tsx';
import { ChartOf } from './chart.tsx';
import { priceText } from './chart-text.ts';
import { isDeployed } from './measured.tsx';
import { useMinutely } from './minutely.ts';

/** Reads the charts once for the whole page; the tables also show some in their rows. */
export const useCharts = (): Live<ShownCharts> => useMinutely(readCharts, settings.hasCharts);

export function Charts({ live }: { live: Live<ShownCharts> }): JSX.Element | null {
  if (!settings.hasCharts) return null;
  return (
    <section aria-labelledby="charts" class="charts">
      <h2 id="charts">Charts</h2>
      <Shown live={live} what="the charts">
        {(charts) => <Groups charts={charts} />}
      </Shown>
    </section>
  );
}

/** The fewest periods in a picture; with fewer there would only be points. */
const LEAST_PERIODS = 15;

/**
 * Cuts the empty beginning of the charts: otherwise, after half an hour of running, the lines would fill only
 * the last sixth.
 */
function sinceFirst(charts: ShownCharts): ShownCharts {
  const { deployment, queue, workflow = [], agent = [], fromAt, everyMs, periods } = charts;
  const firsts = [deployment, queue, workflow, agent]
    .flat()
    .flatMap(({ lines }) =>
      lines.map(({ values }) => values.findIndex((value) => value !== null && value !== 0)),
    )
    .filter((at) => at >= 0);
  const left = Math.max(0, Math.min(periods - LEAST_PERIODS, ...firsts.map((at) => at - 1)));
  const later = (all: readonly ShownChart[]): readonly ShownChart[] =>
    all.map((chart) => ({
      ...chart,
      lines: chart.lines.map((line) => ({ ...line, values: line.values.slice(left) })),
    }));
  return {
    ...charts,
    fromAt: fromAt + left * everyMs,
    periods: periods - left,
    deployment: later(deployment),
    queue: later(queue),
    ...(charts.workflow === undefined ? {} : { workflow: later(workflow) }),
    ...(charts.agent === undefined ? {} : { agent: later(agent) }),
  };
}

function Groups({ charts: all }: { charts: ShownCharts }): JSX.Element {
  const charts = useMemo(() => sinceFirst(all), [all]);
  const { deployment, queue, workflow, agent, everyMs, periods } = charts;
  const hasAny = [deployment, queue].flat().some(({ lines }) => lines.length > 0);
  const hasQueues = isDeployed(all);
  const time = durationText(everyMs * (hasAny ? periods : all.periods));
  if (!hasAny)
    return (
      <Empty title={`Nothing was measured in the last ${time}.`}>
        A supervisor writes these metrics once a minute: wait for the next, or start an execution.
      </Empty>
    );
  return (
    <>
      <p class="faint">
        The last {time}, by the minute, in {zoneText(charts.fromAt)}; read once a minute while this page is
        open
        {settings.local ? '.' : `: ${priceText(charts)}.`}
        {startText(charts)}
      </p>
      <Grid charts={deployment} span={charts} />
      {hasQueues ? <Group name="Queue of each agent" charts={queue} span={charts} /> : null}
      {workflow === undefined && hasQueues ? <NotOneByOne what="workflow" /> : null}
      {workflow === undefined ? null : <Group name="Each workflow" charts={workflow} span={charts} />}
      {agent === undefined ? null : <Group name="Each agent" charts={agent} span={charts} />}
    </>
  );
}

/** When the current code began to run; '' if there are no earlier values. */
const startText = ({ startedAt = 0, fromAt }: ShownCharts): string =>
  startedAt > fromAt ? ` The dashed line: the code that runs now began at ${clockText(startedAt)}.` : '';

const NotOneByOne = ({ what }: { what: string }): JSX.Element => (
  <p class="faint">
    Success rate, duration and retries of each {what}: deploy with <code>metricsBy: ['{what}']</code>.
  </p>
);

interface GroupProps {
  readonly charts: readonly ShownChart[];
  readonly span: ShownCharts;
}

const Grid = ({ charts, span }: GroupProps): JSX.Element => (
  <div class="chart-grid">
    {charts.map((chart) => (
      <ChartOf key={chart.title} chart={chart} span={span} />
    ))}
  </div>
);

/** A group of charts, drawn once it is opened. */
function Group({ name, ...props }: GroupProps & { name: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen ? <Grid {...props} /> : null}
    </details>
  );
}
