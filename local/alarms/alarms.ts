/**
 * Evaluates the stack's alarms over one metric each minute, and sends changes to the queues that subscribe to
 * their topics. Does not own: where data points come from (`../metrics/`). Alarms over an expression stay
 * without data.
 *
 * Invariants
 * - I1 only complete periods count, because the current one may still get data.
 * - I2 a message is sent only when a state changes.
 *
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
import type { Clock } from '../clock.ts';
import type { MetricName } from '../metrics/embedded.ts';
import type { Periods } from '../metrics/metric-data.ts';
import { MINUTE_MS } from '../metrics/metric-store.ts';
import type { QueueDirectory } from '../sqs/queue-directory.ts';
import { isRecord, type Json } from '../template/json.ts';
import { Properties } from '../template/properties.ts';
import type { ResolvedResource } from '../template/template.ts';

export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

export interface AlarmSpec {
  readonly logicalId: string;
  readonly name: string;
  /** Absent for an alarm over an expression. */
  readonly metric: MetricName | undefined;
  readonly stat: string;
  readonly periodMs: number;
  /** How many of the last periods must be bad. */
  readonly bad: number;
  readonly of: number;
  readonly threshold: number;
  readonly comparison: string;
  readonly missing: string;
  /** The topics to notify of each state. */
  readonly actions: Readonly<Record<AlarmState, readonly string[]>>;
}

/** An alarm as the control shows it. */
export interface AlarmView {
  readonly logicalId: string;
  readonly name: string;
  readonly state: AlarmState;
}

const COMPARISONS: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
};

const texts = (all: readonly Json[]): string[] => all.filter((one) => typeof one === 'string');

export function readAlarm(resource: ResolvedResource): AlarmSpec {
  const properties = Properties.of(resource);
  const name = properties.optionalText('MetricName');
  const of = properties.number('EvaluationPeriods', 1);
  const dimensions = properties.list('Dimensions').filter(isRecord);
  return {
    logicalId: resource.logicalId,
    name: resource.physicalName,
    metric:
      name === undefined
        ? undefined
        : {
            namespace: properties.text('Namespace'),
            name,
            dimensions: Object.fromEntries(
              dimensions.map(({ Name, Value }) => [String(Name), String(Value)]),
            ),
          },
    stat: properties.optionalText('ExtendedStatistic') ?? properties.optionalText('Statistic') ?? 'Sum',
    periodMs: properties.number('Period', 60) * 1_000,
    bad: properties.number('DatapointsToAlarm', of),
    of,
    threshold: properties.number('Threshold', 0),
    comparison: properties.text('ComparisonOperator'),
    missing: properties.optionalText('TreatMissingData') ?? 'missing',
    actions: {
      OK: texts(properties.list('OKActions')),
      ALARM: texts(properties.list('AlarmActions')),
      INSUFFICIENT_DATA: texts(properties.list('InsufficientDataActions')),
    },
  };
}

/**
 * Computes the state from the last complete periods.
 * @param was the previous state, kept if missing data does not decide
 */
export function stateOf(spec: AlarmSpec, periods: Periods, now: number, was: AlarmState): AlarmState {
  const { metric, stat, periodMs, of, bad, threshold, comparison, missing } = spec;
  const isBad = COMPARISONS[comparison];
  if (metric === undefined || isBad === undefined) return 'INSUFFICIENT_DATA';
  const to = Math.floor(now / periodMs) * periodMs;
  const points = new Map(periods(metric, to - of * periodMs, to, periodMs));
  const values = Array.from({ length: of }, (_, n) => points.get(to - (n + 1) * periodMs)?.stat(stat));
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0 && missing === 'missing') return 'INSUFFICIENT_DATA';
  if (known.length === 0 && missing === 'ignore') return was;
  const unknown = missing === 'breaching' ? of - known.length : 0;
  return known.filter((value) => isBad(value, threshold)).length + unknown >= bad ? 'ALARM' : 'OK';
}

export interface AlarmParts {
  readonly resources: ReadonlyMap<string, ResolvedResource>;
  readonly periods: Periods;
  readonly queues: QueueDirectory;
  readonly clock: Clock;
}

export class Alarms {
  readonly #parts: AlarmParts;
  readonly #specs: readonly AlarmSpec[];
  readonly #states = new Map<string, AlarmState>();
  #cancel: () => void = () => undefined;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
    this.#specs = [...parts.resources.values()]
      .filter(({ type }) => type === 'AWS::CloudWatch::Alarm')
      .map((resource) => readAlarm(resource));
  }

  /** Evaluates every minute, as CloudWatch does. */
  start(): void {
    this.#cancel = this.#parts.clock.setTimer(MINUTE_MS, () => {
      this.evaluate();
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  evaluate(): void {
    const { periods, clock } = this.#parts;
    for (const spec of this.#specs)
      this.#become(spec, stateOf(spec, periods, clock.now(), this.#stateOf(spec)));
  }

  list(): AlarmView[] {
    return this.#specs.map((spec) => ({
      logicalId: spec.logicalId,
      name: spec.name,
      state: this.#stateOf(spec),
    }));
  }

  /** Sets a state until the next evaluation. */
  set(logicalId: string, state: AlarmState): void {
    const spec = this.#specs.find((one) => one.logicalId === logicalId);
    if (spec !== undefined) this.#become(spec, state);
  }

  #stateOf({ logicalId }: AlarmSpec): AlarmState {
    return this.#states.get(logicalId) ?? 'INSUFFICIENT_DATA';
  }

  #become(spec: AlarmSpec, state: AlarmState): void {
    const was = this.#stateOf(spec);
    this.#states.set(spec.logicalId, state);
    if (state === was) return;
    const { resources, queues, clock } = this.#parts;
    const Message = JSON.stringify({
      AlarmName: spec.name,
      NewStateValue: state,
      OldStateValue: was,
      StateChangeTime: new Date(clock.now()).toISOString(),
    });
    for (const { type, properties } of resources.values()) {
      const { TopicArn, Endpoint, Protocol } = properties;
      if (type !== 'AWS::SNS::Subscription' || Protocol !== 'sqs' || typeof Endpoint !== 'string') continue;
      if (!spec.actions[state].includes(String(TopicArn))) continue;
      queues.byArn(Endpoint)?.send({ body: JSON.stringify({ Type: 'Notification', TopicArn, Message }) });
    }
  }
}
