/**
 * The local cloud's metrics, from programs' logs and from its own measurements, as GetMetricData returns
 * them.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { Distribution } from '../../local/metrics/distribution.ts';
import { measuredBy } from '../../local/metrics/embedded.ts';
import { metricData } from '../../local/metrics/metric-data.ts';
import { KEPT_MS, MetricStore, MINUTE_MS, MOST_METRICS } from '../../local/metrics/metric-store.ts';
import { linesOf } from '../aws/lines.ts';
import { cloudFor, template } from './fixture.ts';
import { ManualClock } from './manual-clock.ts';

const AT = 1_700_000_040_000;

/** A line as Powertools writes it. */
const line = (
  values: Record<string, unknown>,
  dimensions: Record<string, string> = { service: 'shop' },
): string =>
  JSON.stringify({
    _aws: {
      Timestamp: AT,
      CloudWatchMetrics: [
        {
          Namespace: 'Shop',
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.keys(values).map((Name) => ({ Name, Unit: 'Count' })),
        },
      ],
    },
    ...dimensions,
    ...values,
  });

describe('a line', () => {
  it('is read as Powertools writes it', async () => {
    const metrics = new Metrics({ namespace: 'Shop', serviceName: 'shop' });
    metrics.addMetric('Sold', MetricUnit.Count, 3);
    metrics.addMetric('Sold', MetricUnit.Count, 4);
    metrics.addMetadata('role', 'till');
    const written = await linesOf(() => metrics.publishStoredMetrics());
    expect(written.flatMap((one) => measuredBy(JSON.stringify(one)))).toEqual([
      {
        namespace: 'Shop',
        name: 'Sold',
        dimensions: { service: 'shop' },
        at: expect.any(Number),
        values: [3, 4],
      },
    ]);
  });

  it('has a metric for each of its sets of dimensions', () => {
    const text = line({ Sold: 1 }, { service: 'shop', workflow: 'order' });
    const both = text.replace('["service","workflow"]', '["service"],["service","workflow"]');
    expect(measuredBy(both).map(({ dimensions }) => dimensions)).toEqual([
      { service: 'shop' },
      { service: 'shop', workflow: 'order' },
    ]);
  });

  it.each([
    ['text', 'record 1 "_aws"'],
    ['broken off', line({ Sold: 1 }).slice(0, -1)],
    ['null', '{"_aws":null}'],
    ['without directives', '{"_aws":{"Timestamp":1}}'],
    ['with a value that is none', line({ Sold: 'many' })],
    [
      'with a metric that it has no value of',
      line({ Sold: 1 }).replace('"Name":"Sold"', '"Name":"constructor"'),
    ],
    ['with a dimension that it has no value of', line({ Sold: 1 }).replace('["service"]', '["toString"]')],
    ['with a dimension that is not a text', line({ Sold: 1 }).replace('"service":"shop"', '"service":7')],
    ['too long', line({ Sold: 1, x: 'x'.repeat(1_048_576) })],
  ])('that is %s measures nothing', (_, text) => {
    expect(measuredBy(text)).toEqual([]);
  });
});

describe('the spread of values', () => {
  it('is known to 2 %, whatever the number of values', () => {
    const spread = new Distribution();
    for (let value = 1; value <= 10_000; value += 1) spread.add(value);
    expect(spread.stat('p50')! / 5_000).toBeCloseTo(1, 1);
    expect(Math.abs(spread.stat('p99')! - 9_900)).toBeLessThan(198);
    expect(spread.toJSON().spread.length).toBeLessThan(500);
    expect(['Sum', 'SampleCount', 'Minimum', 'Maximum'].map((stat) => spread.stat(stat))).toEqual([
      50_005_000, 10_000, 1, 10_000,
    ]);
  });

  it('never leaves what there was', () => {
    const one = new Distribution();
    one.add(1_234);
    expect([one.stat('p0'), one.stat('p50'), one.stat('p100')]).toEqual([1_234, 1_234, 1_234]);
    const none = new Distribution();
    none.add(0);
    expect(none.stat('p99')).toBe(0);
  });
});

