/**
 * A service that answers no call counts as unhealthy, even if the calls are few and their outcomes are
 * resolved later.
 */

import { done } from '../../lib/core/plan/answers.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { healthOf } from '../../lib/api/health.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const HOUR = 3_600_000;
const timesOut = new Error('the attempt took longer than 2 s');
const probed = workflow('probed', { input: anyObject, within: '40m' }, (w) => {
  w.step('ship', anAgent('carrier', { effect: 'probed' }), {});
}) as Workflow;
const refunds = workflow('refunds', { input: anyObject, within: '40m' }, (w) => {
  w.step('ship', anAgent('carrier', { effect: 'idempotent' }), {});
}) as Workflow;

function open(flow: Workflow) {
  const service: { failure: Error | undefined } = { failure: timesOut };
  const carrier = {
    execute: async () => {
      if (service.failure !== undefined) throw service.failure;
      return {};
    },
    probe: async () => done({}),
    undo: async () => undefined,
  };
  const writes: unknown[] = [];
  const breakers = memoryBreakers();
  const write: typeof breakers.write = (record) => (writes.push(record), breakers.write(record));
  const wrap = (world: MemoryWorld): Ports => ({ ...world, breakers: { ...breakers, write } });
  const h = harness(flow, { carrier }, 1, wrap);
  /** One call an hour. */
  const hours = async (count: number): Promise<void> => {
    for (let hour = 0; hour < count; hour += 1) {
      const { id } = await h.begin();
      await h.run(id);
      h.clock.advanceTo(h.clock.now() + HOUR);
    }
  };
  const said = async (): Promise<string> => {
    const { status, says } = await healthOf(h.scheduler);
    return `${status}: ${says}`;
  };
  return { h, service, hours, said, writes };
}

test('each call times out, and its probe says done: from the third on it is said, since the first', async () => {
  const { hours, said, service } = open(probed);
  await hours(2);
  expect(await said()).toMatch(/^healthy/);
  await hours(3);
  expect(await said()).toMatch(
    /^degraded: Agent 'carrier' has answered none of at least 5 calls since .* \(5 h\) \(Error: the attempt took longer than 2 s\); no execution is at risk because of it; /,
  );
  service.failure = undefined;
  await hours(1);
  expect(await said()).toMatch(/^healthy/);
});

test('the same of calls that fail for certain, whose executions have ended', async () => {
  const { hours, said, service } = open(refunds);
  service.failure = new TransientError('503');
  await hours(3);
  expect(await said()).toMatch(/^degraded: Agent 'carrier' has answered none of at least \d+ calls since/);
  service.failure = new PermanentError('no such address');
  await hours(1);
  expect(await said()).toMatch(/^healthy/);
});

test('an answer in between ends it and costs one write; an agent that was not called for a day is not mentioned', async () => {
  const { h, hours, said, service, writes } = open(probed);
  await hours(2);
  service.failure = undefined;
  writes.length = 0;
  await hours(3);
  expect(writes).toHaveLength(1);
  service.failure = timesOut;
  await hours(2);
  expect(await said()).toMatch(/^healthy/);
  await hours(1);
  expect(await said()).toMatch(/^degraded/);
  h.clock.advanceTo(h.clock.now() + 24 * HOUR);
  expect(await said()).toMatch(/^healthy/);
});
