/**
 * The console's charts: the requests to CloudWatch, reading the answers, who may request them, and how often.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricsPlace } from '../../../lib/api/deployment-answers.ts';
import { DETAILED_CHARTS } from '../../../lib/aws/charts.ts';
import { ChartSource } from '../../../cli/console/chart-source.ts';
import { type GetMetricData, readCharts } from '../../../cli/console/charts.ts';
import type { ShownChart } from '../../../lib/view/shown-charts.ts';
import { CliError } from '../../../cli/io.ts';
import { metricData } from '../../../local/metrics/metric-data.ts';
import { MetricStore, MINUTE_MS } from '../../../local/metrics/metric-store.ts';
import { ManualClock } from '../../local/manual-clock.ts';
import { endAll, json, serve } from './served.ts';

const HOSTILE = '<img src=x onerror=alert(1)>"}],"Id":"m0';
const PLACE: MetricsPlace = {
  service: 'shop',
  by: [],
  workflows: ['order', HOSTILE],
  queues: { pay: 'Shop-1_pay', ship: 'Shop-1_ship' },
};

interface Query {
  readonly Id: string;
  readonly MetricStat: {
    readonly Metric: {
      readonly MetricName: string;
      readonly Dimensions: readonly { readonly Value: string }[];
    };
    readonly Stat: string;
  };
}
interface Request {
  readonly MetricDataQueries: readonly Query[];
  readonly StartTime: number;
  readonly EndTime: number;
  readonly NextToken?: string;
}

let folder = '';
let store: MetricStore;
let asked: Request[];
let clock: ManualClock;
/** Uses the local cloud's own answers, which have CloudWatch's form. */
const ask: GetMetricData = async (request) => {
  asked.push(request as Request);
  return metricData(request, store.periods.bind(store)) as never;
};
const queries = (): Query[] => asked.flatMap(({ MetricDataQueries }) => MetricDataQueries);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'charts-'));
  clock = new ManualClock(1_700_000_040_000);
  asked = [];
  store = new MetricStore({
    clock,
    file: join(folder, 'metrics.jsonl'),
    onProblem: (text) => {
      throw new Error(text);
    },
  });
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await endAll();
});

const emit = (
  name: string,
  values: readonly number[],
  more: Record<string, string> = {},
  agoMs = 0,
): void => {
  for (const value of values)
    store.add(
      { namespace: 'Steadfast', name, dimensions: { service: 'shop', ...more } },
      value,
      clock.now() - agoMs,
    );
};
const read = (place: Partial<MetricsPlace> = {}): ReturnType<typeof readCharts> =>
  readCharts({ ...PLACE, ...place }, ask, clock.now() + 1);
const titled = (charts: readonly ShownChart[], title: string): ShownChart =>
  charts.find((chart) => chart.title === title)!;

