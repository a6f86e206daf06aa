/**
 * Totals of metrics, in the format that Prometheus reads.
 *
 * Owns: the sums, the names, the text. Does not own: which lines count and their labels (`ports.ts`; for the
 * local cloud `cli/dev/prometheus.ts`).
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */

import { METRICS, type MetricName } from '../lib/aws/names.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics that report their latest value. Counters report a sum; durations a sum and a count. */
const GAUGES: ReadonlySet<string> = new Set<MetricName>([
  'OpenIncidents',
  'OpenEntries',
  'OpenBreakers',
  'OldestOverdue',
  'AuditAge',
]);

interface Total {
  sum: number;
  count: number;
}

type Labels = Readonly<Record<string, string>>;

/** A line in the embedded metric format, as `createMeter` writes it. */
interface EmbeddedHead {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly { readonly Metrics: readonly { readonly Name: string }[] }[];
  };
}
type Embedded = EmbeddedHead & Readonly<Record<string, number | readonly number[] | undefined>>;

export class MetricTotals {
  /** Totals by name, then by labels. */
  readonly #totals = new Map<string, Map<string, Total>>();

  /** Adds one line of a role. @param line in CloudWatch's embedded metric format */
  line(labels: Labels, line: string): void {
    const measured = JSON.parse(line) as Embedded;
    const names = measured._aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name));
    for (const name of names) this.add(labels, name, [measured[name] ?? []].flat());
  }

  add(labels: Labels, name: string, values: readonly number[]): void {
    const key = Object.entries(labels)
      .map(([label, value]) => `${label}="${value}"`)
      .join(',');
    const byLabels = this.#totals.get(name) ?? new Map<string, Total>();
    this.#totals.set(name, byLabels);
    const { sum, count } = byLabels.get(key) ?? { sum: 0, count: 0 };
    const added = GAUGES.has(name) ? (values.at(-1) ?? 0) : values.reduce((all, one) => all + one, sum);
    byLabels.set(key, { sum: added, count: count + values.length });
  }

  text(): string {
    const names = [...this.#totals.keys()].toSorted();
    return names.map((name) => familyText(name, this.#totals.get(name) ?? new Map())).join('');
  }
}

function familyText(name: string, byLabels: ReadonlyMap<string, Total>): string {
  const isCount = METRICS[name as MetricName] === 'Count';
  const snake = name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const type = GAUGES.has(name) ? 'gauge' : isCount ? 'counter' : 'summary';
  const family = `steadfast_${snake}${isCount ? '' : '_seconds'}${type === 'counter' ? '_total' : ''}`;
  const valueOf = (sum: number): number => (isCount ? sum : sum / 1_000);
  const lines = [...byLabels].flatMap(([labels, { sum, count }]) =>
    type === 'summary'
      ? [`${family}_sum{${labels}} ${valueOf(sum)}`, `${family}_count{${labels}} ${count}`]
      : [`${family}{${labels}} ${valueOf(sum)}`],
  );
  return `# TYPE ${family} ${type}\n${lines.join('\n')}\n`;
}
