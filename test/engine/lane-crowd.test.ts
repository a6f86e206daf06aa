/**
 * Many executions in a lane with one place: each enters once, in order, and the cost of a start or an end
 * does not grow with the length of the queue.
 */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Lanes, Ports, Store } from '../../lib/core/ports.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, drain, harness } from './harness.ts';

/** `CROWD=10000 npm test -- …` runs as many as docs/PROOF.md says. */
const EXECUTIONS = Number(process.env['CROWD'] ?? 600);
const FEW = 100;

const flow = workflow(
  'flow',
  {
    input: z.object({ account: z.string() }),
    within: '10m',
    concurrency: { key: (given) => given.account, limit: 1, waitWithin: '30d' },
  },
  (w) => void w.step('only', anAgent('worker'), {}),
);

/** Counts the calls of store and lanes, and the items read. */
class Counted {
  count = 0;

  readonly wrap = (world: MemoryWorld): Ports => ({
    ...world,
    store: this.#counting<Store>(world.store),
    lanes: this.#counting<Lanes>(world.lanes),
  });

  #counting<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'hash') return member;
        return async (...args: unknown[]) => {
          const answer: unknown = await Reflect.apply(member, target, args);
          this.count += 1 + ((answer as { items?: unknown[] } | undefined)?.items?.length ?? 0);
          return answer;
        };
      },
    });
  }

  /** @returns the counts since the last call */
  taken(): number {
    const { count } = this;
    this.count = 0;
    return count;
  }
}

test('each is let in once, in order, at a cost that does not grow with the queue', async () => {
  const [counted, order] = [new Counted(), [] as string[]];
  const costs: { readonly starts: number[]; readonly ends: number[] } = { starts: [], ends: [] };
  let inside = 0;
  const h = harness(
    flow,
    {
      worker: {
        execute: async (ctx) => {
          const { executionId } = ctx as { executionId: string };
          inside += 1;
          expect(inside).toBe(1);
          order.push(executionId);
          await Promise.resolve();
          inside -= 1;
          return {};
        },
      },
    },
    1,
    counted.wrap,
  );
  const ids: string[] = [];
  for (let at = 0; at < EXECUTIONS; at += 1) {
    ids.push((await h.begin({ account: 'a' })).id);
    costs.starts.push(counted.taken());
    h.clock.advanceTo(h.clock.now() + 1);
  }
  while (h.sent.length > 0) {
    for (const send of h.sent.splice(0)) await h.deliver(send);
    costs.ends.push(counted.taken());
  }
  await drain(h);
  expect(order).toEqual(ids);
  const mean = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length;
  // The first of each kind go to an empty lane, or leave one.
  expect(mean(costs.starts.slice(-FEW))).toBeLessThanOrEqual(1.2 * mean(costs.starts.slice(FEW, 2 * FEW)));
  expect(mean(costs.ends.slice(FEW, 2 * FEW))).toBeLessThanOrEqual(
    1.2 * mean(costs.ends.slice(-2 * FEW, -FEW)),
  );
});
