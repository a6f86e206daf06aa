/**
 * Asks the payment service to reserve the price on a card, to be captured later. The service does NOT
 * deduplicate.
 *
 * An order that is already paid is not authorised again. Check-then-act is safe here, because the workflow's
 * lane admits one execution of an order at a time.
 */

import { type AttemptContext, done, notDone, type Verdict } from 'steadfast';
import * as z from 'zod/mini';
import { authoriseCard, type AuthoriseInput, type AuthoriseOutput } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Authorisation = z.object({ id: z.string(), undone: z.boolean(), captured: z.boolean() });
const Authorisations = z.object({ authorisations: z.array(Authorisation) });
const Charges = z.object({ charges: z.array(z.object({ undone: z.boolean() })) });

export async function execute(ctx: AttemptContext, input: AuthoriseInput): Promise<AuthoriseOutput> {
  if (await isPaid(ctx, input.orderId)) return {};
  const { id } = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/payment/authorisations',
      body: { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input },
    },
    Authorisation,
  );
  return { authorisationId: id };
}

export async function probe(ctx: AttemptContext): Promise<Verdict<AuthoriseOutput>> {
  const [authorisation] = await authorisations(ctx);
  return authorisation === undefined ? notDone() : done({ authorisationId: authorisation.id });
}

/** Voids the authorisation, unless it was captured: then the charge's undo refunds the money. */
export async function undo(ctx: AttemptContext): Promise<void> {
  for (const { id, undone, captured } of await authorisations(ctx)) {
    if (undone || captured) continue;
    await callWorld(ctx, { method: 'POST', path: `/payment/authorisations/${id}/void` }, z.unknown());
  }
}

async function isPaid(ctx: AttemptContext, orderId: string): Promise<boolean> {
  const query = { orderId };
  const { charges } = await callWorld(ctx, { method: 'GET', path: '/payment/charges', query }, Charges);
  return charges.some(({ undone }) => !undone);
}

async function authorisations(ctx: AttemptContext): Promise<readonly z.infer<typeof Authorisation>[]> {
  const query = { reference: ctx.idempotencyKey };
  const path = '/payment/authorisations';
  return (await callWorld(ctx, { method: 'GET', path, query }, Authorisations)).authorisations;
}

export const handler = authoriseCard.handler({ execute, probe, undo });
