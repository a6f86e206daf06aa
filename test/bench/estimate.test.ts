/** What a workflow costs, estimated from its plan: compared with what the benchmark counted on the wire. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';
import type { CostReport } from '../../bench/cost.ts';
import { chain5, fan5, mapped, mixed20 } from '../../bench/workflows/load/workflow.ts';
import { workflowSteps } from '../../lib/api/workflow-view.ts';
import {
  COST_DEFAULTS,
  type CostOptions,
  type Estimate,
  estimateCost,
  type PricedWorkflow,
  TOLERANCE,
} from '../../bench/parts/estimate.ts';
import { AWS_PRICES } from '../../bench/parts/aws-prices.ts';

const ROOT = join(import.meta.dirname, '../..');
const { cases } = JSON.parse(readFileSync(join(ROOT, 'bench/results/cost.json'), 'utf8')) as CostReport;

type Authored = { readonly name: string; readonly plan: Parameters<typeof workflowSteps>[0] };
const priced = ({ name, plan }: Authored): PricedWorkflow => ({ workflow: name, steps: workflowSteps(plan) });
const PLANS = { chain5, fan5, mixed20, map100: mapped } as const;

const cost = (
  one: Authored,
  options: Partial<CostOptions> = {},
  find?: (name: string) => PricedWorkflow | undefined,
): Estimate => estimateCost(priced(one), { ...COST_DEFAULTS, ...options }, AWS_PRICES, find);

/** The price of a million steps, as the benchmark has it. */
const perMillionSteps = ({ steadfastUsd, agentSteps, options }: Estimate): number =>
  (steadfastUsd / (agentSteps * options.executions)) * 1_000_000;

describe('what the benchmark has counted', () => {
  it('is of every shape, of small and large payloads, at rest and under load', () => {
    expect(cases.length).toBeGreaterThanOrEqual(22);
    expect(new Set(cases.map(({ kind }) => kind))).toEqual(new Set(Object.keys(PLANS)));
  });

  it.each(cases.map((one) => [`${one.kind} ${one.payloadBytes} B ${one.mode}`, one] as const))(
    '%s is estimated within the tolerance that is said',
    (_, { kind, payloadBytes, messagesPerInvocation, steps, executions, usdPerMillionSteps, units }) => {
      const found = cost(PLANS[kind], { payloadBytes, batch: messagesPerInvocation, items: 100, workMs: 0 });
      expect(found.agentSteps).toBe(steps / executions);
      expect(Math.abs(perMillionSteps(found) / usdPerMillionSteps - 1)).toBeLessThanOrEqual(TOLERANCE);
      // Writes are the largest part, and follow from the plan alone.
      expect(Math.abs(found.units.writeUnits / units.writeUnits - 1)).toBeLessThanOrEqual(0.02);
    },
  );
});

const Text = z.object({ data: z.string() });
const echo = agent('echo', { input: Text, output: Text, effect: 'idempotent', lease: '30s', undo: 'none' });
const one = workflow('one', { input: Text, within: '1h' }, (w) => w.step('only', echo, w.input).output);

describe('an estimate', () => {
  it('has the requests to the bucket where payloads are above 32 KB, and records without them', () => {
    const small = cost(chain5, { payloadBytes: 32 * 1_024 });
    expect([small.units.bucketPuts, small.units.bucketGets]).toEqual([0, 0]);
    const large = cost(chain5, { payloadBytes: 1_024 * 1_024 });
    // The input and five outputs, each of which the next step, or the end, reads.
    expect([large.units.bucketPuts, large.units.bucketGets]).toEqual([6, 6]);
    expect(large.units.writeUnits).toBeLessThan(small.units.writeUnits / 4);
    expect(large.usd.bucketPuts).toBeCloseTo(30);
  });

  it('grows with the number of executions, and says the day and region of its prices', () => {
    const found = cost(chain5, { executions: 2_000_000 });
    expect(found.totalUsd).toBeCloseTo(2 * cost(chain5).totalUsd);
    expect(found.prices).toMatchObject({ asOf: '2026-11-21', region: 'us-east-1' });
    expect(found.leftOut.join()).toMatch(/failures.*heartbeats.*conditions/s);
  });

  it('has the time of the agents’ own code apart, which shrinks where one invocation does several', () => {
    const found = cost(chain5, { workMs: 1_000, memoryMb: 1_024 });
    expect(found.units.agentGbSeconds).toBe(5);
    expect(found.totalUsd - found.steadfastUsd).toBeGreaterThan(found.usd.agentGbSeconds);
    expect(cost(chain5, { workMs: 1_000, memoryMb: 1_024, batch: 10 }).units.agentGbSeconds).toBe(0.5);
  });

  it('adds a wait, and more for a person, who is asked by events and answers by a call', () => {
    const waits = workflow('waits', { input: Text, within: '30d' }, (w) => {
      w.wait('pause', { for: '1d', after: [w.step('only', echo, w.input)] });
      return {};
    });
    const asks = workflow('asks', { input: Text, within: '30d' }, (w) => {
      w.approval('allow', { within: '20d', after: [w.step('only', echo, w.input)] });
      return {};
    });
    const [plain, waiting, asking] = [cost(one), cost(waits), cost(asks)];
    expect(waiting.units.writeUnits - plain.units.writeUnits).toBeCloseTo(7.1);
    expect(asking.units.writeUnits - plain.units.writeUnits).toBe(16);
    expect(asking.units.events - plain.units.events).toBe(2);
    expect(asking.units.apiRequests - plain.units.apiRequests).toBe(1);
  });

  it('adds the executions of another workflow, and says so where that is not known', () => {
    const parent = workflow('parent', { input: Text, within: '1h' }, (w) => {
      w.child('below', chain5, w.input);
      return {};
    });
    const known = cost(parent, { payloadBytes: 100 }, (name) =>
      name === 'chain5' ? priced(chain5) : undefined,
    );
    expect(known.agentSteps).toBe(5);
    // Counted on the wire: 6 of its own, 16 of the child, 9 between them.
    expect(known.units).toMatchObject({ writeUnits: 31, events: 2, lambdaRequests: 6, sqsRequests: 15 });
    const unknown = cost(parent, { payloadBytes: 100 });
    expect(unknown.agentSteps).toBe(0);
    expect(unknown.leftOut.at(-1)).toBe("executions of 'chain5': this project does not have that workflow");
  });

  it('counts a list of workflows by its items', () => {
    const each = workflow('each', { input: z.object({ items: z.array(Text) }), within: '1h' }, (w) => {
      w.map('all', chain5, w.input.items, (item) => item);
      return {};
    });
    const find = (): PricedWorkflow => priced(chain5);
    const found = cost(each, { payloadBytes: 100, items: 50 }, find);
    expect(found.agentSteps).toBe(250);
    // Counted on the wire: 1,393 writes, 51 events.
    expect(found.units.events).toBe(51);
    expect(found.units.writeUnits / 1_393).toBeCloseTo(1, 1);
  });

  it('refuses a workflow that runs itself', () => {
    const self: PricedWorkflow = {
      workflow: 'self',
      steps: [{ name: 'again', kind: 'child', after: [], workflow: 'self' }],
    };
    expect(() => estimateCost(self, COST_DEFAULTS, AWS_PRICES, () => self)).toThrow("'self' runs itself");
  });
});
