/**
 * Reads the charts of a deployment from CloudWatch, or by the same calls from the local cloud.
 *
 * Owns: building the queries, from the list of charts and the API's names and never from a page's input, and
 * turning the answers into lines. Does not own: the list of charts (`lib/aws/charts.ts`), who may request
 * them (`listener.ts`), the calls (`../aws/calls.ts`).
 *
 * F1 a metric that several charts have is read once, because each read costs money.
 */

import type { MetricsPlace } from '../../lib/api/deployment-answers.ts';
import {
  DETAILED_CHARTS,
  type Chart,
  type ChartLine,
  type ChartOfEach,
  CHARTS,
  QUEUE_DIMENSION,
  QUEUE_CHARTS,
  QUEUE_NAMESPACE,
  type Stat,
} from '../../lib/aws/charts.ts';
import { METRICS_DIMENSION, METRICS_NAMESPACE } from '../../lib/aws/names.ts';
import type { Answer } from '../aws/calls.ts';
import type { ShownChart, ShownCharts, ShownLine } from '../../lib/view/shown-charts.ts';

/** CloudWatch's GetMetricData, of AWS or of a local cloud. */
export type GetMetricData = (asked: object) => Promise<Answer>;

const MINUTE_MS = 60_000;
/** The number of periods: three hours, as the dashboard shows at first. */
const PERIODS = 180;
/** The most queries in one call of GetMetricData. */
const MOST_QUERIES = 500;

export async function readCharts(place: MetricsPlace, ask: GetMetricData, now: number): Promise<ShownCharts> {
  const { startedAt = 0 } = place;
  const toMs = Math.ceil(now / MINUTE_MS) * MINUTE_MS;
  const queries = new Queries(toMs - PERIODS * MINUTE_MS, toMs);
  const service = { [METRICS_DIMENSION]: place.service };
  const own = (dimensions: Dimensions): Source => ({ namespace: METRICS_NAMESPACE, dimensions });
  const whole = Object.values(CHARTS)
    .flat()
    .map((chart) => linesOf(chart, own(service)));
  const queues = Object.entries(place.queues).map(([agent, queue]): Named => {
    const dimensions = { [QUEUE_DIMENSION]: queue };
    return [agent, { namespace: QUEUE_NAMESPACE, dimensions }];
  });
  const ofQueues = QUEUE_CHARTS.map((chart) => linesOfEach(chart, queues));
  const names = { workflow: place.workflows, agent: Object.keys(place.queues) };
  const detailed = (['workflow', 'agent'] as const)
    .filter((by) => place.by.includes(by))
    .map((by) => {
      const each = names[by].map((name): Named => [name, own({ ...service, [by]: name })]);
      const charts: readonly ChartOfEach[] = DETAILED_CHARTS[by];
      return [by, charts.map((chart) => linesOfEach(chart, each))] as const;
    });
  const all = [...whole, ...ofQueues, ...detailed.flatMap(([, charts]) => charts)];
  for (const { lines } of all) for (const { line, source } of lines) queries.need(line, source);
  await queries.answer(ask);
  const shown = (charts: readonly Unread[]): ShownChart[] => charts.map((chart) => queries.shown(chart));
  return {
    fromAt: queries.fromMs,
    everyMs: MINUTE_MS,
    periods: PERIODS,
    ...(startedAt > queries.fromMs ? { startedAt } : {}),
    asked: queries.count,
    deployment: shown(whole),
    queue: shown(ofQueues),
    ...Object.fromEntries(detailed.map(([by, charts]) => [by, shown(charts)])),
  };
}

type Dimensions = Readonly<Record<string, string>>;
interface Source {
  readonly namespace: string;
  readonly dimensions: Dimensions;
}
type Named = readonly [label: string, source: Source];

/** A chart whose metrics have not been read yet. */
interface Unread extends Pick<Chart, 'title' | 'unit'> {
  readonly lines: readonly { readonly label: string; readonly line: ChartLine; readonly source: Source }[];
  readonly worstFirst: boolean;
}

const linesOf = ({ title, unit, lines }: Chart, source: Source): Unread => ({
  title,
  unit,
  worstFirst: false,
  lines: lines.map((line) => ({ label: line.label, line, source })),
});

const linesOfEach = ({ title, unit, line }: ChartOfEach, each: readonly Named[]): Unread => ({
  title,
  unit,
  worstFirst: true,
  lines: each.map(([label, source]) => ({ label, line, source })),
});

type Values = readonly (number | null)[];

/** The queries of one reading, and their results. */
class Queries {
  readonly fromMs: number;
  readonly #toMs: number;
  readonly #queries = new Map<string, object>();
  readonly #values = new Map<string, Values>();

