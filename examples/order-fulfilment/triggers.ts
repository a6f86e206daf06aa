/** What starts orders beside the API. Which bucket the pictures are in says the stack. */

import { onObjectCreated, onSchedule } from 'steadfast';
import { orderFulfilment } from './workflow.ts';

const buyer = { email: 'gallery@example.com', address: '1 Main Street' };

/** A picture that is put into the bucket orders one print of it. */
export const prints = onObjectCreated(orderFulfilment, {
  bucket: 'pictures',
  suffix: '.jpg',
  input: {
    orderId: { $concat: ['print-', '$.detail.object.sequencer'] },
    items: [{ sku: '$.detail.object.key', quantity: 1 }],
    total: 1_900,
    ...buyer,
  },
});

/** Every night, frames are ordered for the next day. */
export const frames = onSchedule(orderFulfilment, {
  schedule: 'cron(0 2 * * ? *)',
  input: {
    orderId: { $concat: ['frames-', '$.time'] },
    items: [{ sku: 'frame', quantity: 20 }],
    total: 18_000,
    ...buyer,
  },
});
