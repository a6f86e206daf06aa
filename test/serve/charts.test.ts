/** The charts in a server's console show the process's metrics since its start. */

import { readCharts } from '../../cli/console/charts.ts';
import type { Answer } from '../../cli/aws/calls.ts';
import { systemClock } from '../../local/clock.ts';
import { metricData } from '../../local/metrics/metric-data.ts';
import { MetricStore } from '../../local/metrics/metric-store.ts';
import { MEASURED, Telemetries } from '../../serve/ports.ts';
import { linesOf } from '../aws/lines.ts';

type Line = Readonly<Record<string, unknown>>;

function telemetriesOf(store: MetricStore): { telemetries: Telemetries; lines: Line[] } {
  const lines: Line[] = [];
  const telemetries = new Telemetries(false, (line) => {
    lines.push(JSON.parse(line) as Line);
    store.line(line);
  });
  return { telemetries, lines };
}

it('draws every value of a minute, also of more than a line of metrics takes', async () => {
  const store = new MetricStore({ clock: systemClock, onProblem: () => undefined });
  const { telemetries, lines } = telemetriesOf(store);
  const { meter } = telemetries.of({ role: 'agent', agent: 'pay' });
  for (let ms = 1; ms <= 250; ms += 1)
    meter.note({ what: 'claimed', executionId: 'e', ms }, { workflow: 'w' });
  telemetries.flush();
  expect(lines.map(({ role }) => role)).toEqual(['agent', 'agent', 'agent']);
  const metric = { namespace: 'Steadfast', name: 'TimeToClaim', dimensions: { service: MEASURED.service } };
  const now = Date.now();
  const minutes = store.periods(metric, now - 120_000, now + 60_000, 300_000);
  expect(minutes.map(([, values]) => values.stat('SampleCount'))).toEqual([250]);
});

it('draws what each role has measured, and leaves it out of the log', async () => {
  const store = new MetricStore({ clock: systemClock, onProblem: () => undefined });
  const { telemetries, lines } = telemetriesOf(store);
  const { meter } = telemetries.of({ role: 'scheduler' });
  const written = await linesOf(() => {
    for (const executionId of ['a', 'b']) meter.note({ what: 'started', executionId }, { workflow: 'w' });
    telemetries.flush();
  });
  expect(written).toEqual([]);
  expect(lines).toMatchObject([{ role: 'scheduler', Started: 2 }]);
  const ask = async (asked: object): Promise<Answer> =>
    metricData(asked, (...wanted) => store.periods(...wanted)) as Answer;
  const shown = await readCharts({ ...MEASURED, workflows: ['w'] }, ask, Date.now());
  expect(shown.deployment.find(({ title }) => title === 'Executions')?.lines).toMatchObject([
    { label: 'started', over: 2 },
  ]);
});
