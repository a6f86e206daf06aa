/** The shapes of charts as the console's server sends them to its page. */

import type { ChartUnit } from '../aws/charts.ts';

export interface ShownLine {
  /** The subject of the line: an end, a workflow, an agent. The text comes from outside. */
  readonly label: string;
  /** A value for each period, the earliest first; null for a period without one. */
  readonly values: readonly (number | null)[];
  /** The value for the whole time: the sum of counts, the overall share, otherwise the highest value. */
  readonly over: number;
  readonly isHighest: boolean;
}

export interface ShownChart {
  readonly title: string;
  readonly unit: ChartUnit;
  /** Lines with at least one value. Lines of workflows, agents and queues are sorted, the worst first. */
  readonly lines: readonly ShownLine[];
}

export interface ShownCharts {
  readonly fromAt: number;
  readonly everyMs: number;
  readonly periods: number;
  /** When the current code began to run, if that is within the time shown. */
  readonly startedAt?: number;
  /** The number of metrics read; CloudWatch charges by it. */
  readonly asked: number;
  readonly deployment: readonly ShownChart[];
  readonly queue: readonly ShownChart[];
  /** Absent if the deployment has no such metrics (`metricsBy`). */
  readonly workflow?: readonly ShownChart[];
  readonly agent?: readonly ShownChart[];
}
