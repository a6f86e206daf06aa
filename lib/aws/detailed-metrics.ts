/**
 * Metrics by workflow and by agent, if a deployment asks for them: CloudWatch charges for each separately.
 *
 * Owns: which values of a note count for its workflow, and which for its agent. Does not own: which metrics
 * there are (`names.ts`), the metrics of the deployment (`metrics.ts`).
 */

import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Note, NoteOrigin } from '../core/decisions/decision.ts';
import { DETAILED_METRICS, type DetailBy, METRICS_NAMESPACE } from './names.ts';

export interface DetailedMeter {
  readonly add: (
    values: Readonly<Record<string, number>>,
    note: Note,
    origin: NoteOrigin | undefined,
  ) => void;
  readonly flush: () => void;
}

/** @param agent the agent whose function this is, if any */
export function detailedMeter(
  deployment: string,
  by: ReadonlySet<DetailBy>,
  agent: string | undefined,
): DetailedMeter {
  const meters = new Map<string, Metrics>();
  const meterOf = (dimension: DetailBy, value: string): Metrics => {
    const key = `${dimension} ${value}`;
    const known =
      meters.get(key) ??
      new Metrics({
        namespace: METRICS_NAMESPACE,
        serviceName: deployment,
        defaultDimensions: { [dimension]: value },
      });
    meters.set(key, known);
    return known;
  };
  const addTo = (
    dimension: DetailBy,
    of: string | undefined,
    values: Readonly<Record<string, number>>,
  ): void => {
    if (of === undefined || !by.has(dimension)) return;
    const units: Readonly<Record<string, 'Count' | 'Milliseconds'>> = DETAILED_METRICS[dimension];
    for (const [name, value] of Object.entries(values)) {
      const unit = units[name];
      if (unit !== undefined) meterOf(dimension, of).addMetric(name, unit, Math.max(0, value));
    }
  };
  return {
    add: (values, note, origin) => {
      const { workflow, lastedMs } = origin ?? {};
      const isEnd = Object.keys(values).some((name) => ENDS.has(name));
      const duration = isEnd && lastedMs !== undefined ? { Duration: lastedMs } : {};
      addTo('workflow', workflow, { ...values, ...duration });
      addTo('agent', note.agent ?? agent, values);
    },
    flush: () => {
      for (const meter of meters.values()) if (meter.hasStoredMetrics()) meter.publishStoredMetrics();
    },
  };
}

const ENDS: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Compensated', 'Canceled']);
