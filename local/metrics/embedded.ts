/**
 * Reads log lines in CloudWatch's embedded metric format. Pure. Does not own: where the values go
 * (metric-store.ts).
 *
 * Invariants
 * - I1 no line throws: one that does not fit the format has no metric.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
import { isRecord, type Json } from '../template/json.ts';

/** The parts that together identify a metric. */
export interface MetricName {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

export interface Measured extends MetricName {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly values: readonly number[];
}

/** The longest event of CloudWatch Logs. */
const LONGEST_LINE = 1_048_576;
const MOST_VALUES = 100;
const MOST_DIMENSIONS = 30;
const LONGEST_VALUE = 1_024;

/** The measurements in a line; an empty list if it has none. */
export function measuredBy(line: string): readonly Measured[] {
  if (line.length > LONGEST_LINE || !line.includes('"_aws"')) return [];
  const root = parsed(line);
  const head = isRecord(root) ? own(root, '_aws') : undefined;
  if (!isRecord(root) || !isRecord(head)) return [];
  const { Timestamp: at, CloudWatchMetrics: directives } = head;
  if (typeof at !== 'number' || !Array.isArray(directives)) return [];
  return directives.flatMap((directive) => (isRecord(directive) ? measuredIn(root, directive, at) : []));
}

type Root = Readonly<Record<string, Json>>;

function measuredIn(root: Root, { Namespace, Dimensions, Metrics }: Root, at: number): Measured[] {
  if (typeof Namespace !== 'string' || !Array.isArray(Metrics)) return [];
  const sets: readonly Json[] = Array.isArray(Dimensions) && Dimensions.length > 0 ? Dimensions : [[]];
  const dimensions = sets.map((names) => dimensionsOf(root, names)).filter((each) => each !== undefined);
  return Metrics.flatMap((metric) => {
    const name = isRecord(metric) ? metric['Name'] : undefined;
    if (typeof name !== 'string') return [];
    const values = valuesOf(own(root, name));
    return values.length === 0
      ? []
      : dimensions.map((each) => ({ namespace: Namespace, name, dimensions: each, at, values }));
  });
}

/** The dimensions of a set; undefined if one of them has no value. */
function dimensionsOf(root: Root, names: Json): Readonly<Record<string, string>> | undefined {
  if (!Array.isArray(names) || names.length > MOST_DIMENSIONS) return undefined;
  const pairs = names.map((name) => [String(name), own(root, String(name))] as const);
  const isWhole = pairs.every(
    ([, value]) => typeof value === 'string' && value !== '' && value.length <= LONGEST_VALUE,
  );
  return isWhole ? (Object.fromEntries(pairs) as Record<string, string>) : undefined;
}

function valuesOf(value: Json | undefined): number[] {
  const all = Array.isArray(value) ? value.slice(0, MOST_VALUES) : [value];
  return all.filter((one) => typeof one === 'number' && Number.isFinite(one)) as number[];
}

/** Reads own fields only, because names come from outside and one may be `constructor`. */
const own = (root: Root, name: string): Json | undefined =>
  Object.hasOwn(root, name) ? root[name] : undefined;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
