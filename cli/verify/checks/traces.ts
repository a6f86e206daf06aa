/** Checks the traces of the executions of `executions.ts`: logs, metrics, dead letters. */

import { METRICS, type MetricName } from '../../../lib/aws/names.ts';
import { finding, type Run } from '../check.ts';
import { until } from '../starting.ts';

/** Makes a check that no function's log contains any of the texts. */
const silent =
  (...texts: readonly string[]): Run =>
  async ({ logs }) =>
    finding(
      (await logs(texts)).map((line) => excerpt(line, texts)),
      `no line has ${texts.join(' or ')}`,
    );

/** Cuts a long line around the text. */
function excerpt(line: string, texts: readonly string[]): string {
  const at = Math.max(0, ...texts.map((text) => line.indexOf(text)));
  return line.slice(Math.max(0, at - BEFORE_CHARS), at + AFTER_CHARS);
}
const BEFORE_CHARS = 100;
const AFTER_CHARS = 400;

/** How long a check waits for a metric: a new log group may need minutes. */
const METRIC_WITHIN_MS = 5 * 60_000;
/** Metrics that every run writes. */
const EMITTED: readonly MetricName[] = [
  'Started',
  'Succeeded',
  'Compensated',
  'Canceled',
  'Attempts',
  'Probes',
  'Undos',
  'Unknowns',
  'StepsDone',
  'IncidentsOpened',
];

export const TRACES: Readonly<Record<string, Run>> = {
  permissions: silent('AccessDenied', 'KMSAccessDenied'),
  'direct-calls': silent('SignatureDoesNotMatch', 'UnknownOperation', 'IncompleteSignature'),
  credentials: silent('no AWS credentials'),
  metrics: async (ports) => {
    const missing: string[] = [];
    for (const name of EMITTED) {
      const sum = await until(ports, () => ports.metric(name), METRIC_WITHIN_MS);
      if (!((sum ?? 0) > 0)) missing.push(`${name} has no data`);
    }
    return finding(missing, `${EMITTED.length} of ${Object.keys(METRICS).length} names, each with data`);
  },
  sweeps: async (ports) => {
    const sum = await until(ports, () => ports.metric('Sweeps'), METRIC_WITHIN_MS);
    return finding((sum ?? 0) > 0 ? [] : ['no supervisor has swept'], `${sum ?? 0} sweeps`);
  },
  'dead-letters': async ({ queues: all }) => {
    const queues = await all();
    const dead = queues.filter(({ name }) => queues.some(({ deadLetters }) => deadLetters === name));
    const full = dead.filter(({ depth }) => depth > 0);
    return finding(
      full.map(({ name, depth }) => `${name} has ${depth}`),
      `${dead.length} queues empty`,
    );
  },
  'nothing-open': async (ports) => {
    const open = await until(ports, async () => {
      const { items } = await ports.api.list({ status: 'open', limit: 100 });
      return items.some(({ workflow }) => workflow.startsWith('verify-')) ? undefined : 0;
    });
    return finding(open === 0 ? [] : ['an execution is still open'], 'none');
  },
};
