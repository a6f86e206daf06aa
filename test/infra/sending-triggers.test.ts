/** Triggers that send messages to executions: their compiled form and refusals. */

import { Bucket } from 'aws-cdk-lib/aws-s3';
import {
  type DeclaredTrigger,
  onEvent,
  onMessage,
  onObjectCreated,
  onSchedule,
  onWebhook,
} from '../../lib/author/triggers/trigger-declaration.ts';
import { hmacSha256 } from '../../lib/author/triggers/webhook.ts';
import { secret } from '../../lib/index.ts';
import {
  compiledTrigger,
  EVENT,
  MESSAGE,
  OBJECT_CREATED,
  WEBHOOK,
  webhookName,
} from '../../lib/infra/event-shapes.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';

const order = { name: 'order', input: { '~standard': {} } } as const;
const pattern = { source: ['bank'], detailType: ['paid'] };
const ref = (...path: string[]) => ({ $ref: 'input', path });

const workflows = FOUND.workflows.map((one) => (one.name === 'order' ? { ...one, messages: ['paid'] } : one));
const stackWith = (...triggers: readonly DeclaredTrigger[]) =>
  makeStack({
    workflows: {
      ...FOUND,
      workflows,
      triggers: triggers.map((trigger, at) => ({ file: 'order/triggers.ts', exportName: `t${at}`, trigger })),
    },
    settings: (stack) => ({ buckets: { uploads: new Bucket(stack, 'Uploads') } }),
  });

test('a trigger that sends has the id of its event, its body, and the key of the execution', () => {
  const { options } = onEvent(order, {
    pattern,
    send: 'paid',
    key: '$.detail.orderId',
    startedBy: 'order-event',
  });
  expect(compiledTrigger(EVENT, 'order', options)).toEqual({
    name: 'order-paid',
    workflow: 'order',
    from: 'event',
    input: ref('detail'),
    key: [ref('id')],
    send: { message: 'paid', key: [ref('detail', 'orderId')], startedBy: 'order-event' },
  });
  const joined = { $concat: ['o-', '$.body.id'] } as const;
  const message = onMessage(order, { send: 'paid', key: joined, message: { amount: '$.body.amount' } });
  expect(compiledTrigger(MESSAGE, 'order', message.options as never)).toMatchObject({
    input: { amount: ref('body', 'amount') },
    key: [ref('messageId')],
    send: { key: [{ $concat: ['o-', ref('body', 'id')] }] },
  });
  const object = onObjectCreated(order, {
    bucket: 'uploads',
    send: 'paid',
    key: '$.detail.object.key',
    name: 'file',
  });
  expect(compiledTrigger(OBJECT_CREATED, 'order', object.options)).toMatchObject({
    name: 'file',
    key: [
      ref('detail', 'bucket', 'name'),
      ref('detail', 'object', 'key'),
      ref('detail', 'object', 'sequencer'),
    ],
  });
});

test('a webhook sends its body, and is named by the message', () => {
  const verify = hmacSha256({ header: 'bank-signature', secret: secret('BANK') });
  const paid = onWebhook(order, { verify, send: 'paid', key: '$.body.order' });
  expect(webhookName(paid)).toBe('order-paid');
  expect(compiledTrigger(WEBHOOK, 'order', paid.options as never)).toMatchObject({
    name: 'order-paid',
    from: 'webhook',
    input: ref('body'),
    key: [ref('hash')],
    send: { message: 'paid', key: [ref('body', 'order')] },
  });
  const both = { verify, send: 'paid', key: '$.body.order', answers: 'x', output: '$.body' };
  expect(() => onWebhook(order, both as never)).toThrow('to answer a callback');
});

test('each has a queue as one that starts has', () => {
  const stack = stackWith(
    onEvent(order, { pattern, input: '$.detail' }),
    onEvent(order, { pattern, send: 'paid', key: '$.detail.orderId' }),
    onMessage(order, { name: 'payments', send: 'paid', key: '$.body.orderId' }),
    onObjectCreated(order, { bucket: 'uploads', name: 'files', send: 'paid', key: '$.detail.object.key' }),
  );
  expect([...stack.steadfast.triggers.all.keys()]).toEqual([
    'order-event',
    'order-paid',
    'payments',
    'files',
  ]);
  expect(
    new Reader(stack).one('AWS::Events::Rule', 'Triggers/order-paid/Rule').Properties['EventPattern'],
  ).toEqual({
    source: ['bank'],
    'detail-type': ['paid'],
  });
});

test.each<[string, () => unknown, string]>([
  [
    'a message that there is not',
    () => stackWith(onEvent(order, { pattern, send: 'payed', key: '$.detail.orderId' })),
    "order/triggers.ts, t0: trigger 'order-payed': it sends 'payed', and workflow 'order' takes no such message; there are: paid",
  ],
  [
    'a workflow that takes none',
    () => stackWith(onMessage({ ...order, name: 'report' }, { send: 'paid', key: '$.body.id' })),
    'it takes no message',
  ],
  [
    'a key that is the same for every event',
    () => stackWith(onEvent(order, { pattern, send: 'paid', key: 'o-1' as never })),
    "trigger 'order-paid': key: 'o-1' is the same for every event",
  ],
  [
    'a key of several parts that no trigger has',
    () => stackWith(onEvent(order, { pattern, send: 'paid', key: ['$.detail.a', '$.detail.b'] })),
    'key has 2 parts',
  ],
  [
    'an input of what it starts that the event cannot have',
    () => stackWith(onMessage(order, { send: 'paid', key: '$.body.id', startWith: { a: '$.text' } })),
    "trigger 'order-paid': startWith.a: '$.text' is not in events of this kind",
  ],
  [
    'an input beside it',
    () => onEvent(order, { pattern, send: 'paid', key: '$.detail.a', input: '$.detail' } as never),
    "'input' is not an option",
  ],
  [
    'a schedule, which is for no execution',
    () => onSchedule(order, { schedule: 'rate(1 hour)', send: 'paid', key: '$.time' } as never),
    "'send' is not an option",
  ],
])('refuses %s', (_, make, message) => {
  expect(make).toThrow(message);
});
