/**
 * Finds which step or schema blocks the event loop, and for how long.
 *
 * Owns: the line in the log. Does not own: keeping leases valid during a block (`loop-clock.ts`).
 *
 * It measures how long an author's function runs before its first `await`: such a block is certainly that
 * step's. A later block may belong to any step in progress, so all are named. If none is in progress, because
 * agents run apart, the schema that was given a value last is named.
 */

import { correlated } from '../lib/aws/telemetry.ts';
import { performance } from 'node:perf_hooks';
import type { AttemptContext, Implementation } from '../lib/core/plan/agent.ts';
import type { IssuesInParts } from '../lib/core/values/issues.ts';
import { defined } from '../lib/core/values/defined.ts';
import { issuesInParts } from '../lib/engine/check-in-parts.ts';
import { BLOCKED_MS, TURN_MS } from './loop-clock.ts';
import type { Served } from './workflows.ts';

/** The most steps in one log line. */
const MOST_NAMED = 5;

export interface Blocked {
  readonly ms: number;
  /** The step that certainly blocked, or all steps in progress. */
  readonly steps: readonly { readonly agent: string; readonly step: string; readonly executionId: string }[];
  readonly isCertain: boolean;
  /** If there are none: whose schema may have blocked. */
  readonly schema?: string;
}

type Running = Blocked['steps'][number];

export class BlockedSteps {
  readonly #log: (blocked: Blocked) => void;
  readonly #underWay = new Set<Running>();
  #named = false;
  #checked: { readonly schema: string; readonly at: number } | undefined;

  constructor(log: (blocked: Blocked) => void) {
    this.#log = log;
  }

  /** Records that the loop was blocked for this long. */
  readonly noticed = (ms: number): void => {
    if (!this.#named) {
      const steps = [...this.#underWay].slice(0, MOST_NAMED);
      const { schema, at = Number.NEGATIVE_INFINITY } = this.#checked ?? {};
      const isSchema = steps.length === 0 && performance.now() - at <= ms + 2 * TURN_MS;
      const line = { ms: Math.round(ms), steps, isCertain: steps.length === 1 };
      this.#log({ ...line, ...(isSchema ? defined({ schema }) : {}) });
    }
    this.#named = false;
  };

  /** Wraps the check in parts, which precedes the check of every value. */
  checking({ workflows, agents }: Pick<Served, 'workflows' | 'agents'>): IssuesInParts {
    const names = new Map<unknown, string>();
    for (const [name, { worker }] of agents)
      for (const what of ['input', 'output'] as const)
        names.set(worker.agent[what], `the ${what}'s schema of agent '${name}'`);
    for (const one of workflows.flatMap((workflow) => [workflow, ...workflow.children])) {
      for (const [name, schema] of Object.entries({ ...one.callbacks, ...one.messages }))
        names.set(schema, `the schema of '${name}' of workflow '${one.name}'`);
      names.set(one.input, `the input's schema of workflow '${one.name}'`);
    }
    return (schema, value, most) => {
      const known = names.get(schema);
      if (known !== undefined) this.#checked = { schema: known, at: performance.now() };
      return issuesInParts(schema, value, most);
    };
  }

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
export function lineOf({ ms, steps, isCertain, schema }: Blocked): Record<string, unknown> {
  const [one] = steps;
  if (isCertain && one !== undefined) return { ms, ...correlated(one) };
  if (schema !== undefined) return { ms, oneOf: [schema] };
  return { ms, oneOf: steps.map(({ agent, step, executionId }) => `${agent} ${executionId}/${step}`) };
}
