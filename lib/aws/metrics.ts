/**
 * Turns notes into metrics: CloudWatch's embedded metric format, one log line for each invocation.
 *
 * Owns: which note is which metric. Does not own: the metrics' names (`names.ts`),
 * the log lines (`telemetry.ts`).
 *
 * A line costs no call. CloudWatch charges for each metric and each combination of dimensions, in hours in
 * which it is written. So all metrics have one dimension, the deployment, and a count of none is not written.
 * The agent's name is a field of the line, for queries. A deployment that needs metrics by workflow or by
 * agent gets separate lines for them (`detailed-metrics.ts`).
 */

import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Note } from '../core/decisions/decision.ts';
import { CANARY, isBuiltIn } from '../core/plan/built-in.ts';
import type { Log } from '../core/ports.ts';
import type { OpenNow } from './open-now.ts';
import { detailedMeter } from './detailed-metrics.ts';
import { type DetailBy, type MetricName, METRICS, METRICS_NAMESPACE } from './names.ts';

type MetricValues = (note: Note) => Partial<Record<MetricName, number>>;

const one = (...names: readonly MetricName[]): MetricValues => {
  const values = Object.fromEntries(names.map((name) => [name, 1]));
  return () => values;
};

const claimed: MetricValues = ({ detail, attempt = 1, ms = 0 }) => {
  const claim = { TimeToClaim: ms };
  if (detail === 'probe') return { ...claim, Probes: 1 };
  if (detail === 'undo') return { ...claim, Undos: 1 };
  return { ...claim, Attempts: 1, ...(attempt > 1 ? { Retries: 1 } : {}) };
};

const recovered = ({ ms }: Note): ReturnType<MetricValues> => (ms === undefined ? {} : { TimeToRecover: ms });

/** The most values of one metric that CloudWatch takes in a line. */
const MOST_VALUES = 100;

/** Every note that is a metric. The others are for the log alone. */
export const METRICS_OF_NOTES: Readonly<Record<string, MetricValues>> = {
  started: one('Started'),
  succeeded: one('Succeeded'),
  failed: one('Failed'),
  compensated: one('Compensated'),
  canceled: one('Canceled'),
  claimed,
  'carried-on': one('CarriedOn'),
  'step-done': (note) => ({ StepsDone: 1, ...recovered(note) }),
  'step-failed': one('StepsFailed'),
  'step-unknown': one('Unknowns'),
  adopted: (note) => ({ StepsDone: 1, Adoptions: 1, ...recovered(note) }),
  // The attempt's outcome is unknown if its lease is lost; a lost probe or undo is simply made again.
  'lease-ended': ({ detail, ms = 0 }) => ({
    LeasesLost: 1,
    TimeToDetect: ms,
    ...(detail === 'execute' ? { Unknowns: 1 } : {}),
  }),
  // The death is recorded under the lease, so no lost lease is counted.
  'process-died': ({ detail }) => (detail === 'execute' ? { Unknowns: 1 } : {}),
  dispatched: one('Dispatches'),
  'breaker-opened': one('BreakersOpened'),
  'breaker-closed': one('BreakersClosed'),
  deferred: one('Deferred'),
  'agent-missing': one('AgentsMissing'),
  'at-risk': one('AtRisk'),
  'incident-opened': one('IncidentsOpened'),
  'incident-resolved': one('IncidentsClosed'),
  'incident-timed-out': one('IncidentsClosed'),
  'incident-moot': one('IncidentsClosed'),
  'wake-time-healed': one('WakeTimesHealed'),
  'audit-failed': one('RecordsUnaudited'),
  'value-lost': one('RecordsUnaudited'),
  'clock-skewed': one('ClocksSkewed'),
};

/** The metrics of a supervisor's tick. */
export interface Sweeps {
  readonly made: number;
  readonly oldestOverdueMs: number;
  readonly failed: number;
}

export interface Meter extends Log {
  readonly swept: (sweeps: Sweeps) => void;
  readonly open: (now: OpenNow) => void;
  /** Call when a run of the audit is over. */
  readonly audited: (run: { readonly removed: number; readonly ageMs: number }) => void;
  /** Writes the line, unless it would be empty. Call at the end of every invocation. */
  readonly flush: () => void;
}

export interface MeterOptions {
  readonly deployment: string;
  /** Fields of the line besides the metrics: the role, and for an agent its name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Which of workflows and agents have metrics of their own. @default neither */
  readonly by?: ReadonlySet<DetailBy>;
  /** Takes each line of the deployment's metrics. @default - they go to standard output */
  readonly onLine?: (line: string) => void;
}

export function createMeter(options: MeterOptions): Meter {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: options.deployment });
  const { deployment, by = new Set(), fields } = options;
  const detailed = detailedMeter(deployment, by, fields['agent']);
  const counts = new Map<MetricName, number>();
  /** How many values each metric has in the line. */
  const sizes = new Map<MetricName, number>();
  /** Adds up a counter to one number in the line, so that the line's length does not depend on the load. */
  const count = (values: Partial<Record<MetricName, number>>): void => {
    for (const name of Object.keys(values) as MetricName[]) {
      const value = values[name] ?? 0;
      if (METRICS[name] === 'Count') counts.set(name, (counts.get(name) ?? 0) + value);
      else add({ [name]: value });
    }
  };
  const add = (values: Partial<Record<MetricName, number>>): void => {
    for (const name of Object.keys(values) as MetricName[]) {
      // With one more value, the library would write the line itself, without the fields and `onLine`.
      if (sizes.get(name) === MOST_VALUES - 1) write();
      sizes.set(name, (sizes.get(name) ?? 0) + 1);
      // The clocks of two machines may differ, so a duration may be negative.
      metrics.addMetric(name, METRICS[name], Math.max(0, values[name] ?? 0));
    }
  };
  const write = (): void => {
    sizes.clear();
    if (!metrics.hasStoredMetrics()) return;
    for (const [key, value] of Object.entries(options.fields)) metrics.addMetadata(key, value);
    if (options.onLine === undefined) metrics.publishStoredMetrics();
    else options.onLine(JSON.stringify(metrics.serializeMetrics()));
    metrics.clearMetrics();
  };
  return {
    note: (note, origin) => {
      if (note.what === 'succeeded' && origin?.workflow === CANARY.name) add({ CanaryEnded: 1 });
      // The built-in workflows and agents of a deployment do not count in its rates.
      if ([origin?.workflow, note.agent, fields['agent']].some(isBuiltIn)) return;
      const values = METRICS_OF_NOTES[note.what]?.(note) ?? {};
      count(values);
      detailed.add(values, note, origin);
    },
    swept: ({ made, oldestOverdueMs, failed }) => {
      add({ Sweeps: made, OldestOverdue: oldestOverdueMs });
      if (failed > 0) count({ EvaluationsFailed: failed });
    },
    open: ({ incidents, entries, breakers }) =>
      add({ OpenIncidents: incidents, OpenEntries: entries, OpenBreakers: breakers }),
    audited: ({ removed, ageMs }) => {
      add({ AuditAge: ageMs });
      if (removed > 0) count({ LeftoversRemoved: removed });
    },
    flush: () => {
      detailed.flush();
      for (const [name, value] of counts) add({ [name]: value });
      counts.clear();
      write();
    },
  };
}
