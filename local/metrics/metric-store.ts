/**
 * Stores the metrics of the last hours by the minute: those in programs' logs, and those of the cloud's own
 * queues and functions. Does not own: reading a line (embedded.ts), queries (metric-data.ts).
 *
 * Invariants
 * - I1 the numbers of metrics and of minutes in each are limited. Further ones are left out; this is
 *   reported once.
 * - I2 no start or stop fails because the file cannot be read or written: the metrics then begin anew.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { Distribution, type KeptDistribution } from './distribution.ts';
import { measuredBy, type MetricName } from './embedded.ts';

export const MINUTE_MS = 60_000;
/** Twice what a dashboard shows. */
export const KEPT_MS: number = 6 * 3_600_000;
export const MOST_METRICS = 1_000;

interface Series {
  readonly metric: MetricName;
  /** The values of each minute since 1970. */
  readonly minutes: Map<number, Distribution>;
}

export interface MetricStoreOptions {
  readonly clock: Clock;
  /** The file that stores the metrics between starts. @default none */
  readonly file?: string;
  readonly onProblem: (message: string) => void;
}

export class MetricStore {
  readonly #options: MetricStoreOptions;
  readonly #series = new Map<string, Series>();
  #isFull = false;

  constructor(options: MetricStoreOptions) {
    this.#options = options;
    this.#read();
  }

  /** Reads a line that a program wrote. */
  readonly line = (line: string): void => {
    for (const { at, values, ...metric } of measuredBy(line))
      for (const value of values) this.add(metric, value, at);
  };

  add(metric: MetricName, value: number, at: number = this.#options.clock.now()): void {
    const minutes = this.#isKept(at) ? this.#minutesOf(metric) : undefined;
    if (minutes === undefined) return;
    const minute = Math.floor(at / MINUTE_MS);
    const values = minutes.get(minute) ?? new Distribution();
    values.add(value);
    minutes.set(minute, values);
    if (minutes.size > KEPT_MS / MINUTE_MS) this.#forget(minutes);
  }

  /** @returns the values by period, in order, without empty periods */
  periods(metric: MetricName, fromMs: number, toMs: number, periodMs: number): [number, Distribution][] {
    const found = new Map<number, Distribution>();
    for (const [minute, values] of this.#series.get(keyOf(metric))?.minutes ?? []) {
      const at = minute * MINUTE_MS;
      if (at < fromMs || at >= toMs) continue;
      const begin = Math.floor(at / periodMs) * periodMs;
      const all = found.get(begin) ?? new Distribution();
      all.addAll(values);
      found.set(begin, all);
    }
    return [...found].sort(([one], [other]) => one - other);
  }

  /** Writes all metrics to the file. */
  keep(): void {
    const lines = [...this.#series.values()].map(({ metric, minutes }) => {
      this.#forget(minutes);
      return `${JSON.stringify({ ...metric, minutes: [...minutes] })}\n`;
    });
    const { file, onProblem } = this.#options;
    if (file === undefined) return;
    try {
      writeFileSync(file, lines.join(''));
    } catch {
      onProblem(`cannot write the metrics file ${file}`);
    }
  }

  #read(): void {
    const { file, onProblem } = this.#options;
    if (file === undefined || !existsSync(file)) return;
    try {
      const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
      for (const line of lines.slice(0, MOST_METRICS)) {
        const { minutes, ...metric } = JSON.parse(line) as KeptSeries;
        const kept = minutes.map(([minute, values]) => [minute, Distribution.from(values)] as const);
        this.#series.set(keyOf(metric), { metric, minutes: new Map(kept) });
      }
    } catch {
      this.#series.clear();
      onProblem(`cannot read the metrics of earlier runs, so they start empty: ${file}`);
    }
  }

  #minutesOf(metric: MetricName): Series['minutes'] | undefined {
    const key = keyOf(metric);
    const known = this.#series.get(key);
    if (known !== undefined) return known.minutes;
    if (this.#series.size >= MOST_METRICS) this.#makeRoom();
    if (this.#series.size >= MOST_METRICS) return undefined;
    const minutes: Series['minutes'] = new Map();
    this.#series.set(key, { metric, minutes });
    return minutes;
  }

  #makeRoom(): void {
    for (const [key, { minutes }] of this.#series) {
      this.#forget(minutes);
      if (minutes.size === 0) this.#series.delete(key);
    }
    if (this.#series.size < MOST_METRICS || this.#isFull) return;
    this.#isFull = true;
    this.#options.onProblem(`there are more than ${MOST_METRICS} metrics; others are not stored`);
  }

  #forget(minutes: Series['minutes']): void {
    for (const minute of minutes.keys()) if (!this.#isKept(minute * MINUTE_MS)) minutes.delete(minute);
  }

  /** Whether a time is recent enough: a wrong clock may have dated a measurement to another day. */
  #isKept(at: number): boolean {
    return Math.abs(this.#options.clock.now() - at) <= KEPT_MS;
  }
}

type KeptSeries = MetricName & {
  readonly minutes: readonly (readonly [minute: number, values: KeptDistribution])[];
};

/** The metric's key, unambiguous for any names. */
const keyOf = ({ namespace, name, dimensions }: MetricName): string =>
  JSON.stringify([
    namespace,
    name,
    ...Object.entries(dimensions).sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);
