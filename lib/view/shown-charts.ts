/** The shapes of the charts as the console's server gives them to its page. */

import type { ChartUnit } from '../aws/charts.ts';

export interface ShownLine {
  /** What it is of: an end, a workflow, an agent. It comes from outside. */
  readonly label: string;
  /** A value for each period, from the first on; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Over the whole time: of counts their sum, of a share that of all, of anything else the highest. */
  readonly over: number;
  readonly isHighest: boolean;
}

export interface ShownChart {
  readonly title: string;
  readonly unit: ChartUnit;
  /** Lines with at least one value; of workflows, agents and queues the worst first. */
  readonly lines: readonly ShownLine[];
}

export interface ShownCharts {
  readonly fromAt: number;
  readonly everyMs: number;
  readonly periods: number;
  /** When the code that runs began to, if that was within this time. */
  readonly startedAt?: number;
  /** How many metrics were asked for, which is what CloudWatch charges for. */
  readonly asked: number;
  readonly deployment: readonly ShownChart[];
  readonly queue: readonly ShownChart[];
  /** Absent where it has no such metrics (`metricsBy`). */
  readonly workflow?: readonly ShownChart[];
  readonly agent?: readonly ShownChart[];
}
