/**
 * Charges a card at a payment service that does NOT deduplicate: two requests are two charges. With an
 * authorisation, the charge captures the authorised amount.
 *
 * The probe makes it safe: every charge carries the step's idempotency key as its reference, so a probe finds
 * the charge of an attempt that went silent, and an undo finds every charge to refund.
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

/**
 * Refunds by reference, not by `output`: this also refunds the charge of an attempt with an unknown outcome.
 */
export async function undo(ctx: AttemptContext): Promise<void> {
  for (const charge of await charges(ctx)) {
    // An earlier call of this undo has refunded it; the payment service would refund it a second time.
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
