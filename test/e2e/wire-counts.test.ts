/**
 * The AWS calls of an order without faults, counted by the local cloud. There is no supervisor, whose repair
 * could hide a missing message (C1).
 */

import { setTimeout as turn } from 'node:timers/promises';
import { DEFAULT_WAKE_SHARDS } from '../../lib/aws/names.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: false, present: true });
});
afterAll(() => stage.strike());

const AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'] as const;

/** Counts calls by function (without its hash), operation and index. */
function counts(): Map<string, number> {
  const sum = new Map<string, number>();
  for (const { caller, operation, calls } of stage.cloud.control.calls()) {
    const name = stage.cloud.control.functions().find((one) => one.logicalId === caller)?.logicalId ?? caller;
    const role = AGENTS.find((agent) => name.toLowerCase().includes(agent.replace('-', ''))) ?? 'scheduler';
    sum.set(`${role} ${operation}`, (sum.get(`${role} ${operation}`) ?? 0) + calls);
  }
  return sum;
}

const total = (all: Map<string, number>, test: (key: string) => boolean): number =>
  [...all].filter(([key]) => test(key)).reduce((sum, [, calls]) => sum + calls, 0);

/** Counts the calls of one order. */
async function measured(orderId: string): Promise<Map<string, number>> {
  stage.cloud.control.resetCalls();
  expect(await stage.ended(await stage.startOrder(orderId))).toMatchObject({ status: 'succeeded' });
  return counts();
}

/**
 * The orders to measure; the one with the fewest calls is judged. A busy machine can only add calls: if both
 * branches write at once, one reads again, and a new process reads records that others have cached.
 */
const ORDERS = 4;

describe('a fault-free order without a supervisor', () => {
  it('ends, with two writes, one message and one read a step (two where branches join)', async () => {
    // The first order pays for things that are then kept: the plan's write, and one read of it per process.
    const first = await stage.ended(await stage.startOrder('warm-up'));
    expect(first.status).toBe('succeeded');
    // Its last processes are still finishing; a message that finds one busy starts another, which reads its
    // breaker once.
    const isBusy = (): boolean =>
      stage.cloud.control
        .functions()
        .some(({ processes }) => processes.some(({ state }) => state === 'busy'));
    while (isBusy()) await turn(20);
    // One branch is slower, by more than a busy machine delays the other, so that they do not end at once and
    // both notify the join: two messages would be two processes.
    await fetch(`${stage.world.url}/behave`, {
      method: 'POST',
      body: JSON.stringify({ service: 'warehouse', mode: 'slow', ms: 1_500 }),
    });
    const orders: Map<string, number>[] = [];
    for (let at = 0; at < ORDERS; at += 1) orders.push(await measured(`measured-${at}`));
    const own = (all: Map<string, number>): number => total(all, (key) => !key.endsWith('GetItem'));
    const all = orders.reduce((least, one) => (own(one) < own(least) ? one : least));
    process.stdout.write(
      `${[...all]
        .map(([key, calls]) => `  ${key}: ${calls}`)
        .sort()
        .join('\n')}\n`,
    );

    for (const agent of AGENTS)
      expect([agent, all.get(`${agent} SendMessage`) ?? 0]).toEqual([agent, sendsOf[agent]]);
    for (const agent of AGENTS) expect([agent, all.get(`${agent} Query`)]).toEqual([agent, readsOf[agent]]);
    const stepWrites = AGENTS.length * 2;
    const executionWrites = 3;
    // The order itself has none of these: the test asks with `?wait`, which is written when it begins and
    // when it ends.
    const waitWrites = 2;
    expect(total(all, (key) => key.endsWith('PutItem'))).toBe(stepWrites + executionWrites + waitWrites);
    expect(total(all, (key) => key.includes('SendMessage'))).toBe(AGENTS.length);
    expect(total(all, (key) => key.endsWith('PutEvents'))).toBe(1);
    const known = ['PutItem', 'Query', 'SendMessage', 'PutEvents', 'GetItem'];
    expect(total(all, (key) => !known.some((operation) => key.endsWith(` ${operation}`)))).toBe(0);
    // A process reads at most once a minute whether a supervisor is there, and this may happen during an
    // order. Necessary reads occur in all orders.
    const reads = (agent: string): number =>
      Math.min(...orders.map((order) => order.get(`${agent} GetItem`) ?? 0));
    expect(AGENTS.map(reads)).toEqual(AGENTS.map(() => 0));
  });
});

describe('a minute in which nothing is due', () => {
  it('costs one query a shard and nothing else, once it is known that nothing is open', async () => {
    const { control } = stage.cloud;
    const beganAt = Date.now();
    await control.tick('supervisor');
    control.resetCalls();
    await control.tick('supervisor');
    const calls = new Map<string, number>();
    for (const { operation, calls: some } of control.calls())
      calls.set(operation, (calls.get(operation) ?? 0) + some);
    expect(Object.fromEntries(calls)).toEqual({ Query: DEFAULT_WAKE_SHARDS });
    // The first of them has left since when this release runs.
    const { metrics } = (await stage.request('GET', '/health')).body as { metrics: { startedAt: number } };
    expect(metrics.startedAt - beganAt).toBeGreaterThanOrEqual(0);
  });
});

/** The expected sends: the scheduler sends the first two, the branch that ends last sends to the join. */
const sendsOf: Record<string, number> = {
  'charge-card': 0,
  'reserve-stock': 1,
  'schedule-shipping': 1,
  'notify-customer': 0,
};
const readsOf: Record<string, number> = {
  'charge-card': 2,
  'reserve-stock': 2,
  'schedule-shipping': 1,
  'notify-customer': 1,
};
