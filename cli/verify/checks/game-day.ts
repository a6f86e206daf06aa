/**
 * Checks that break something, and see that it is noticed and that nothing is doubled, lost or stuck.
 *
 * Owns: which fault, for how long, what must come of it. Does not own: that a fault ends by itself (the
 * port). It touches no execution but its own; a fault of a part of the stack touches all its users.
 */

import { ApiError } from '../../../lib/api/client.ts';
import { during, game, mappingOf, tickOf } from '../breaking.ts';
import { type Entry, type Finding, finding } from '../check.ts';
import type { Fault, Ports } from '../ports.ts';
import { begin, endOf, ended, is, until } from '../starting.ts';

const MINUTE_MS = 60_000;
const LONG_MS = 10 * MINUTE_MS;
/** The lease of the agent that has processes of its own (`stack/workflows/proof/workflow.ts`). */
const LEASE_MS = MINUTE_MS;

export const GAME_DAY: readonly Entry[] = [
  game(
    {
      id: 'dies-before',
      row: 'An agent that dies before its effect acts once.',
      expected: 'succeeded; one effect',
    },
    (ports) => died(ports, 'die-before'),
  ),
  game(
    {
      id: 'dies-after',
      row: 'An agent that dies after its effect acts once.',
      expected: 'succeeded; one effect',
    },
    (ports) => died(ports, 'die-after'),
  ),
  game(
    {
      id: 'isolate',
      area: 'Executions',
      row: 'With `isolate` a process that ends is retried in seconds.',
      expected: `succeeded before its lease of ${LEASE_MS / 1_000} s has ended`,
    },
    isolated,
  ),
  game(
    {
      id: 'mapping-off',
      row: 'A queue unread for half a minute loses nothing.',
      expected: 'succeeded after the fault',
      needs: ['probes', 'settings', 'faults'],
    },
    mappingOff,
  ),
  game(
    {
      id: 'ticks-off',
      row: 'Without ticks a dead agent’s step goes on.',
      expected: 'succeeded; one effect',
      needs: ['probes', 'settings', 'faults'],
    },
    ticksOff,
  ),
  game(
    {
      id: 'throttled',
      row: 'An agent throttled for two minutes loses nothing.',
      expected: 'succeeded after the fault; no dead letter',
      needs: ['probes', 'settings', 'faults', 'concurrency'],
    },
    throttled,
  ),
  game(
    {
      id: 'breaker',
      row: 'A breaker opens for a closed service, and closes when it is back.',
      expected: 'open, then closed; all succeeded',
    },
    breaker,
  ),
  game(
    {
      id: 'redrive',
      area: 'Triggers and events',
      row: 'A dead letter can be moved back.',
      expected: 'an execution',
      needs: ['probes', 'settings', 'redrive'],
    },
    redrive,
  ),
  {
    ...game(
      {
        id: 'nothing-doubled',
        stops: true,
        row: 'After all this nothing was doubled, lost or stuck.',
        expected: '0 doubled, 0 lost, 0 stuck',
      },
      aftermath,
    ),
    phase: 'aftermath',
  },
];

async function died(ports: Ports, mode: string): Promise<Finding> {
  const beganAt = ports.clock.now();
  const { executionId: id, status } = await ended(ports, 'verify-order', { mode }, mode);
  const effects = await ports.probes.effects(`${id}/second`);
  const seconds = Math.round((ports.clock.now() - beganAt) / 1_000);
  return finding(
    [...is('status', status, 'succeeded'), ...is('effects', effects, 1)],
    `${id} after ${seconds} s`,
  );
}

async function isolated(ports: Ports): Promise<Finding> {
  const beganAt = ports.clock.now();
  const { executionId: id, status } = await ended(
    ports,
    'verify-isolated',
    { mode: 'die-after' },
    'isolated',
  );
  const tookMs = ports.clock.now() - beganAt;
  const effects = await ports.probes.effects(`${id}/alone`);
  return finding(
    [
      ...is('status', status, 'succeeded'),
      ...is('effects', effects, 1),
      ...(tookMs < LEASE_MS ? [] : [`only after ${tookMs} ms: its lease had to end`]),
    ],
    `${id} after ${tookMs} ms`,
  );
}

async function mappingOff(ports: Ports): Promise<Finding> {
  const mapping = await mappingOf(ports, 'verify-pass');
  if (mapping === undefined) return { ok: false, evidence: 'verify-pass has no mapping' };
  const fault: Fault = { kind: 'mapping', id: mapping.id, forMs: MINUTE_MS };
  const id = await during(ports, fault, async () => {
    const begun = await begin(ports, 'verify-part', { n: 1 }, 'mapping-off');
    await ports.clock.sleep(MINUTE_MS / 2);
    return begun;
  });
  const { status } = await endOf(ports, id);
  return finding(is('status', status, 'succeeded'), `${id} ${status}`);
}

