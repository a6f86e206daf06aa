/** Permissions that an end-to-end run of order-fulfilment does not use, because it starts no preorder. */

import type { Row } from './permissions.ts';

const ORDER_AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'];
/** The rows. The tests of the default stack and of lanes do start preorders. */
export const PREORDER_MAY_BE_IDLE: readonly Row[] = [
  ...[...ORDER_AGENTS, 'authorise-card', 'steadfast-bulk', 'scheduler', 'supervisor'].map((who) => ({
    who,
    actions: ['dynamodb:DeleteItem'],
    on: 'table',
    because: 'whoever ends what has a place in a lane removes it from the queue',
  })),
  ...[...ORDER_AGENTS, 'authorise-card'].flatMap((name) =>
    [...new Set([name, 'authorise-card'])].map((who) => ({
      who,
      actions: ['sqs:SendMessage'],
      on: `queue of ${who === name ? 'authorise-card' : name}`,
      because: 'agents are granted by workflow: they work together in a preorder',
    })),
  ),
  ...[
    ['table', ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query']] as const,
    ['its log', ['logs:CreateLogStream', 'logs:PutLogEvents']] as const,
    ['its queue', ['sqs:ReceiveMessage', 'sqs:DeleteMessage']] as const,
    ['bus', ['events:PutEvents']] as const,
    ['wake bus', ['events:PutEvents']] as const,
  ].map(([on, actions]) => ({
    who: 'authorise-card',
    actions,
    on,
    because: 'what every agent needs; this one works in a preorder alone',
  })),
];