describe('the charts', () => {
  it('are asked for in one call, each metric once, for the last three hours', async () => {
    const { asked: count, fromAt, periods, everyMs } = await read();
    expect(asked).toHaveLength(1);
    expect([asked[0]!.EndTime - asked[0]!.StartTime, asked[0]!.StartTime * 1_000]).toEqual([10_800, fromAt]);
    expect(periods * everyMs).toBe(10_800_000);
    const keys = queries().map(({ MetricStat }) => JSON.stringify(MetricStat));
    expect(new Set(keys).size).toBe(keys.length);
    expect(count).toBe(keys.length);
    expect(count).toBe(17 + 2 * 2);
  });

  it('know when the code that runs began to, if they have values of before', async () => {
    const startedAt = clock.now() - 3 * MINUTE_MS;
    expect((await read({ startedAt })).startedAt).toBe(startedAt);
    expect(await read({ startedAt: startedAt - 180 * MINUTE_MS })).not.toHaveProperty('startedAt');
    expect(await read()).not.toHaveProperty('startedAt');
  });

  it('cost what the guide says', async () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'CONSOLE.md'), 'utf8');
    const guide = page.replace(/\s+/g, ' ');
    const [whole, queues] = [(await read({ queues: {} })).asked, (await read()).asked];
    const [workflow, agent] = [
      (await read({ by: ['workflow'], workflows: ['order'] })).asked - queues,
      (await read({ by: ['agent'] })).asked - queues,
    ];
    expect(guide).toContain(
      `each minute ${whole} metrics and ${(queues - whole) / 2} for each agent; with \`metricsBy\` ${workflow} more for each workflow and ${agent / 2} for each agent`,
    );
    const hourly = (60 * (whole + 4 * ((queues - whole) / 2)) * 0.01) / 1_000;
    expect(guide).toContain(`four agents cost $${hourly.toFixed(3)} an hour`);
  });

  it('have of counts what is not written as none, once there is any', async () => {
    emit('Started', [1, 1], {}, 2 * MINUTE_MS);
    emit('Started', [1]);
    const { lines } = titled((await read()).deployment, 'Executions');
    expect(lines.map(({ label }) => label)).toEqual(['started']);
    expect(lines[0]!.values.slice(-3)).toEqual([2, 0, 1]);
    expect(lines[0]!.over).toBe(3);
  });

  it('have a share of the sums, also over the whole time, and nothing where nothing ended', async () => {
    emit('Succeeded', [1, 1, 1], {}, 2 * MINUTE_MS);
    emit('Failed', [1], {}, 2 * MINUTE_MS);
    emit('Canceled', [1, 1, 1, 1]);
    const { lines } = titled((await read()).deployment, 'Success rate, %');
    expect(lines[0]!.values.slice(-3)).toEqual([75, null, 0]);
    expect(lines[0]!.over).toBe(37.5);
  });

  it('have percentiles and gauges as they are, and the highest over the whole time', async () => {
    emit('TimeToClaim', [100, 100, 100, 9_000], {}, MINUTE_MS);
    emit('TimeToClaim', [50]);
    emit('OldestOverdue', [5, 70_000, 5]);
    const { deployment } = await read();
    const [p50, p99] = titled(deployment, 'From due to claimed, ms').lines;
    expect(p50!.values.at(-3)).toBeNull();
    expect(Math.abs(p50!.values.at(-2)! - 100)).toBeLessThan(3);
    expect(Math.abs(p99!.over - 9_000)).toBeLessThan(180);
    expect(p99!.values.at(-1)).toBe(50);
    expect(titled(deployment, 'Overdue, ms').lines[0]).toMatchObject({ over: 70_000 });
  });

  it('are of each agent’s queue by the queue’s name, the worst first', async () => {
    for (const [QueueName, age] of [
      ['Shop-1_pay', 3],
      ['Shop-1_ship', 700],
    ] as const)
      store.add(
        { namespace: 'AWS/SQS', name: 'ApproximateAgeOfOldestMessage', dimensions: { QueueName } },
        age,
      );
    const { lines } = titled((await read()).queue, 'Oldest message, s');
    expect(lines.map(({ label, over }) => [label, over])).toEqual([
      ['ship', 700],
      ['pay', 3],
    ]);
  });

  it('are of each workflow and each agent where it has such metrics, the worst first, whatever a name holds', async () => {
    expect(await read()).not.toHaveProperty('workflow');
    emit('Succeeded', [1, 1], { workflow: 'order' });
    emit('Failed', [1], { workflow: HOSTILE });
    emit('Duration', [1_000], { workflow: HOSTILE });
    const { workflow, agent } = await read({ by: ['workflow'] });
    expect(agent).toBeUndefined();
    expect(titled(workflow!, 'Success rate, %').lines.map(({ label, over }) => [label, over])).toEqual([
      [HOSTILE, 0],
      ['order', 100],
    ]);
    expect(titled(workflow!, 'Duration p99, ms').lines).toMatchObject([{ label: HOSTILE, over: 1_000 }]);
    expect(workflow!.map(({ title }) => title)).toEqual(DETAILED_CHARTS.workflow.map(({ title }) => title));
    for (const { Id } of queries()) expect(Id).toMatch(/^m\d+$/);
  });

  it('of many workflows take several calls, and each its further pages', async () => {
    const workflows = Array.from({ length: 60 }, (_, at) => `w-${at}`);
    emit('Started', [1], { workflow: 'w-59' });
    emit('Retries', [1, 1], { workflow: 'w-59' });
    let pages = 0;
    const paged: GetMetricData = async (request) => {
      pages += 1;
      const { NextToken, ...rest } = request as Request;
      const answer = await ask(rest);
      return NextToken === undefined ? { MetricDataResults: [], NextToken: 'next' } : answer;
    };
    const { workflow } = await readCharts({ ...PLACE, by: ['workflow'], workflows }, paged, clock.now() + 1);
    expect(pages).toBe(4);
    expect(asked.every(({ MetricDataQueries }) => MetricDataQueries.length <= 500)).toBe(true);
    expect(titled(workflow!, 'Retries per execution').lines).toMatchObject([{ label: 'w-59', over: 2 }]);
  });
});

