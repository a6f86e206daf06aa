/** How an order fails, and what must be so afterwards. */

import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Scene, Stage } from '../gallery/example.ts';
import { DEEDS, type OrderEntry } from './world.ts';

const DONE = { charge: 1, reservation: 1, shipment: 1, mail: 1 };
/** The mail that reports it. */
const TAKEN_BACK = { mail: 1 };

const start = async ({ client }: Stage, orderId: string): Promise<string> => {
  const input = {
    orderId,
    email: `${orderId}@customers.example`,
    address: '1 Harbour Street',
    items: [{ sku: 'lighthouse', quantity: 1 }],
    total: 4_200,
  };
  return (await client.start('order-fulfilment', { input, idempotencyKey: orderId })).executionId;
};

const scenes: readonly Scene[] = [
  {
    name: 'lost-reply',
    wrong: 'The payment service charges, and its answer is lost',
    ends: ['succeeded'],
    play: async (stage, orderId) => {
      await stage.world.behave({
        service: 'payment',
        mode: 'drop-reply',
        times: 1,
        match: { about: orderId },
      });
      return start(stage, orderId);
    },
    tell: () =>
      'Unknown, so nothing was repeated: a probe asked the payment service, found the charge and adopted it.',
  },
  {
    name: 'killed',
    wrong: 'The agent that reserves is killed when the stock is reserved, before it can report',
    ends: ['succeeded'],
    play: async (stage, orderId) => {
      const slow = { service: 'warehouse', mode: 'slow-reply', ms: 3_000, times: 1 } as const;
      await stage.world.behave({ ...slow, match: { about: orderId } });
      const executionId = await start(stage, orderId);
      await stage.until('the reservation', async () =>
        (await stage.world.ledger<OrderEntry>()).find(
          (entry) => entry.kind === 'reservation' && entry.orderId === orderId,
        ),
      );
      stage.cloud.kill('reserve-stock');
      return executionId;
    },
    tell: () =>
      'Its lease ran out and a supervisor noticed. The warehouse deduplicates, so another attempt asked again under the same key.',
  },
  {
    name: 'declined',
    wrong: 'The carrier declines for good, when the card is charged and the stock reserved',
    ends: ['compensated'],
    play: async (stage, orderId) => {
      await stage.world.behave({ service: 'carrier', mode: 'decline', match: { about: orderId } });
      return start(stage, orderId);
    },
    tell: () =>
      'The charge was refunded and the stock released, once each; then the customer was told, once.',
  },
  {
    name: 'mail-declined',
    wrong: 'The mail service declines the mail of an order that has been shipped',
    ends: ['succeeded'],
    play: async (stage, orderId) => {
      await stage.world.behave({ service: 'mail', mode: 'decline', match: { about: orderId } });
      return start(stage, orderId);
    },
    tell: () => 'The mail is tolerated: nothing that was shipped is refunded for it.',
  },
];

export default {
  title:
    'Order fulfilment: charge the card and reserve the stock side by side, ship, tell the customer; an order that fails is taken back.',
  world: 'WORLD_URL',
  scenes,
  audit: async ({ stage, played }) =>
    auditDeeds(DEEDS, await stage.world.ledger(), played, ({ scene, end }) => {
      if (scene.name === 'mail-declined') return { ...DONE, mail: 0 };
      return end.status === 'succeeded' ? DONE : TAKEN_BACK;
    }),
} satisfies Example;
