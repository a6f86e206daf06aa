/**
 * A chart from end to end: real functions write metrics in the local cloud, and the console's server reads
 * them.
 */

import type { Health } from '../../lib/api/deployment-answers.ts';
import { readCharts } from '../../cli/console/charts.ts';
import type { ShownChart } from '../../lib/view/shown-charts.ts';
import { localMetrics } from '../../cli/dev/local-metrics.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: true, environment: { STEADFAST_METRICS_BY: 'workflow,agent' } });
});
afterAll(() => stage.strike());

const labelled = (charts: readonly ShownChart[], title: string): Record<string, number> =>
  Object.fromEntries(
    charts.find((chart) => chart.title === title)!.lines.map(({ label, over }) => [label, over]),
  );

it('an order is in the charts, of all together, of its workflow and of each of its agents', async () => {
  expect(await stage.ended(await stage.startOrder('charted'))).toMatchObject({ status: 'succeeded' });
  await stage.cloud.control.tick('supervisor');
  const { metrics } = (await (await fetch(`${stage.cloud.apiUrl}/health`)).json()) as Health;
  const { deployment, queue, workflow, agent } = await readCharts(
    metrics!,
    localMetrics(Number(new URL(stage.cloud.apiUrl).port)),
    Date.now(),
  );
  expect(labelled(deployment, 'Executions')).toMatchObject({ started: 1, succeeded: 1 });
  expect(labelled(deployment, 'Success rate, %')).toEqual({ succeeded: 100 });
  expect(labelled(deployment, 'Overdue, ms')).toHaveProperty('oldest');
  expect(labelled(workflow!, 'Duration p99, ms')['order-fulfilment']).toBeGreaterThan(0);
  const agents = ['charge-card', 'notify-customer', 'reserve-stock', 'schedule-shipping'];
  expect(Object.keys(labelled(queue, 'Oldest message, s'))).toEqual(expect.arrayContaining(agents));
  const done = labelled(agent!, 'Steps done of those that ended, %');
  expect(agents.map((name) => done[name])).toEqual([100, 100, 100, 100]);
});
