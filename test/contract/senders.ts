/**
 * Fifty processes send to one execution in one table: every message is accepted once, all have one order, and
 * the steps take the first ones.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { dynamoMailboxes } from '../../lib/aws/dynamo-mailboxes.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { IDS } from '../../lib/scheduler/ids.ts';
import { type Accepted, sendMessage } from '../../lib/scheduler/messages.ts';
import { createScheduler, type Scheduler, start } from '../../lib/scheduler/start.ts';

const Move = z.number();

const SENDERS = 50;
const RECEIVES = 5;

const flow = workflow('flow', { input: z.record(z.string(), z.any()), within: '9h' }, (w) => {
  let before = w.receive('move-1', { message: Move, name: 'move', within: '1h' });
  for (let at = 2; at <= RECEIVES; at += 1)
    before = w.receive(`move-${at}`, { message: Move, name: 'move', within: '1h', after: [before] });
  // It stays open: what is sent later is kept.
  w.receive('more', {
    message: Move,
    name: 'move',
    within: '1h',
    after: [w.wait('rest', { for: '8h', after: [before] })],
  });
}) as Workflow;

export interface Sent {
  readonly accepted: readonly Accepted[];
  readonly scheduler: Scheduler;
  readonly executionId: string;
}

function processOver(client: DynamoDBClient, table: string): Scheduler {
  const options = { table, wakeShards: 2 };
  const pause = (ms: number): Promise<void> => new Promise((over) => setTimeout(over, ms));
  const ports: Ports = {
    ...memoryWorld(),
    store: dynamoStore(client, { ...options, pause }),
    mailboxes: dynamoMailboxes(client, options, pause),
    clock: { now: () => Date.now(), sleep: pause },
    random: { id: () => crypto.randomUUID(), number: () => Math.random() },
  };
  return createScheduler(ports, [flow], IDS);
}

/** @param shared whether all senders are of one process */
export async function fiftySenders(client: DynamoDBClient, table: string, shared = false): Promise<Sent> {
  const scheduler = processOver(client, table);
  const { id: executionId } = await start(scheduler, { workflow: 'flow', input: {} });
  const send = async (at: number): Promise<Accepted> => {
    const own = shared ? scheduler : processOver(client, table);
    for (;;)
      try {
        return await sendMessage(own, { executionId }, { name: 'move', body: at, id: `m-${at}` });
      } catch (error) {
        if (!isSteadfastError(error) || error.code !== 'busy') throw error;
      }
  };
  const accepted = await Promise.all(Array.from({ length: SENDERS }, (_, at) => send(at)));
  return { accepted, scheduler, executionId };
}

/** Checks that all messages were accepted in one order, and that the steps took the first ones. */
export async function expectInOrder({ accepted, scheduler, executionId }: Sent): Promise<void> {
  const { store, mailboxes } = scheduler.ports;
  const inOrder = accepted.toSorted((one, other) => one.order - other.order);
  expect(inOrder.map(({ order }) => order)).toEqual(Array.from({ length: SENDERS }, (_, at) => at + 1));
  const state = (await store.read(executionId))!;
  const taken = Array.from({ length: RECEIVES }, (_, at) => state.steps[`move-${at + 1}`]?.received?.id);
  expect(taken).toEqual(inOrder.slice(0, RECEIVES).map(({ id }) => id));
  const mailbox = await mailboxes?.readMailbox(executionId, state.execution.life);
  expect(mailbox).toMatchObject({ accepted: SENDERS });
  expect(mailbox?.entries.map(({ id }) => id)).toEqual(inOrder.slice(RECEIVES).map(({ id }) => id));
  for (const { id, order } of inOrder)
    expect(await mailboxes?.readMessage(executionId, state.execution.life, id)).toMatchObject({ id, order });
}
