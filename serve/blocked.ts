/**
 * Finds which step blocks the event loop, and for how long.
 *
 * Owns: the line in the log. Does not own: keeping leases valid during a block (`loop-clock.ts`).
 *
 * It measures how long an author's function runs before its first `await`: such a block is certainly that
 * step's. A later block may belong to any step in progress, so all are named.
 */

import { correlated } from '../lib/aws/telemetry.ts';
import { performance } from 'node:perf_hooks';
import type { AttemptContext, Implementation } from '../lib/core/plan/agent.ts';
import { BLOCKED_MS } from './loop-clock.ts';

/** The most steps in one log line. */
const MOST_NAMED = 5;

export interface Blocked {
  readonly ms: number;
  /** The step that certainly blocked, or all steps in progress. */
  readonly steps: readonly { readonly agent: string; readonly step: string; readonly executionId: string }[];
  readonly isCertain: boolean;
}

type Running = Blocked['steps'][number];

export class BlockedSteps {
  readonly #log: (blocked: Blocked) => void;
  readonly #underWay = new Set<Running>();
  #named = false;

  constructor(log: (blocked: Blocked) => void) {
    this.#log = log;
  }

  /** Records that the loop was blocked for this long. */
  readonly noticed = (ms: number): void => {
    if (!this.#named) {
      const steps = [...this.#underWay].slice(0, MOST_NAMED);
      this.#log({ ms: Math.round(ms), steps, isCertain: steps.length === 1 });
    }
    this.#named = false;
  };

  /** Wraps an implementation to measure its blocking time. */
  measured(agent: string, own: Implementation<unknown, unknown>): Implementation<unknown, unknown> {
    const timed = <Result>(ctx: AttemptContext, call: () => Promise<Result>): Promise<Result> =>
      this.#timed({ agent, step: ctx.step, executionId: ctx.executionId }, call);
    const { probe, undo } = own;
    return {
      execute: (ctx, input) => timed(ctx, () => own.execute(ctx, input)),
      ...(probe === undefined
        ? {}
        : { probe: (ctx, input) => timed(ctx, () => probe.call(own, ctx, input)) }),
      ...(undo === undefined
        ? {}
        : { undo: (ctx, input, output) => timed(ctx, () => undo.call(own, ctx, input, output)) }),
    };
  }

  async #timed<Result>(running: Running, call: () => Promise<Result>): Promise<Result> {
    this.#underWay.add(running);
    const beganAt = performance.now();
    try {
      const result = call();
      const ms = performance.now() - beganAt;
      if (ms >= BLOCKED_MS) {
        this.#named = true;
        this.#log({ ms: Math.round(ms), steps: [running], isCertain: true });
      }
      return await result;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

/** Adds the step and its execution as fields if the step is certain, so that a log query finds the line. */
export function lineOf({ ms, steps, isCertain }: Blocked): Record<string, unknown> {
  const [one] = steps;
  if (isCertain && one !== undefined) return { ms, ...correlated(one) };
  return { ms, oneOf: steps.map(({ agent, step, executionId }) => `${agent} ${executionId}/${step}`) };
}
