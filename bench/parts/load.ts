/**
 * Runs executions, one after the other or many at once, and measures their cost.
 *
 * Owns: the shapes of workflows, warming up, the readings before and after. Does not own: the units
 * (`meter.ts`).
 */

import { between, type Reading } from './meter.ts';
import type { Shape } from './prices.ts';
import type { Stage } from './stage.ts';

export type WorkflowName = 'chain5' | 'fan5' | 'mixed20' | 'map100';

interface Kind extends Omit<Shape, 'payloadBytes'> {
  readonly workflow: string;
  readonly input: (data: string) => unknown;
}

/** Counts the steps that agents perform; joins wait inside them. */
export const KINDS: Readonly<Record<WorkflowName, Kind>> = {
  chain5: { workflow: 'chain5', steps: 5, containers: 0, input: (data) => ({ data }) },
  fan5: { workflow: 'fan5', steps: 7, containers: 1, input: (data) => ({ data }) },
  mixed20: { workflow: 'mixed20', steps: 20, containers: 2, input: (data) => ({ data }) },
  map100: {
    workflow: 'mapped',
    steps: 100,
    containers: 1,
    input: (data) => ({ items: Array.from({ length: 100 }, () => ({ data })) }),
  },
};

export interface Load {
  readonly kind: WorkflowName;
  /** Another workflow with the same shape. */
  readonly as?: string;
  readonly payloadBytes: number;
  readonly executions: number;
  readonly inFlight: number;
}

export interface Ran {
  readonly reading: Reading;
  readonly steps: number;
  readonly ms: number;
  /** The time of each execution from the request to the announcement of its end. */
  readonly latenciesMs: readonly number[];
}

/** The bytes around the payload, including quotes and key: `{"data":"…"}`. */
const FRAME_BYTES = '{"data":""}'.length;

export async function run(stage: Stage, load: Load): Promise<Ran> {
  const { steps, workflow, input } = KINDS[load.kind];
  const given = input('x'.repeat(Math.max(1, load.payloadBytes - FRAME_BYTES)));
  await stage.quiet();
  const before = stage.meter.read();
  const beganAt = performance.now();
  const latenciesMs: number[] = [];
  let left = load.executions;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const askedAt = Date.now();
      latenciesMs.push((await stage.ended(await stage.start(load.as ?? workflow, given))) - askedAt);
    }
  };
  await Promise.all(Array.from({ length: Math.min(load.inFlight, load.executions) }, client));
  const ms = performance.now() - beganAt;
  await stage.quiet();
  return {
    reading: between(before, stage.meter.read()),
    steps: load.executions * steps,
    ms,
    latenciesMs,
  };
}

/**
 * After this many executions the code is compiled and optimised as in a process that has run for some
 * minutes.
 */
const WARM_EXECUTIONS = 800;

/**
 * Publishes and caches plans and compiles code: the costs that only the first executions of a process have.
 */
export async function warmUp(stage: Stage, kinds: readonly WorkflowName[], inFlight: number): Promise<void> {
  for (const kind of kinds) await run(stage, { kind, payloadBytes: 100, executions: 3, inFlight: 3 });
  await run(stage, {
    kind: 'chain5',
    payloadBytes: 100,
    executions: WARM_EXECUTIONS,
    inFlight: Math.max(8, inFlight),
  });
}

/**
 * The percentile by nearest rank.
 * @param share in (0, 1]
 * @throws Error if there are no values: no figure without a measurement
 */
export function percentile(values: readonly number[], share: number): number {
  const found = values.toSorted((one, other) => one - other)[Math.ceil(share * values.length) - 1];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}