  constructor(fromMs: number, toMs: number) {
    this.fromMs = fromMs;
    this.#toMs = toMs;
  }

  get count(): number {
    return this.#queries.size;
  }

  need(line: ChartLine, source: Source): void {
    if ('metric' in line) this.#needOne(line.metric, line.stat, source);
    else for (const name of [line.part, ...line.of]) this.#needOne(name, 'Sum', source);
  }

  async answer(ask: GetMetricData): Promise<void> {
    const keys = [...this.#queries.keys()];
    for (let at = 0; at < keys.length; at += MOST_QUERIES) {
      const some = keys.slice(at, at + MOST_QUERIES);
      const MetricDataQueries = some.map((key, index) => ({ Id: `m${index}`, ...this.#queries.get(key) }));
      const asked = {
        MetricDataQueries,
        StartTime: this.fromMs / 1_000,
        EndTime: this.#toMs / 1_000,
        ScanBy: 'TimestampAscending',
      };
      for (let NextToken: unknown; ; ) {
        const answer = await ask(NextToken === undefined ? asked : { ...asked, NextToken });
        this.#take(answer, some);
        NextToken = answer['NextToken'];
        if (typeof NextToken !== 'string' || NextToken === '') break;
      }
    }
  }

  shown({ title, unit, lines, worstFirst }: Unread): ShownChart {
    const read = lines.map(({ label, line, source }) => this.#line(label, line, source));
    const withValues = read.filter(({ values }) => values.some((value) => value !== null));
    const isBad = unit === 'percent' ? -1 : 1;
    const sorted = withValues.toSorted((one, other) => isBad * (other.over - one.over));
    return { title, unit, lines: worstFirst ? sorted : withValues };
  }

  #needOne(metric: string, stat: Stat, source: Source): void {
    const Dimensions = Object.entries(source.dimensions).map(([Name, Value]) => ({ Name, Value }));
    const Metric = { Namespace: source.namespace, MetricName: metric, Dimensions };
    const query = { MetricStat: { Metric, Period: MINUTE_MS / 1_000, Stat: stat } };
    this.#queries.set(keyOf(metric, stat, source), query);
  }

  #take(answer: Answer, keys: readonly string[]): void {
    const results = (answer['MetricDataResults'] ?? []) as readonly Result[];
    for (const { Id, Timestamps, Values: given } of results) {
      const key = keys[Number(Id.slice(1))] ?? '';
      const values = [...(this.#values.get(key) ?? Array.from({ length: PERIODS }, () => null))];
      for (const [at, timestamp] of Timestamps.entries()) {
        const place = Math.round((timestamp * 1_000 - this.fromMs) / MINUTE_MS);
        if (place >= 0 && place < PERIODS) values[place] = given[at] ?? null;
      }
      this.#values.set(key, values);
    }
  }

  #line(label: string, line: ChartLine, source: Source): ShownLine {
    const of = (name: string, stat: Stat): Values => this.#values.get(keyOf(name, stat, source)) ?? [];
    if ('metric' in line) {
      const values = of(line.metric, line.stat);
      const isCount = line.stat === 'Sum';
      const known = values.filter((value) => value !== null);
      // A missing value of a count is 0, if the metric has any value.
      const filled = isCount && known.length > 0 ? values.map((value) => value ?? 0) : values;
      return {
        label,
        values: filled.map(rounded),
        over: rounded(isCount ? sum(known) : Math.max(0, ...known)) ?? 0,
        isHighest: !isCount,
      };
    }
    const [part, whole] = [of(line.part, 'Sum'), line.of.map((name) => of(name, 'Sum'))];
    const share = (one: number, all: number): number | null =>
      all === 0 ? null : rounded(((line.percent === true ? 100 : 1) * one) / all);
    const values = Array.from({ length: PERIODS }, (_, at) =>
      share(part[at] ?? 0, sum(whole.map((each) => each[at] ?? 0))),
    );
    return { label, values, over: share(sum(part), sum(whole.map(sum))) ?? 0, isHighest: false };
  }
}

interface Result {
  readonly Id: string;
  readonly Timestamps: readonly number[];
  readonly Values: readonly number[];
}

const keyOf = (metric: string, stat: Stat, { namespace, dimensions }: Source): string =>
  JSON.stringify([namespace, metric, stat, dimensions]);

const sum = (values: Values): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** Rounds to four digits, which are enough for a person. */
const rounded = (value: number | null): number | null =>
  value === null ? null : Number(value.toPrecision(4));
