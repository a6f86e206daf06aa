/**
 * A trigger declared beside a workflow is plain data, and a mapping that does not fit the workflow's input
 * does not compile.
 */

import {
  type DeclaredTrigger,
  onEvent,
  onMessage,
  onObjectCreated,
  onSchedule,
  onWebhook,
} from '../../lib/author/triggers/trigger-declaration.ts';
import { hmacSha256 } from '../../lib/author/triggers/webhook.ts';
import { jsonProblem } from '../../lib/core/values/json.ts';
import { intake } from '../e2e/intake/workflow.ts';

const pattern = { source: ['shop'] };
const input = { what: '$.id', from: 'event' } as const;

it.each<[string, DeclaredTrigger, string]>([
  ['an object', onObjectCreated(intake, { bucket: 'uploads', suffix: '.csv', input }), 'object'],
  ['an event', onEvent(intake, { bus: 'shop', pattern, input }), 'event'],
  ['a schedule', onSchedule(intake, { schedule: 'rate(1 hour)', input }), 'schedule'],
  ['a message', onMessage(intake, { name: 'in', idempotencyKey: '$.body.id' }), 'message'],
  ['a message that is the input', onMessage(intake), 'message'],
])('of %s: the workflow by its name, and what was given, as JSON', (_, trigger, on) => {
  expect(trigger).toMatchObject({ kind: 'steadfast:trigger', workflow: 'intake', on });
  expect(jsonProblem(trigger)).toBeUndefined();
});

it('is typed by the workflow', () => {
  const from = 'event';
  const secret = { kind: 'steadfast:secret', env: 'KEY' } as const;
  const verify = hmacSha256({ header: 'x-signature', secret });
  const typed = (): unknown[] => [
    onEvent(intake, { pattern, input: '$.detail' }),
    onEvent(intake, { pattern, input: { what: { $concat: ['a', '$.b'] }, from: '$.from' } }),
    onEvent(intake, { pattern, input: { what: { $literal: '$5' }, from } }),
    // @ts-expect-error a field is missing
    onEvent(intake, { pattern, input: { what: '$.a' } }),
    // @ts-expect-error a constant that it may not be
    onEvent(intake, { pattern, input: { what: '$.a', from: 'elsewhere' } }),
    // @ts-expect-error a constant of another type
    onEvent(intake, { pattern, input: { what: 5, from } }),
    // @ts-expect-error the input has no such field
    onEvent(intake, { pattern, input: { what: '$.a', from, more: '$.b' } }),
    // @ts-expect-error the same for a schedule
    onSchedule(intake, { schedule: 'rate(1 hour)', input: { what: '$.time' } }),
    // @ts-expect-error the same for an object
    onObjectCreated(intake, { bucket: 'b', input: { what: '$.detail.object.key', from: 'x' } }),
    // @ts-expect-error the same for a message
    onMessage(intake, { input: { what: 5, from } }),
    onWebhook(intake, { verify, input: '$.body' }),
    // @ts-expect-error of a webhook too
    onWebhook(intake, { verify, input: { what: 5, from } }),
    // @ts-expect-error a webhook that neither starts nor answers
    onWebhook(intake, { verify }),
    // @ts-expect-error a workflow by its name has no input to check against
    onSchedule('intake', { schedule: 'rate(1 hour)', input }),
  ];
  expect(typed).toBeInstanceOf(Function);
});
