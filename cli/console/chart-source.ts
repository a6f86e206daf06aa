/**
 * Answers `/console/charts` with the charts of the deployment behind this API.
 *
 * Owns: reading them at most once a minute for all pages, and the form of a refusal. Does not own: the charts
 * (`charts.ts`), who may request them (`listener.ts`).
 */

import type { Health } from '../../lib/api/deployment-answers.ts';
import { CliError, messageOf } from '../io.ts';
import { passOn, type Upstream } from './calls.ts';
import { type GetMetricData, readCharts } from './charts.ts';
import type { Refusal } from './request-checks.ts';

export interface Read {
  readonly text: string;
}

/**
 * How long an answer is reused: less than the minute between two requests of a page, which may be a little
 * early.
 */
const GOOD_FOR_MS = 50_000;

export class ChartSource {
  readonly #metrics: (port: number) => GetMetricData;
  readonly #upstream: (port: number) => Upstream;
  readonly #now: () => number;
  #latest: { readonly at: number; readonly read: Promise<Read | Refusal> } | undefined;

  constructor(
    metrics: (port: number) => GetMetricData,
    upstream: (port: number) => Upstream,
    now: () => number = Date.now,
  ) {
    this.#metrics = metrics;
    this.#upstream = upstream;
    this.#now = now;
  }

  async read(port: number, signal: AbortSignal): Promise<Read | Refusal> {
    const known = this.#latest;
    if (known !== undefined && this.#now() - known.at < GOOD_FOR_MS) return known.read;
    const latest = { at: this.#now(), read: this.#ask(port, signal) };
    this.#latest = latest;
    const found = await latest.read;
    // A refusal is not reused, because credentials may be valid at the next request.
    if ('code' in found && this.#latest === latest) this.#latest = undefined;
    return found;
  }

  async #ask(port: number, signal: AbortSignal): Promise<Read | Refusal> {
    const answer = await passOn({ method: 'GET', path: '/health', query: '' }, this.#upstream(port), signal);
    if ('code' in answer) return answer;
    try {
      const { metrics, error } = JSON.parse(answer.text) as Partial<Health> & { error?: Refusal };
      if (error !== undefined) return { ...error, status: answer.status };
      if (metrics === undefined) return NO_METRICS;
      return { text: JSON.stringify(await readCharts(metrics, this.#metrics(port), this.#now())) };
    } catch (error) {
      const code = error instanceof CliError ? error.code : 'no-charts';
      return { status: 502, code, message: messageOf(error) };
    }
  }
}

const NO_METRICS: Refusal = {
  status: 404,
  code: 'no-metrics',
  message: 'the API does not name its metrics: its version is older; deploy it again',
};