async function ticksOff(ports: Ports): Promise<Finding> {
  const rule = await tickOf(ports);
  if (rule === undefined) return { ok: false, evidence: 'no rule ticks every minute' };
  const fault: Fault = { kind: 'rule', id: rule, forMs: 2 * MINUTE_MS };
  const id = await during(ports, fault, async () => {
    const begun = await begin(ports, 'verify-order', { mode: 'die-after' }, 'ticks-off');
    await ports.clock.sleep(1.5 * MINUTE_MS);
    return begun;
  });
  const { status } = await endOf(ports, id);
  const effects = await ports.probes.effects(`${id}/second`);
  return finding([...is('status', status, 'succeeded'), ...is('effects', effects, 1)], `${id} ${status}`);
}

async function throttled(ports: Ports): Promise<Finding> {
  const { functions } = await ports.settings();
  const mapping = await mappingOf(ports, 'verify-pass');
  const reader = functions.find(({ name }) => name === mapping?.function);
  if (reader === undefined) return { ok: false, evidence: 'verify-pass has no function' };
  const fault: Fault = { kind: 'concurrency', id: reader.name, forMs: 3 * MINUTE_MS };
  const id = await during(ports, fault, async () => {
    const begun = await begin(ports, 'verify-part', { n: 1 }, 'throttled');
    await ports.clock.sleep(2 * MINUTE_MS);
    return begun;
  });
  const { status } = await endOf(ports, id);
  const dead = await deadLettersOf(ports, mapping?.queue);
  return finding([...is('status', status, 'succeeded'), ...is('dead letters', dead, 0)], `${id} ${status}`);
}

async function deadLettersOf(ports: Ports, queue: string | undefined): Promise<number | undefined> {
  const { queues } = await ports.settings();
  const name = queues.find((each) => each.name === queue)?.deadLetters;
  const url = queues.find((each) => each.name === name)?.url;
  return url === undefined ? undefined : ports.probes.depth(url);
}

/** More failures than that open it, from different executions. */
const CALLERS = 12;
async function breaker(ports: Ports): Promise<Finding> {
  const { api, probes, runId } = ports;
  const at = async (wanted: readonly string[]): Promise<string | undefined> => {
    const { items } = await api.agents();
    const status = items.find(({ name }) => name === 'verify-closed')?.breaker.status;
    return status !== undefined && wanted.includes(status) ? status : undefined;
  };
  const ids = await Promise.all(
    Array.from({ length: CALLERS }, (_, n) =>
      begin(ports, 'verify-breaker', { switch: runId }, `breaker-${n}`),
    ),
  );
  const opened = await until(ports, () => at(['open', 'half-open']));
  await probes.switchOn(runId);
  const closed = await until(ports, () => at(['closed']), LONG_MS);
  const ends = await Promise.all(ids.map((id) => endOf(ports, id)));
  return finding(
    [
      ...(opened === undefined ? ['it did not open'] : []),
      ...(closed === undefined ? ['it did not close'] : []),
      ...ends.flatMap(({ executionId, status }) => is(executionId, status, 'succeeded')),
    ],
    `${opened}, then ${closed}; ${ends.length} succeeded`,
  );
}

async function redrive(ports: Ports): Promise<Finding> {
  const { queues } = await ports.settings();
  const { requests } = ports.probes;
  const name = queues.find(({ url }) => url === requests)?.deadLetters;
  const dead = queues.find((queue) => queue.name === name);
  if (dead === undefined) return { ok: false, evidence: 'the trigger has no dead-letter queue' };
  const id = `${ports.runId}-redriven`;
  await ports.probes.send(dead.url, JSON.stringify({ id, text: 'moved back' }));
  await ports.probes.redrive(dead.url, requests);
  const found = await until(ports, async () => {
    const { items } = await ports.api.list({ workflow: 'verify-event', limit: 50 });
    const views = await Promise.all(items.map(({ executionId }) => ports.api.get(executionId)));
    return views.find(({ input }) => JSON.stringify(input).includes(id));
  });
  return finding(found === undefined ? ['nothing was started'] : [], found?.executionId ?? '');
}

/** Steps that act outside, by workflow. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  'verify-order': ['first', 'second'],
  'verify-isolated': ['alone'],
};

/** Every execution that the run has begun, also those begun during a fault. */
async function aftermath(ports: Ports): Promise<Finding> {
  const doubled: string[] = [];
  const lost: string[] = [];
  const stuck: string[] = [];
  for (const [id, workflow] of ports.begun) {
    const view = await ports.api.get(id).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    if (view === undefined) lost.push(id);
    else if (view.endedAt === undefined) stuck.push(id);
    for (const step of ACTS[workflow] ?? [])
      if ((await ports.probes.effects(`${id}/${step}`)) > 1) doubled.push(`${id}/${step}`);
  }
  const [detecting, leases] = [await ports.metric('TimeToDetect'), await ports.metric('LeasesLost')];
  const noticed =
    detecting === undefined || leases === undefined || leases === 0
      ? ''
      : `; deaths noticed ${Math.round(detecting / leases)} ms after the lease on average`;
  return finding(
    Object.entries({ doubled, lost, stuck }).flatMap(([what, ids]) => ids.map((id) => `${id} ${what}`)),
    `${ports.begun.size} executions: 0 doubled, 0 lost, 0 stuck${noticed}`,
  );
}