describe('the store', () => {
  const clock = new ManualClock(AT);
  const problems: string[] = [];
  let folder = '';
  const open = (): MetricStore =>
    new MetricStore({ clock, file: join(folder, 'metrics.jsonl'), onProblem: (text) => problems.push(text) });
  const sold = { namespace: 'Shop', name: 'Sold', dimensions: { service: 'shop' } };
  const sums = (store: MetricStore, metric = sold, periodMs = MINUTE_MS): number[][] =>
    store
      .periods(metric, clock.now() - KEPT_MS, clock.now() + 1, periodMs)
      .map(([at, values]) => [at - AT, values.stat('Sum')!]);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'metrics-'));
    problems.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has values by the minute, and longer periods made of them', () => {
    const store = open();
    store.add(sold, 1, AT - MINUTE_MS);
    store.add(sold, 2);
    store.line(line({ Sold: [3, 4] }));
    expect(sums(store)).toEqual([
      [-MINUTE_MS, 1],
      [0, 9],
    ]);
    expect(sums(store, sold, 60 * MINUTE_MS)).toHaveLength(1);
  });

  it('keeps them from one start to the next, for some hours', () => {
    const store = open();
    store.add(sold, 5);
    store.keep();
    expect(sums(open())).toEqual([[0, 5]]);
    clock.advance(KEPT_MS + MINUTE_MS);
    const later = open();
    later.add(sold, 1);
    later.keep();
    expect(readFileSync(join(folder, 'metrics.jsonl'), 'utf8')).not.toContain(`"sum":5`);
    clock.advance(-KEPT_MS - MINUTE_MS);
  });

  it('starts without what it cannot read, and ends where it cannot write', () => {
    writeFileSync(join(folder, 'metrics.jsonl'), '{"minutes":7}\n');
    const store = open();
    store.add(sold, 1);
    rmSync(folder, { recursive: true });
    store.keep();
    expect(problems).toEqual([
      expect.stringContaining('start empty'),
      expect.stringContaining('cannot write the metrics file'),
    ]);
    folder = mkdtempSync(join(tmpdir(), 'metrics-'));
  });

  it('holds no more metrics than it has room for, and says so once', () => {
    const store = open();
    for (let number = 0; number < MOST_METRICS + 10; number += 1)
      store.add({ ...sold, name: `Metric${number}` }, 1);
    expect(sums(store, { ...sold, name: `Metric${MOST_METRICS}` })).toEqual([]);
    expect(problems).toHaveLength(1);
  });

  it('drops values of another time, and distinguishes similar names', () => {
    const store = open();
    store.add(sold, 1, 0);
    store.add(sold, 1, AT + 2 * KEPT_MS);
    store.add({ ...sold, dimensions: { service: 'shop","workflow":"x' } }, 1);
    store.add({ ...sold, dimensions: { constructor: 'x', ['__proto__']: 'y' } }, 1);
    expect(sums(store)).toEqual([]);
    expect(sums(store, { ...sold, dimensions: { service: 'shop","workflow":"x' } as never })).toEqual([
      [0, 1],
    ]);
  });
});

describe('GetMetricData', () => {
  const metric = { Namespace: 'Shop', MetricName: 'Sold', Dimensions: [{ Name: 'service', Value: 'shop' }] };
  const query = { Id: 'm0', MetricStat: { Metric: metric, Period: 60, Stat: 'Sum' } };
  const request = { MetricDataQueries: [query], StartTime: 0, EndTime: 600 };
  const none = (): [] => [];

  it.each([
    ['no object', null, /JSON object/],
    ['no queries', { ...request, MetricDataQueries: undefined }, /MetricDataQueries is missing/],
    ['a time that is a text', { ...request, StartTime: '2026-01-01' }, /StartTime is missing/],
    ['an end before its begin', { ...request, EndTime: 0 }, /before EndTime/],
    ['one id twice', { ...request, MetricDataQueries: [query, query] }, /Id of its own/],
    ['an id that is none', { ...request, MetricDataQueries: [{ ...query, Id: '<b>' }] }, /Id is "<b>"/],
    [
      'an expression',
      { ...request, MetricDataQueries: [{ Id: 'e', Expression: 'm0/2' }] },
      /does not evaluate/,
    ],
    [
      'seconds that are no minutes',
      { ...request, MetricDataQueries: [{ ...query, MetricStat: { ...query.MetricStat, Period: 30 } }] },
      /Period of m0 is 30/,
    ],
    [
      'a statistic that is none',
      { ...request, MetricDataQueries: [{ ...query, MetricStat: { ...query.MetricStat, Stat: 'p101' } }] },
      /Stat of m0 is "p101"/,
    ],
    [
      'too many',
      { ...request, MetricDataQueries: Array.from({ length: 501 }, () => query) },
      /at most 500 are allowed/,
    ],
  ])('refuses %s', (_, body, message) => {
    expect(() => metricData(body, none)).toThrow(message);
  });

  it('answers what there is, newest first unless it is asked otherwise', () => {
    const five = new Distribution();
    five.add(5);
    const periods = () => [[60_000, five] as const, [120_000, five] as const];
    const results = (order: object): unknown => metricData({ ...request, ...order }, periods);
    expect(results({})).toMatchObject({
      MetricDataResults: [
        { Id: 'm0', Label: 'Sold', Timestamps: [120, 60], Values: [5, 5], StatusCode: 'Complete' },
      ],
    });
    expect(results({ ScanBy: 'TimestampAscending' })).toMatchObject({
      MetricDataResults: [{ Timestamps: [60, 120] }],
    });
  });
});

