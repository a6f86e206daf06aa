/**
 * Charges a card at a payment service that does NOT deduplicate: two requests are two charges. With an
 * authorisation, the charge captures what that holds.
 *
 * It earns its safety by asking: every charge carries the step's idempotency key as its reference, so a probe
 * finds what an attempt that went silent has done, and an undo finds everything there is to give back.
 */

import { type AttemptContext, done, notDone, type Verdict } from 'steadfast';
import * as z from 'zod/mini';
import { type ChargeInput, type ChargeOutput, chargeCard } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Charge = z.object({ id: z.string(), undone: z.boolean() });
const Charges = z.object({ charges: z.array(Charge) });

export async function execute(ctx: AttemptContext, input: ChargeInput): Promise<ChargeOutput> {
  const charge = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/payment/charges',
      body: { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input },
    },
    Charge,
  );
  return { chargeId: charge.id };
}

export async function probe(ctx: AttemptContext): Promise<Verdict<ChargeOutput>> {
  const [charge] = await charges(ctx);
  return charge === undefined ? notDone() : done({ chargeId: charge.id });
}

/** By reference, not by `output`: what an attempt of unknown outcome has charged is given back as well. */
export async function undo(ctx: AttemptContext): Promise<void> {
  for (const charge of await charges(ctx)) {
    // Already given back by an earlier call of this undo; the payment service would pay a second time.
    if (charge.undone) continue;
    await callWorld(ctx, { method: 'POST', path: `/payment/charges/${charge.id}/refund` }, z.unknown());
  }
}

async function charges(ctx: AttemptContext): Promise<readonly z.infer<typeof Charge>[]> {
  const found = await callWorld(
    ctx,
    { method: 'GET', path: '/payment/charges', query: { reference: ctx.idempotencyKey } },
    Charges,
  );
  return found.charges;
}

export const handler = chargeCard.handler({ execute, probe, undo });
