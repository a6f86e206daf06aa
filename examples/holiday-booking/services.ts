/**
 * Requests to the services of a holiday: one kind books every request and finds bookings by reference; the
 * other kind books once per key.
 *
 * Owns: the requests, for the agents. Does not own: the meaning of answers (`../world/client.ts`).
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { worldAt } from '../world/client.ts';

const callWorld = worldAt('HOLIDAY_WORLD_URL', 'http://127.0.0.1:4536');
const Made = z.object({ id: z.string() });
const Found = z.record(z.string(), z.array(z.object({ id: z.string(), undone: z.boolean() })));

type Body = Readonly<Record<string, unknown>>;

/** A service that acts on every request; the idempotency key is the reference by which it finds them. */
export const byReference = (service: string, kind: string) => {
  const path = `/${service}/${kind}s`;
  const found = async (ctx: AttemptContext) => {
    const answer = await callWorld(
      ctx,
      { method: 'GET', path, query: { reference: ctx.idempotencyKey } },
      Found,
    );
    return answer[`${kind}s`] ?? [];
  };
  return {
    act: async (ctx: AttemptContext, body: Body): Promise<string> => {
      const { idempotencyKey: reference, executionId } = ctx;
      const request = { method: 'POST', path, body: { reference, executionId, ...body } } as const;
      return (await callWorld(ctx, request, Made)).id;
    },
    find: async (ctx: AttemptContext): Promise<string | undefined> => (await found(ctx))[0]?.id,
    /** Undoes everything with the reference, including bookings of an attempt with an unknown outcome. */
    undo: async (ctx: AttemptContext): Promise<void> => {
      for (const { id, undone } of await found(ctx))
        if (!undone) await callWorld(ctx, { method: 'POST', path: `${path}/${id}/cancel` }, z.unknown());
    },
  };
};

/** A service that acts once per key, and undoes by the key. */
export const byKey = (service: string, kind: string) => {
  const path = `/${service}/${kind}s`;
  return {
    act: async (ctx: AttemptContext, body: Body): Promise<string> => {
      const { idempotencyKey: key, executionId } = ctx;
      const request = { method: 'POST', path, body: { key, executionId, ...body } } as const;
      return (await callWorld(ctx, request, Made)).id;
    },
    undo: async (ctx: AttemptContext): Promise<void> => {
      await callWorld(ctx, { method: 'DELETE', path, query: { key: ctx.idempotencyKey } }, z.unknown());
    },
  };
};
