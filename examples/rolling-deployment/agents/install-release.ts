/**
 * Installs a release with an installer that does NOT deduplicate: two requests are two installations, and two
 * restarts.
 *
 * The probe makes it safe: each installation has the step's idempotency key as its reference. The undo uses
 * it too, so it also rolls back the installation of an attempt with an unknown outcome.
 */

import { type AttemptContext, done, notDone } from 'steadfast';
import * as z from 'zod/mini';
import { installRelease } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Install = z.object({ id: z.string(), undone: z.boolean() });
const Installs = z.object({ installs: z.array(Install) });

const standing = async (ctx: AttemptContext): Promise<readonly z.infer<typeof Install>[]> => {
  const query = { reference: ctx.idempotencyKey };
  const { installs } = await callWorld(ctx, { method: 'GET', path: '/installer/installs', query }, Installs);
  return installs.filter(({ undone }) => !undone);
};

export const handler = installRelease.handler({
  execute: async (ctx, { host, version }) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, host, version };
    const { id } = await callWorld(ctx, { method: 'POST', path: '/installer/installs', body }, Install);
    return { install: id };
  },
  probe: async (ctx) => {
    const [install] = await standing(ctx);
    return install === undefined ? notDone() : done({ install: install.id });
  },
  undo: async (ctx) => {
    for (const { id } of await standing(ctx))
      await callWorld(ctx, { method: 'POST', path: `/installer/installs/${id}/roll-back` }, z.unknown());
  },
});