const health = { status: 'ok', metrics: PLACE };

describe('the console', () => {
  it('answers them to its own page alone, and nothing of a query is the page’s', async () => {
    const served = await serve({ metrics: () => ask });
    served.answer = json(200, health);
    const { status, text } = await served.page('/console/charts?MetricName=Secret&Namespace=AWS/Billing');
    expect([status, Object.keys(JSON.parse(text) as object)]).toEqual([
      200,
      expect.arrayContaining(['deployment']),
    ]);
    expect(JSON.stringify(asked)).not.toMatch(/Secret|Billing/);
    const before = asked.length;
    expect((await served.ask('/console/charts')).code).toBe('forbidden');
    expect((await served.page('/console/charts', { method: 'POST' })).code).toBe('unknown-route');
    expect((await served.page('/console/charts', { headers: { host: 'evil.example' } })).code).toBe(
      'wrong-host',
    );
    expect(asked).toHaveLength(before);
  });

  it('says to its page whether it has them', async () => {
    const [withThem, without] = [await serve({ metrics: () => ask }), await serve()];
    const page = async (served: typeof without): Promise<string> => (await served.page('/console/')).text;
    expect(await page(withThem)).toContain('hasCharts&#34;:true');
    expect(await page(without)).not.toContain('hasCharts');
    expect((await without.page('/console/charts')).status).toBe(404);
  });

  it.each([
    ['an API of before', json(200, { status: 'ok' }), ask, 404, 'no-metrics'],
    [
      'an API that lets nobody in',
      json(403, { error: { code: 'forbidden', message: 'no' } }),
      ask,
      403,
      'forbidden',
    ],
    ['no API', json(502, 'gone', { 'content-type': 'text/html' }), ask, 502, 'not-steadfast'],
    [
      'credentials that may not read metrics',
      json(200, health),
      () => Promise.reject(new CliError('not-allowed', 'not allowed: cloudwatch:GetMetricData')),
      502,
      'not-allowed',
    ],
  ])('with %s says so, and asks again at once', async (_, answer, metrics, status, code) => {
    const served = await serve({ metrics: () => metrics });
    served.answer = answer;
    const found = await served.page('/console/charts');
    expect([found.status, found.code]).toEqual([status, code]);
    served.answer = json(200, health);
    if (metrics === ask) expect((await served.page('/console/charts')).status).toBe(200);
  });

  it('an unhealthy deployment has them all the same', async () => {
    const served = await serve({ metrics: () => ask });
    served.answer = json(503, { ...health, status: 'overdue' });
    expect((await served.page('/console/charts')).status).toBe(200);
  });
});

it('several pages together cost one reading a minute', async () => {
  let now = 1_000_000;
  const upstream = () => ({ url: 'http://api', fetch: async () => Response.json(health) });
  const source = new ChartSource(
    () => ask,
    upstream,
    () => now,
  );
  const { signal } = new AbortController();
  await Promise.all([source.read(1, signal), source.read(1, signal)]);
  now += 30_000;
  await source.read(1, signal);
  expect(asked).toHaveLength(1);
  now += 30_000;
  await source.read(1, signal);
  expect(asked).toHaveLength(2);
});
