import { onEvent, onMessage } from 'steadfast';
import { mailed } from './workflow.ts';

export const orders = onMessage(mailed, { idempotencyKey: '$.body.orderId' });

export const payments = onEvent(mailed, {
  pattern: { source: ['bank'], detailType: ['Paid'] },
  send: 'paid',
  key: '$.detail.orderId',
  startedBy: 'mailed-queue',
  message: { amount: '$.detail.amount' },
});
