/**
 * The clock is set forward, or the server is suspended, during attempts in separate processes: no agent is
 * blamed.
 */

import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { foldersOf, loadWorkflows, type ServedAgent } from '../../serve/workflows.ts';
import { testServer } from './served.ts';

const TEN_MINUTES = 600_000;

it.each([
  [true, 'is set'],
  [false, 'is set'],
  [true, 'passes while nothing runs'],
  [false, 'passes while nothing runs'],
])(
  'ends no attempt of a process of its own (%s) where time %s, and blames no agent',
  async (isIsolated, how) => {
    const elapsedMs = how === 'is set' ? 0 : TEN_MINUTES;
    const { root, folders, only } = foldersOf(join(import.meta.dirname, 'workflows', 'alone'));
    let setMs = 0;
    const machine = {
      wall: () => Date.now() + setMs,
      elapsed: () => performance.now() + (setMs > 0 ? elapsedMs : 0),
    };
    const world = testServer();
    const loaded = await loadWorkflows(root, folders, only);
    const agents = new Map(
      [...loaded.agents].map(([name, one]): [string, ServedAgent] => [name, { ...one, isIsolated }]),
    );
    const server = await world.start({ served: { ...loaded, agents }, agents: 'workers', machine });
    const client = createClient({ url: server.url });
    // The attempt is silent for less than its lease, but for several checks of the worker.
    const { executionId } = await client.start('alone', { input: { ms: 2_000 } });
    for (let isBegun = false; !isBegun; )
      isBegun = (await client.get(executionId)).steps[0]?.status === 'running';
    setMs = TEN_MINUTES;
    const { status, steps } = await client.waitForEnd(executionId);
    expect([status, steps[0]?.attempts.map(({ outcome }) => outcome)]).toEqual(['succeeded', ['done']]);
    expect((await client.health()).findings).toEqual([]);
    await world.end();
  },
);
