/** Notifications to the `callbackUrl` of starts: deployed only with a secret, with few permissions. */

import { Key } from 'aws-cdk-lib/aws-kms';
import { Steadfast } from '../../lib/infra/steadfast.ts';
import type { SteadfastStackProps } from '../../lib/infra/steadfast-stack.ts';
import { gapMs } from '../../lib/notifications/tries.ts';
import { FOUND } from './fixture.ts';
import { findingsOf, makeStack, Reader } from './template.ts';

const HOUR_MS = 3_600_000;
const secretOf = (where: object) => ({ kind: 'steadfast:secret', env: 'KEY', ...where }) as const;
const withCallbackUrls = (callbackUrls?: SteadfastStackProps['callbackUrls']) =>
  makeStack({ workflows: FOUND, ...(callbackUrls === undefined ? {} : { callbackUrls }) });
const stack = withCallbackUrls({ secret: secretOf({ parameter: '/shop/events' }) });
const reader = new Reader(stack);

test('events that a start asked for go to a queue, and cdk-nag finds nothing', () => {
  expect(findingsOf(stack)).toEqual([]);
  const rules = reader.ofType('AWS::Events::Rule').map(({ Properties }) => Properties['EventPattern']);
  expect(rules).toContainEqual({
    source: ['steadfast'],
    'detail-type': ['Steadfast Execution Ended', 'Steadfast Question'],
    detail: { notify: [{ exists: true }] },
  });
});

test('the function reads executions by key, its secret and its queue; the API knows that there is one', () => {
  const environment = reader.environmentOf('Notifications');
  expect(JSON.parse(String(environment['STEADFAST_NOTIFICATIONS']))).toEqual({
    secret: { env: 'KEY', parameter: '/shop/events' },
    allowsPrivate: false,
  });
  expect(reader.environmentOf('Scheduler')['STEADFAST_NOTIFICATIONS']).toBe('true');
  const rights = reader.matrixOf('Notifications').map((line) => line.split(' ')[0]);
  expect(rights.filter((right) => right?.startsWith('logs:') !== true)).toEqual([
    'dynamodb:GetItem',
    'sqs:ChangeMessageVisibility',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
    'sqs:ReceiveMessage',
    'ssm:GetParameter',
  ]);
});

test('without a secret there is nothing of it, and one that lies nowhere is refused', () => {
  const without = JSON.stringify(new Reader(withCallbackUrls()).all);
  expect([/STEADFAST_NOTIFICATIONS/, /Steadfast notifications/].filter((text) => text.test(without))).toEqual(
    [],
  );
  expect(() => withCallbackUrls({ secret: secretOf({}) })).toThrow(
    'callbackUrls: nothing says where the secret KEY lies',
  );
});

test('its queue keeps what is under way, tries for a day, and is open to the bus where it is encrypted', () => {
  const other = makeStack();
  const encryptionKey = new Key(other, 'Key', { enableKeyRotation: true });
  const callbackUrls = { secret: secretOf({ parameter: '/shop/events' }) };
  const shop = new Steadfast(other, 'Shop', { workflows: FOUND, encryptionKey, callbackUrls });
  expect(shop.notifications).toBeDefined();
  const keyed = new Reader(other);
  const [policy] = keyed.ofType('AWS::KMS::Key').map(({ Properties }) => JSON.stringify(Properties));
  expect(policy).toContain('events.amazonaws.com');
  const [queue] = keyed
    .ofType('AWS::SQS::Queue')
    .map(({ Properties }) => Properties)
    .filter(({ VisibilityTimeout }) => VisibilityTimeout === 180) as [Record<string, object>];
  const { maxReceiveCount } = queue['RedrivePolicy'] as { maxReceiveCount: number };
  const hoursAt = (wishMs: number): number =>
    Array.from({ length: maxReceiveCount - 1 }, (_, at) => gapMs(at + 1, wishMs)).reduce(
      (sum, ms) => sum + ms,
    ) / HOUR_MS;
  expect(hoursAt(0)).toBeGreaterThanOrEqual(24);
  expect(hoursAt(0)).toBeLessThan(24.1);
  expect(hoursAt(12 * HOUR_MS)).toBeLessThan(25);
});
