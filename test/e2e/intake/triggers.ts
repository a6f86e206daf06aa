import { hmacSha256, onMessage, onSchedule, onWebhook, secret } from 'steadfast';
import { intake } from './workflow.ts';

export const hourly = onSchedule(intake, {
  schedule: 'rate(1 hour)',
  input: { what: { $concat: ['at ', '$.time'] }, from: 'schedule' },
});

export const messages = onMessage(intake, {
  idempotencyKey: '$.body.id',
  input: { what: '$.body.id', from: 'message' },
});

export const hooks = onWebhook(intake, {
  verify: hmacSha256({
    header: 'x-signature',
    prefix: 'v1=',
    time: { prefix: 't=' },
    secret: secret('INTAKE_SECRET', { parameter: '/intake/secret' }),
  }),
  input: { what: '$.body.sku', from: 'webhook' },
});
