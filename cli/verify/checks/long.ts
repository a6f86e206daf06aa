/**
 * Checks that take long, cost something, or end the stack: each by an option of its own.
 */

import { ApiError, type Client } from '../../../lib/api/client.ts';
import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { Ports } from '../ports.ts';
import { begin, ended, is, until } from '../starting.ts';

const THAW_MS = 15 * 60_000;
const HOUR_MS = 3_600_000;

const thaw: Check = {
  id: 'thaw',
  area: 'Executions',
  phase: 'slow',
  needs: ['probes', 'time'],
  dollars: 0.01,
  row: 'After fifteen idle minutes connections still work.',
  expected: 'succeeded; no timeout of a connection in a log',
  run: async (ports) => {
    await ports.clock.sleep(THAW_MS);
    const { executionId, status } = await ended(ports, 'verify-order', { mode: 'plain' }, 'thaw');
    const lines = await ports.logs(['TimeoutError', 'ECONNRESET']);
    return finding([...is('status', status, 'succeeded'), ...lines], executionId);
  },
};

const load: Check = {
  id: 'load',
  area: 'Executions',
  phase: 'load',
  needs: ['probes', 'time'],
  dollars: 1,
  row: 'Of 10,000 starts none is lost.',
  expected: 'every one succeeded',
  run: (ports) => loaded(ports, STARTS),
};

const teardown: Check = {
  id: 'teardown',
  area: 'Upgrade and removal',
  phase: 'teardown',
  needs: ['deployment'],
  dollars: 0,
  row: '`cdk destroy` leaves nothing of a stage that goes.',
  expected: 'no resource has the stack’s tag',
  run: async ({ deployment }) => {
    const left = await deployment.tearDown();
    return finding(
      left.map((arn) => `${arn} is still there`),
      'nothing has the tag',
    );
  },
};

const poisoned: Check = {
  id: 'poison',
  area: 'Executions',
  phase: 'slow',
  needs: ['probes', 'settings', 'time'],
  dollars: 0.01,
  row: 'A message nobody takes becomes a dead letter.',
  expected: 'there after its receives',
  run: poison,
};

export const LONG: readonly Entry[] = [thaw, poisoned, load, teardown];

const STARTS = 10_000;
/** A new table takes 4,000 write units a second; a start and its step take some 14. */
const AT_ONCE = 50;
const WORKFLOW = 'verify-part';

async function loaded(ports: Ports, starts: number): Promise<Finding> {
  const { api, clock } = ports;
  const beganAt = clock.now();
  const ids = new Set<string>();
  let refused = 0;
  const next = Array.from({ length: starts }, (_, n) => n).values();
  let isGivenUp = false;
  const lane = async (): Promise<void> => {
    for (const n of next) {
      if (isGivenUp) return;
      const id = await until(ports, async () => {
        try {
          return await begin(ports, WORKFLOW, { n }, `load-${n}`);
        } catch (error) {
          isGivenUp ||= !isThrottled(error);
          if (isGivenUp) throw error;
          // The same key starts nothing twice.
          refused += 1;
          return undefined;
        }
      });
      if (id === undefined) isGivenUp = true;
      else ids.add(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const startedAt = clock.now();
  await until(ports, async () => ((await open(api)) === 0 ? true : undefined), HOUR_MS);
  const seconds = (from: number): number => Math.round((clock.now() - from) / 1_000);
  const succeeded = await countOf(api, ids);
  const late = await ports.metric('OldestOverdue');
  const used = await usedOf(ports, starts);
  return finding(
    [...is('started', ids.size, starts), ...is('succeeded', succeeded, starts)],
    `${starts} in ${seconds(beganAt)} s, the last ${seconds(startedAt)} s after its start; ${refused} refused at first, overdue ${late ?? 0} ms in all; ${used}`,
  );
}

/** Or out of reach for a while; another refusal is the same for all starts. */
const isThrottled = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === undefined || error.status === 429 || error.status >= 500);

/** What the table counts, beside the price page: its capacity is the larger part of a bill. */
async function usedOf({ tableMetric }: Ports, starts: number): Promise<string> {
  const of = async (name: string): Promise<number> => (await tableMetric(name)) ?? 0;
  const writes = await of('ConsumedWriteCapacityUnits');
  const reads = await of('ConsumedReadCapacityUnits');
  const throttles = (await of('WriteThrottleEvents')) + (await of('ReadThrottleEvents'));
  const each = (units: number): string => (units / starts).toFixed(1);
  return `a start took ${each(writes)} write and ${each(reads)} read units; ${throttles} throttled`;
}

const open = async (api: Client): Promise<number> =>
  (await api.list({ workflow: WORKFLOW, status: 'open', limit: 1 })).items.length;

async function countOf(api: Client, ids: ReadonlySet<string>): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await api.list({
      workflow: WORKFLOW,
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    count += page.items.filter(
      ({ executionId, status }) => status === 'succeeded' && ids.has(executionId),
    ).length;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return count;
}

/** A message of a later version: an older reader gives it back for the newer code. */
const LATER = '{"v":99,"from":"steadfast verify"}';
async function poison(ports: Ports): Promise<Finding> {
  const { queues } = await ports.settings();
  const queue = queues.find(({ name }) => name.endsWith('_verify-closed'));
  const dead = queues.find(({ name }) => name === queue?.deadLetters);
  if (queue === undefined || dead === undefined)
    return { ok: false, evidence: 'verify-closed has no queue with dead letters' };
  const beganAt = ports.clock.now();
  // Invisible after each receive; it is moved when it would be received once more.
  const patienceMs = ((queue.maxReceives ?? 0) + 2) * queue.visibilityS * 1_000;
  await ports.probes.send(queue.url, LATER);
  const found = await until(
    ports,
    async () => (await ports.probes.take(dead.url)).find((body) => body.includes('steadfast verify')),
    patienceMs,
  );
  const seconds = Math.round((ports.clock.now() - beganAt) / 1_000);
  return finding(found === undefined ? ['it did not come to the dead letters'] : [], `after ${seconds} s`);
}
