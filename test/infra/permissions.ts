/**
 * All permissions with their reasons. `permissions.test.ts` compares them with the template in both
 * directions; `test/e2e/permissions.test.ts` shows that each is needed, except those with an argument below.
 */

import { PREORDER_MAY_BE_IDLE } from './preorder-permissions.ts';
import { AUDIT_OF_VALUES, ERASURE_OF_VALUES, VALUES, VALUES_MAY_BE_IDLE } from './value-permissions.ts';

export interface Row {
  /** `every function`, `every agent`, one role, or a service of AWS. */
  readonly who: string;
  readonly actions: readonly string[];
  /**
   * `its …` belongs to the function alone; `the queues of its workflows` are those of all agents it works
   * with; `all queues` are all agents' queues, by the prefix of their names.
   */
  readonly on: string;
  readonly because: string;
}

export const PERMISSIONS: readonly Row[] = [
  {
    who: 'every function',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
    on: 'table',
    because: 'plans by key, conditional writes alone and in transactions, an execution with its steps',
  },
  {
    who: 'every function',
    actions: ['events:PutEvents'],
    on: 'bus',
    because: 'whoever writes the end of an execution announces it',
  },
  ...VALUES('every function'),
  ...['scheduler', 'every agent'].map((who) => ({
    who,
    actions: ['events:PutEvents'],
    on: 'wake bus',
    because: 'whoever writes what is due before the next tick calls a supervisor',
  })),
  {
    who: 'every function',
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    on: 'its log',
    because: 'Lambda writes the log with the function’s role',
  },
  {
    who: 'every agent',
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    on: 'its queue',
    because: 'Lambda polls the queue with the function’s role',
  },
  {
    who: 'every agent',
    actions: ['sqs:SendMessage'],
    on: 'the queues of its workflows',
    because: 'next steps, retries, undo: whoever wrote a result sends what follows from it',
  },
  {
    who: 'steadfast-bulk',
    actions: ['sqs:SendMessage'],
    on: 'all queues',
    because: 'what follows from a command to many executions, of any workflow',
  },
  {
    who: 'scheduler',
    actions: ['sqs:SendMessage'],
    on: 'all queues',
    because: 'first steps, and what follows from an operator’s command',
  },
  {
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: 'index list',
    because: 'lists of executions and incidents',
  },
  {
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: 'index ended',
    because: 'executions that ended badly, listed and counted',
  },
  ...['tag1', 'tag2', 'tag3'].map((name) => ({
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: `index ${name}`,
    because: 'executions by a tag',
  })),
  {
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: 'index code',
    because: 'executions by the code of a failure',
  },
  {
    who: 'scheduler',
    actions: ['dynamodb:BatchGetItem'],
    on: 'table',
    because: 'the items of a page of a list',
  },
  {
    who: 'scheduler',
    actions: ['sqs:GetQueueAttributes'],
    on: 'all queues',
    because: '/agents: how full each queue is',
  },
  {
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: 'index wake',
    because: 'what is overdue, open or at risk',
  },
  {
    who: 'supervisor',
    actions: ['sqs:SendMessage'],
    on: 'all queues',
    because: 'what was lost is sent again',
  },
  {
    who: 'supervisor',
    actions: ['sqs:GetQueueAttributes'],
    on: 'all queues',
    because: 'of much that was lost no more is sent again than a queue has room for',
  },
  { who: 'supervisor', actions: ['dynamodb:Query'], on: 'index wake', because: 'a sweep finds what is due' },
  {
    who: 'supervisor',
    actions: ['dynamodb:BatchGetItem'],
    on: 'table',
    because: 'the receipts of all shards at once, the breakers of all agents at once',
  },
  {
    who: 'supervisor',
    actions: ['dynamodb:Query'],
    on: 'index list',
    because: 'how many incidents are open, once a tick',
  },
  {
    who: 'audit',
    actions: ['dynamodb:Scan', 'dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
    on: 'table',
    because: 'reads the table without its indexes, heals watches, keeps its receipt',
  },
  {
    who: 'scheduler',
    actions: ['dynamodb:DeleteItem'],
    on: 'table',
    because: 'erases executions that are over, by their keys alone, for a caller who may',
  },
  ...ERASURE_OF_VALUES,
  {
    who: 'audit',
    actions: ['dynamodb:DeleteItem'],
    on: 'table',
    because: 'removes what expired executions leave behind',
  },
  ...AUDIT_OF_VALUES,
  {
    who: 'audit',
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    on: 'its log',
    because: 'Lambda writes the log with the function’s role',
  },
  {
    who: 'events.amazonaws.com',
    actions: ['lambda:InvokeFunction'],
    on: 'function of audit',
    because: 'the audit’s own schedule',
  },
  {
    who: 'lambda.amazonaws.com',
    actions: ['sts:AssumeRole'],
    on: 'all roles',
    because: 'a function has its own role',
  },
  {
    who: 'apigateway.amazonaws.com',
    actions: ['lambda:InvokeFunction'],
    on: 'function of scheduler',
    because: 'each route, and $default, ends in the scheduler',
  },
  {
    who: 'events.amazonaws.com',
    actions: ['lambda:InvokeFunction'],
    on: 'function of supervisor',
    because: 'the tick, and a call by another function',
  },
];

export interface TriggerRows {
  readonly source: 'rule' | 'schedule' | 'none';
  /** The agents of the workflow that it starts. */
  readonly agents: readonly string[];
}

/** The additional rows of each trigger, by its name. */
export const TRIGGER_PERMISSIONS = (triggers: Readonly<Record<string, TriggerRows>>): Row[] =>
  Object.entries(triggers).flatMap(([who, { source, agents }]) => [
    {
      who,
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
      on: 'table',
      because: 'a start: plan, execution, and what follows at once',
    },
    ...VALUES(who),
    { who, actions: ['events:PutEvents'], on: 'bus', because: 'an execution may end with its start' },
    { who, actions: ['events:PutEvents'], on: 'wake bus', because: 'a start in a quiet system' },
    {
      who,
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      on: 'its log',
      because: 'Lambda writes the log with the function’s role',
    },
    {
      who,
      actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
      on: 'its queue',
      because: 'Lambda polls the queue with the function’s role',
    },
    {
      who,
      actions: ['sqs:SendMessage'],
      on: `dead-letter queue of ${who}`,
      because: 'what starts nothing is set aside at once',
    },
    ...agents.map((agent) => ({
      who,
      actions: ['sqs:SendMessage'],
      on: `queue of ${agent}`,
      because: 'first steps, whichever of the workflow’s they are',
    })),
    {
      who: 'lambda.amazonaws.com',
      actions: ['sts:AssumeRole'],
      on: `role of ${who}`,
      because: 'a function has its own role',
    },
    ...deliveries(who, source),
  ]);

/** Permissions to send to a trigger's queue, or to set aside messages that cannot be delivered. */
function deliveries(trigger: string, source: TriggerRows['source']): Row[] {
  if (source === 'none') return [];
  const actions = ['sqs:SendMessage'];
  const who = source === 'rule' ? 'events.amazonaws.com' : trigger;
  return [
    { who, actions, on: `queue of ${trigger}`, because: 'the source delivers' },
    { who, actions, on: `dead-letter queue of ${trigger}`, because: 'what cannot be delivered is kept' },
    ...(source === 'rule'
      ? []
      : [
          {
            who: 'scheduler.amazonaws.com',
            actions: ['sts:AssumeRole'],
            on: `role of ${trigger}`,
            because: 'a schedule has its own role',
          },
        ]),
  ];
}

/** The rows that a run without an outage may leave unused. */
export const TRIGGER_MAY_BE_IDLE = (triggers: Readonly<Record<string, Pick<TriggerRows, 'source'>>>): Row[] =>
  Object.entries(triggers).flatMap(([trigger, { source }]) => [
    {
      who: trigger,
      actions: ['events:PutEvents'],
      on: 'bus',
      because: 'only a workflow whose steps are all skipped ends with its start',
    },
    {
      who: trigger,
      actions: ['dynamodb:Query'],
      on: 'table',
      because: 'a start that goes on at once (a step skipped, a child, a breaker that is open) reads again',
    },
    {
      who: trigger,
      actions: ['events:PutEvents'],
      on: 'wake bus',
      because: 'of starts within seconds one calls a supervisor, whosever it is',
    },
    ...VALUES(trigger),
    ...deliveries(trigger, source).filter(({ on }) => on.startsWith('dead-letter')),
  ]);

/** Permissions of the order-fulfilment example that an end-to-end run may leave unused. */
export const MAY_BE_IDLE: readonly Row[] = [
  ...VALUES_MAY_BE_IDLE,
  ...PREORDER_MAY_BE_IDLE,
  ...['tag1', 'tag2', 'tag3'].map((name) => ({
    who: 'scheduler',
    actions: ['dynamodb:Query'],
    on: `index ${name}`,
    because: 'the workflow of the example names no field to search by',
  })),
  {
    who: 'supervisor',
    actions: ['sqs:GetQueueAttributes'],
    on: 'all queues',
    because: 'asked only when more than thirty messages to one agent were lost at once',
  },
  ...['charge-card', 'reserve-stock'].map((who) => ({
    who,
    actions: ['sqs:SendMessage'],
    on: 'queue of notify-customer',
    because: 'the customer is told by whichever agent was last to undo something, or by the scheduler',
  })),
  ...['queue of charge-card', 'queue of reserve-stock'].map((on) => ({
    who: 'notify-customer',
    actions: ['sqs:SendMessage'],
    on,
    because:
      'agents are granted by workflow: an undo goes on with an earlier step when those between need none',
  })),
  ...['charge-card', 'reserve-stock'].map((who) => ({
    who,
    actions: ['sqs:SendMessage'],
    on: `queue of ${who === 'charge-card' ? 'reserve-stock' : 'charge-card'}`,
    because: 'the undo of one branch by the agent of the other: whoever is first to see that all is quiet',
  })),
  ...['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'].map((who) => ({
    who,
    actions: ['events:PutEvents'],
    on: 'wake bus',
    because:
      'an agent brings a wake time near where it tells a parent, or gives up: none of it in the example',
  })),
  {
    who: 'steadfast-bulk',
    actions: ['events:PutEvents'],
    on: 'wake bus',
    because:
      'a command that makes something due within a minute: in the run a supervisor is said to be there',
  },
  ...['charge-card', 'reserve-stock', 'schedule-shipping', 'scheduler'].map((who) => ({
    who,
    actions: ['events:PutEvents'],
    on: 'bus',
    because: 'whoever is the last announces the end; in the example the customer is told after all of them',
  })),
];
