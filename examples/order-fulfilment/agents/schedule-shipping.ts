/**
 * Books a shipment at a carrier that books every request, including repeats, but can be queried by reference.
 */

import { type AttemptContext, done, notDone, type Verdict } from 'steadfast';
import * as z from 'zod/mini';
import { type ShipInput, type ShipOutput, scheduleShipping } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Shipment = z.object({ id: z.string(), trackingNumber: z.string(), undone: z.boolean() });
const Shipments = z.object({ shipments: z.array(Shipment) });
type Shipment = z.infer<typeof Shipment>;

export async function execute(ctx: AttemptContext, input: ShipInput): Promise<ShipOutput> {
  const shipment = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/carrier/shipments',
      body: { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input },
    },
    Shipment,
  );
  return outputOf(shipment);
}

export async function probe(ctx: AttemptContext): Promise<Verdict<ShipOutput>> {
  const [shipment] = await shipments(ctx);
  return shipment === undefined ? notDone() : done(outputOf(shipment));
}

export async function undo(ctx: AttemptContext): Promise<void> {
  for (const shipment of await shipments(ctx)) {
    if (shipment.undone) continue;
    await callWorld(ctx, { method: 'POST', path: `/carrier/shipments/${shipment.id}/cancel` }, z.unknown());
  }
}

const outputOf = (shipment: Shipment): ShipOutput => ({
  shipmentId: shipment.id,
  trackingNumber: shipment.trackingNumber,
});

async function shipments(ctx: AttemptContext): Promise<readonly Shipment[]> {
  const found = await callWorld(
    ctx,
    { method: 'GET', path: '/carrier/shipments', query: { reference: ctx.idempotencyKey } },
    Shipments,
  );
  return found.shipments;
}

export const handler = scheduleShipping.handler({ execute, probe, undo });
