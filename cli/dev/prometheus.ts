/**
 * `GET /metrics` of the local cloud, as `serve` answers it: totals since the start of the cloud.
 *
 * Owns: which lines of functions and workers count, and their labels. Does not own: the totals and their text
 * (`serve/metric-totals.ts`), what CloudWatch's calls answer (`local/metrics/`).
 *
 * The code of authors writes lines, too, and in any namespace: only metrics of ours count, and only labels
 * that need no escape.
 */

import type { RequestListener } from 'node:http';
import { METRICS, METRICS_NAMESPACE } from '../../lib/aws/names.ts';
import { measuredBy } from '../../local/metrics/embedded.ts';
import { METRICS_TYPE, MetricTotals } from '../../serve/metric-totals.ts';

const LABEL = /^[\w./:-]{1,255}$/;

export class Prometheus {
  readonly #totals = new MetricTotals();

  readonly line = (line: string): void => {
    for (const { namespace, name, dimensions, values } of measuredBy(line)) {
      const { service, ...detailed } = dimensions;
      // Metrics of one workflow or agent have another dimension, and are in the totals already.
      const isOurs = namespace === METRICS_NAMESPACE && Object.hasOwn(METRICS, name);
      if (!isOurs || service === undefined || Object.keys(detailed).length > 0) continue;
      const { role, agent } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      const labels = Object.entries({ deployment: service, role, agent }).filter(
        (label): label is [string, string] => typeof label[1] === 'string' && LABEL.test(label[1]),
      );
      this.#totals.add(Object.fromEntries(labels), name, values);
    }
  };

  readonly listener: RequestListener = ({ method }, response) => {
    response.writeHead(200, { 'content-type': METRICS_TYPE });
    response.end(method === 'HEAD' ? undefined : this.#totals.text());
  };
}
