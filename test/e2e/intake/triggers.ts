import { onMessage, onSchedule } from 'steadfast';
import { intake } from './workflow.ts';

export const hourly = onSchedule(intake, {
  schedule: 'rate(1 hour)',
  input: { what: { $concat: ['at ', '$.time'] }, from: 'schedule' },
});

export const messages = onMessage(intake, {
  idempotencyKey: '$.body.id',
  input: { what: '$.body.id', from: 'message' },
});
