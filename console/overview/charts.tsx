/**
 * The charts of the last hours: how many executions end how, what is late, how long things take.
 *
 * Owns: their order, and what is said where there are none. Does not own: a picture (`chart.tsx`), which charts there are
 * (`lib/aws/charts.ts`).
 */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownChart, ShownCharts } from '../../lib/cli/console/shown-charts.ts';
import { durationText } from '../../lib/cli/text.ts';
import { readCharts, settings } from '../api.ts';
import type { Live } from '../live.ts';
import { Empty, Shown } from '../parts/states.tsx';
import { ChartOf } from './chart.tsx';
import { priceText } from './chart-text.ts';
import { useMinutely } from './minutely.ts';

/** Read once for the page: the tables have some of them in their rows. */
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

function Groups({ charts }: { charts: ShownCharts }): JSX.Element {
  const { deployment, queue, workflow, agent, everyMs, periods } = charts;
  const hasAny = [deployment, queue].flat().some(({ lines }) => lines.length > 0);
  const time = durationText(everyMs * periods);
  if (!hasAny)
    return (
      <Empty title={`Nothing was measured in the last ${time}.`}>
        A supervisor writes its charts once a minute: wait for the next, or start an execution.
      </Empty>
    );
  return (
    <>
      <p class="faint">
        The last {time}, by the minute; read once a minute while somebody looks
        {settings.local ? '.' : `: ${priceText(charts)}.`}
      </p>
      <Grid charts={deployment} span={charts} />
      <Group name="Queue of each agent" charts={queue} span={charts} />
      {workflow === undefined ? <NotOneByOne what="workflow" /> : null}
      {workflow === undefined ? null : <Group name="Each workflow" charts={workflow} span={charts} />}
      {agent === undefined ? null : <Group name="Each agent" charts={agent} span={charts} />}
    </>
  );
}

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

/** Drawn once it is opened. */
function Group({ name, ...props }: GroupProps & { name: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen ? <Grid {...props} /> : null}
    </details>
  );
}
