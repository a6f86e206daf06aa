/**
 * Checks two faults that agents of verify's stack cause themselves, so that no change in the account must be
 * reverted.
 */

import { ApiError } from '../../../lib/api/client.ts';
import { type Finding, finding, type Run } from '../check.ts';
import type { Ports } from '../ports.ts';
import { begin, endOf, ended, is, until } from '../starting.ts';

export const FAULTS: Readonly<Record<string, Run>> = { dies: died, breaker, 'nothing-doubled': aftermath };

async function died(ports: Ports): Promise<Finding> {
  const beganAt = ports.clock.now();
  const { executionId: id, status } = await ended(ports, 'verify-order', { mode: 'die-after' }, 'dies');
  const effects = await ports.probes.effects(`${id}/second`);
  const seconds = Math.round((ports.clock.now() - beganAt) / 1_000);
  return finding(
    [...is('status', status, 'succeeded'), ...is('effects', effects, 1)],
    `${id} after ${seconds} s`,
  );
}

/** The number of failing executions: enough to open the breaker. */
const CALLERS = 12;
const LONG_MS = 10 * 60_000;
async function breaker(ports: Ports): Promise<Finding> {
  const { api, probes, runId } = ports;
  const at = async (wanted: readonly string[]): Promise<string | undefined> => {
    const { items } = await api.agents();
    const status = items.find(({ name }) => name === 'verify-closed')?.breaker.status;
    return status !== undefined && wanted.includes(status) ? status : undefined;
  };
  const ids: string[] = [];
  // One after the other, because all at once would exceed a new account's concurrency limit.
  for (let n = 0; n < CALLERS; n += 1)
    ids.push(await begin(ports, 'verify-breaker', { switch: runId }, `breaker-${n}`));
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

/** The steps with an effect outside, by workflow. */
const ACTS: Readonly<Record<string, readonly string[]>> = { 'verify-order': ['first', 'second'] };

/** Checks every execution of the run, including those during faults. */
async function aftermath({ api, begun, probes }: Ports): Promise<Finding> {
  const problems: string[] = [];
  for (const [id, workflow] of begun) {
    const view = await api.get(id).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    });
    if (view === undefined) problems.push(`${id} lost`);
    else if (view.endedAt === undefined) problems.push(`${id} stuck`);
    for (const step of ACTS[workflow] ?? [])
      if ((await probes.effects(`${id}/${step}`)) > 1) problems.push(`${id}/${step} doubled`);
  }
  return finding(problems, `${begun.size} executions: 0 doubled, 0 lost, 0 stuck`);
}
