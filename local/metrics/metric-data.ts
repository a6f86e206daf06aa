/**
 * CloudWatch's GetMetricData: checks a request with AWS's error codes, and answers it. Pure, except for the
 * measurements. Does not own: the metrics (metric-store.ts). Expressions are refused by name.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
 */
import { isRecord, type Json } from '../template/json.ts';
import type { Distribution } from './distribution.ts';
import type { MetricName } from './embedded.ts';

export class MetricDataError extends Error {
  readonly code: 'InvalidParameterCombination' | 'InvalidParameterValue' | 'MissingParameter';

  constructor(code: MetricDataError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A metric's measurements by period. */
export type Periods = (
  metric: MetricName,
  fromMs: number,
  toMs: number,
  periodMs: number,
) => readonly (readonly [number, Distribution])[];

const MOST_QUERIES = 500;
const ID = /^[a-z][a-zA-Z0-9_]{0,254}$/;
const STAT = /^(?:SampleCount|Sum|Average|Minimum|Maximum|p(?:\d{1,2}(?:\.\d{1,10})?|100))$/;
const MINUTE_S = 60;

type Fields = Readonly<Record<string, Json>>;

/** @throws MetricDataError */
export function metricData(body: unknown, periods: Periods): Json {
  if (!isRecord(body)) throw wrong('the request body must be a JSON object');
  const { MetricDataQueries: queries, StartTime: from, EndTime: to, ScanBy: order } = body;
  if (!Array.isArray(queries)) throw missing('MetricDataQueries');
  if (typeof from !== 'number') throw missing('StartTime');
  if (typeof to !== 'number') throw missing('EndTime');
  if (from >= to) throw wrong('StartTime must be before EndTime');
  if (queries.length > MOST_QUERIES)
    throw wrong(`MetricDataQueries has ${queries.length} queries; at most ${MOST_QUERIES} are allowed`);
  const asked = queries.map((query) => readQuery(query));
  const ids = new Set(asked.map(({ id }) => id));
  if (ids.size < asked.length) throw wrong('each query needs an Id of its own');
  const isAscending = order === 'TimestampAscending';
  const results = asked.map(({ id, label, metric, stat, periodS }) => {
    const found = periods(metric, from * 1_000, to * 1_000, periodS * 1_000);
    const inOrder = isAscending ? found : found.toReversed();
    return {
      Id: id,
      Label: label,
      Timestamps: inOrder.map(([at]) => at / 1_000),
      Values: inOrder.map(([, values]) => values.stat(stat) ?? 0),
      StatusCode: 'Complete',
    };
  });
  return { MetricDataResults: results, Messages: [] };
}

interface Query {
  readonly id: string;
  readonly label: string;
  readonly metric: MetricName;
  readonly stat: string;
  readonly periodS: number;
}

function readQuery(query: Json): Query {
  const { Id: id, Expression: expression, MetricStat: asked, Label: label } = recordOf(query, 'a query');
  if (typeof id !== 'string' || !ID.test(id))
    throw wrong(`Id is ${JSON.stringify(id)}; allowed: letters, digits and _, beginning with a small letter`);
  if (expression !== undefined)
    throw new MetricDataError(
      'InvalidParameterCombination',
      `${id} has an Expression, which the local cloud does not evaluate; ask for the metrics of which it is made`,
    );
  const { Metric, Period: periodS, Stat: stat } = recordOf(asked, `MetricStat of ${id}`);
  const { Namespace: namespace, MetricName: name, Dimensions } = recordOf(Metric, `Metric of ${id}`);
  if (typeof namespace !== 'string') throw missing(`Namespace of ${id}`);
  if (typeof name !== 'string') throw missing(`MetricName of ${id}`);
  if (typeof periodS !== 'number' || periodS < MINUTE_S || periodS % MINUTE_S !== 0)
    throw wrong(`Period of ${id} is ${JSON.stringify(periodS)}; allowed: multiples of ${MINUTE_S}`);
  if (typeof stat !== 'string' || !STAT.test(stat))
    throw wrong(
      `Stat of ${id} is ${JSON.stringify(stat)}; the local cloud has Sum, Average, Minimum, Maximum, SampleCount and p0 to p100`,
    );
  const metric = { namespace, name, dimensions: dimensionsOf(Dimensions, id) };
  return { id, label: typeof label === 'string' ? label : name, metric, stat, periodS };
}

function dimensionsOf(given: Json | undefined, id: string): Readonly<Record<string, string>> {
  const all = Array.isArray(given) ? given : [];
  return Object.fromEntries(
    all.map((one) => {
      const { Name: name, Value: value } = recordOf(one, `a dimension of ${id}`);
      if (typeof name !== 'string' || typeof value !== 'string')
        throw missing(`Name and Value of a dimension of ${id}`);
      return [name, value];
    }),
  );
}

function recordOf(value: Json | undefined, what: string): Fields {
  if (isRecord(value)) return value;
  throw missing(what);
}

const wrong = (message: string): MetricDataError => new MetricDataError('InvalidParameterValue', message);
const missing = (what: string): MetricDataError =>
  new MetricDataError('MissingParameter', `${what} is missing`);
