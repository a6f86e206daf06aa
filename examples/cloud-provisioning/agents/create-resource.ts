/**
 * Creates machines, databases and balancers, at a service that creates another one for every request.
 *
 * The probe makes it safe: everything carries the idempotency key as its tag. A probe finds what an attempt
 * created before it went silent, and the undo removes everything with the tag, including side products: a
 * machine's disk outlives the machine.
 *
 * A database is accepted first: the service answers 'creating', the attempt ends, and probes ask by the tag
 * until it is ready. An undo that runs meanwhile removes the unfinished database.
 */

import { accepted, type AttemptContext, done, notDone, running } from 'steadfast';
import * as z from 'zod/mini';
import { createResource } from '../contracts.ts';
import { callWorld, remove } from '../world-client.ts';

const State = z.optional(z.enum(['creating', 'ready']));
const Tagged = z.object({ id: z.string(), undone: z.boolean(), state: State });
type Tagged = z.infer<typeof Tagged>;
const Found = z.optional(z.array(Tagged));
const Answer = z.object({ resources: Found, disks: Found });

const tagged = async (ctx: AttemptContext, what: 'resources' | 'disks'): Promise<readonly Tagged[]> => {
  const query = { reference: ctx.idempotencyKey };
  const found = await callWorld(ctx, { method: 'GET', path: `/compute/${what}`, query }, Answer);
  return found[what] ?? [];
};

export const handler = createResource.handler({
  execute: async (ctx, input) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input };
    const request = { method: 'POST', path: '/compute/resources', body } as const;
    const { id, state } = await callWorld(ctx, request, Tagged);
    return state === 'creating' ? accepted({ token: id, askAfter: '5s' }) : { id };
  },
  probe: async (ctx) => {
    const [made] = await tagged(ctx, 'resources');
    if (made === undefined) return notDone();
    return made.state === 'creating' ? running({ askAfter: '5s' }) : done({ id: made.id });
  },
  undo: async (ctx) => {
    // In this order: a disk cannot be removed while its machine exists.
    for (const what of ['resources', 'disks'] as const)
      for (const { id, undone } of await tagged(ctx, what))
        if (!undone) await remove(ctx, { method: 'POST', path: `/compute/${what}/${id}/delete` });
  },
});
