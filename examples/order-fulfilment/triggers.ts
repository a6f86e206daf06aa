/** What starts orders beside the API. Which bucket the pictures are in says the stack. */

import { onEvent, onObjectCreated, onSchedule } from 'steadfast';
import { orderFulfilment } from './workflow.ts';

/** Few at a time: of a new account's ten executions the agents need most. */
const maxConcurrency = 2;
const buyer = { email: 'gallery@example.com', address: '1 Main Street' };

/** A picture that is put into the bucket orders one print of it. */
export const prints = onObjectCreated(orderFulfilment, {
  bucket: 'pictures',
  suffix: '.jpg',
  maxConcurrency,
  input: {
    orderId: { $concat: ['print-', '$.detail.object.sequencer'] },
    items: [{ sku: '$.detail.object.key', quantity: 1 }],
    total: 1_900,
    ...buyer,
  },
});

/**
 * A cart that the shop says is checked out, by an event of its own on the account's
 * bus. Said twice, it is one order.
 */
export const carts = onEvent(orderFulfilment, {
  pattern: { source: ['shop'], detailType: ['Cart Checked Out'] },
  maxConcurrency,
  idempotencyKey: '$.detail.orderId',
  input: {
    orderId: '$.detail.orderId',
    email: '$.detail.email',
    address: '$.detail.address',
    items: '$.detail.items',
    total: '$.detail.total',
  },
});

/**
 * Every night, frames are ordered for the next day; not where the stack has no outside world
 * (`../gallery/outside-world.ts`).
 */
export const frames = onSchedule(orderFulfilment, {
  schedule: 'cron(0 2 * * ? *)',
  maxConcurrency,
  input: {
    orderId: { $concat: ['frames-', '$.time'] },
    items: [{ sku: 'frame', quantity: 20 }],
    total: 18_000,
    ...buyer,
  },
});