describe('a running stack', () => {
  it('has the metrics that its functions write, those of its queues and functions, and answers as CloudWatch does', async () => {
    const stack = template();
    const source = `exports.handler = async (event) => {
      console.log(JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: [{ Namespace: 'Shop',
        Dimensions: [['service']], Metrics: [{ Name: 'Ticks' }] }] }, service: 'shop', Ticks: 1 }));
      if (event.fail) throw new Error('on purpose');
    };`;
    stack.Resources['Ticker']!.Properties['Code'] = { ZipFile: source };
    const clock = new ManualClock(Date.now());
    const { cloud, end } = await cloudFor({ clock }, stack);
    try {
      cloud.control.send('Dead', 'left');
      clock.advance(10_000);
      await cloud.control.invoke('Ticker', {});
      await cloud.control.invoke('Ticker', { fail: true });
      cloud.metricsIn(line({ Ticks: 1 }).replace(String(AT), String(Date.now())));
      cloud.metricsIn('a line like any other');
      const ask = (MetricDataQueries: object[], authorization = ''): Promise<Response> =>
        fetch(cloud.gatewayUrl, {
          method: 'POST',
          headers: {
            'x-amz-target': 'GraniteServiceVersion20100801.GetMetricData',
            'content-type': 'application/x-amz-json-1.0',
            authorization,
          },
          body: JSON.stringify({
            MetricDataQueries,
            StartTime: Date.now() / 1_000 - 600,
            EndTime: Date.now() / 1_000 + 60,
          }),
        });
      const of = (
        Namespace: string,
        MetricName: string,
        Name: string,
        Value: string,
        Stat = 'Sum',
      ): object => ({
        Id: MetricName.toLowerCase(),
        MetricStat: { Metric: { Namespace, MetricName, Dimensions: [{ Name, Value }] }, Period: 3_600, Stat },
      });
      const answer = await ask([
        of('Shop', 'Ticks', 'service', 'shop'),
        of('AWS/Lambda', 'Errors', 'FunctionName', 'Shop-Ticker'),
        of('AWS/SQS', 'ApproximateNumberOfMessagesVisible', 'QueueName', 'Shop-Dead', 'Maximum'),
        of('Shop', 'Ticks2', 'service', 'shop'),
      ]);
      expect(answer.status).toBe(200);
      const { MetricDataResults } = (await answer.json()) as {
        MetricDataResults: readonly { readonly Id: string; readonly Values: number[] }[];
      };
      const sum = (values: number[]): number => values.reduce((all, value) => all + value, 0);
      expect(MetricDataResults.map(({ Id, Values }) => [Id, sum(Values)])).toEqual([
        ['ticks', 3],
        ['errors', 1],
        ['approximatenumberofmessagesvisible', 1],
        ['ticks2', 0],
      ]);
      const refused = await ask([{ Id: 'X' }]);
      expect([refused.status, refused.headers.get('x-amzn-errortype')]).toEqual([
        400,
        'InvalidParameterValue',
      ]);
      // A function needs permission to ask, as on AWS.
      const key = 'AWS4-HMAC-SHA256 Credential=Web-1/20260101/us-east-1/monitoring/aws4_request, x';
      const denied = await ask([], key);
      expect([denied.status, await denied.text()]).toEqual([
        400,
        expect.stringContaining('cloudwatch:GetMetricData'),
      ]);
    } finally {
      await end();
    }
  });
});
