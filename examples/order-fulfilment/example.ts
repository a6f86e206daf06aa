/** The ways in which an order fails, and the checks afterwards. */

import type { ApiError } from 'steadfast/client';
import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Scene, Stage } from '../gallery/example.ts';
import { DEEDS, type OrderEntry } from './world.ts';

const DONE = { charge: 1, reservation: 1, shipment: 1, mail: 1 };
/** The mail that reports the failure. */
const TAKEN_BACK = { mail: 1 };

const start = async (
  { client }: Stage,
  orderId: string,
  workflow = 'order-fulfilment',
  idempotencyKey = orderId,
): Promise<string> => {
  const input = {
    orderId,
    email: `${orderId}@customers.example`,
    address: '1 Harbour Street',
    items: [{ sku: 'lighthouse', quantity: 1 }],
    total: 4_200,
  };
  return (await client.start(workflow, { input, idempotencyKey })).executionId;
};

/** Answers every question about releasing an order's goods, as a person, until its executions have ended. */
async function answerReleases(stage: Stage, ids: readonly string[], isReleased: boolean): Promise<void> {
  await stage.until('the release', async () => {
    const views = await Promise.all(ids.map((id) => stage.client.get(id)));
    for (const { steps } of views) {
      const { token, waitsUntil } = steps.find(({ name }) => name === 'release') ?? {};
      if (token === undefined || waitsUntil === undefined) continue;
      const answer = isReleased
        ? stage.client.callbacks.complete(token, { approved: true })
        : stage.client.callbacks.fail(token, { code: 'rejected', message: 'the goods are damaged' });
      // The question was answered twice, or too late.
      await answer.catch((error: Partial<ApiError>) => {
        if (error.status !== 409) throw error;
      });
    }
    return views.every(({ endedAt }) => endedAt !== undefined) ? true : undefined;
  });
}

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
  {
    name: 'ordered-twice',
    wrong: 'A preorder is started twice at the same moment',
    ends: ['succeeded'],
    play: async (stage, orderId) => {
      const keys = [orderId, `${orderId}-again`];
      const ids = await Promise.all(keys.map((key) => start(stage, orderId, 'preorder', key)));
      await answerReleases(stage, ids, true);
      const [first = '', second = ''] = ids;
      const { steps } = await stage.client.get(first);
      // The order of admission is a race.
      return steps.some(({ status }) => status === 'skipped') ? first : second;
    },
    tell: ({ output }) =>
      `Its lane let in one: it was authorised, released, shipped and charged. The other waited until that was over, and found the order paid: ${JSON.stringify(output)}.`,
  },
  {
    name: 'not-released',
    wrong: 'A card is authorised and the answer is lost; then the goods are damaged, and not released',
    ends: ['compensated'],
    play: async (stage, orderId) => {
      const match = { about: orderId };
      await stage.world.behave({ service: 'payment', mode: 'drop-reply', times: 1, match });
      const executionId = await start(stage, orderId, 'preorder');
      await answerReleases(stage, [executionId], false);
      return executionId;
    },
    tell: () => 'A probe found the authorisation; it was voided, once, and nothing was charged.',
  },
];

export default {
  title:
    'Order fulfilment: charge the card and reserve the stock side by side, ship, tell the customer; a preorder is authorised first and charged when it leaves. An order that fails is taken back.',
  world: 'WORLD_URL',
  scenes,
  audit: async ({ stage, played }) =>
    auditDeeds(DEEDS, await stage.world.ledger(), played, ({ scene, end }) => {
      if (scene.name === 'mail-declined') return { ...DONE, mail: 0 };
      if (scene.name === 'ordered-twice') return { ...DONE, authorisation: 1 };
      return end.status === 'succeeded' ? DONE : TAKEN_BACK;
    }),
} satisfies Example;
