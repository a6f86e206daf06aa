/** The triggers that start orders besides the API. The stack says which bucket has the pictures. */

import { onEvent, onObjectCreated, onSchedule } from 'steadfast';
import { orderFulfilment } from './workflow.ts';

/** Low, because a new account has only ten concurrent executions, and the agents need most of them. */
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
 * Starts an order for a checked-out cart, which the shop announces by an event of its own on the account's
 * bus. A repeated event is the same order.
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
 * Orders frames for the next day, every night, but not if the stack has no outside world
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
