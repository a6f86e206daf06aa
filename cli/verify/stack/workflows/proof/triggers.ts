/** A trigger of each kind that needs no bucket. */

import { onEvent, onMessage, onSchedule } from 'steadfast';
import { verifyEvent } from './workflow.ts';

export const events = onEvent(verifyEvent, {
  pattern: { source: ['steadfast.verify'], detailType: ['Verify'] },
  maxConcurrency: 2,
  input: { id: '$.detail.id', text: '$.detail.text' },
  idempotencyKey: '$.detail.id',
});

export const requests = onMessage(verifyEvent, { name: 'verify-requests', maxConcurrency: 2 });

/** Fires rarely, because each start costs money. */
export const times = onSchedule(verifyEvent, {
  schedule: 'rate(5 minutes)',
  maxConcurrency: 2,
  input: { id: '$.time', text: 'by schedule' },
});
