/**
 * Runs all that the example can do: each way from step to step, retries, undo from each step, commands,
 * queries, losses that the supervisor repairs, and the remains of an expired execution.
 */

import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { stepItem } from '../../lib/aws/dynamo-items.ts';
import { TICK_MS } from '../../lib/core/supervision/presence.ts';
import { aStep } from '../contract/records.ts';
import { PRESENT_MS, type Stage, unbusy } from './stage.ts';

/** Leaves a step of a long expired execution, whose own record is gone: the audit must remove the step. */
async function leaveBehind({ cloud, round }: Run): Promise<void> {
  const table = [...cloud.resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable');
  const client = new DynamoDBClient({
    endpoint: cloud.gatewayUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'hand', secretAccessKey: 'x' },
  });
  const Item = stepItem(`expired-${round}`, aStep());
  await client.send(
    new PutItemCommand({
      TableName: table?.ref ?? '',
      Item,
      ConditionExpression: 'attribute_not_exists(pk)',
    }),
  );
  client.destroy();
  await cloud.control.tick('audit');
}

interface Misbehaviour {
  readonly service: 'payment' | 'warehouse' | 'carrier' | 'mail';
  readonly mode: string;
  readonly [option: string]: unknown;
}

interface Run extends Stage {
  readonly round: number;
}

/**
 * Resolves when all is over. Which process does which work is a race, so a test that must see all
 * combinations runs more rounds.
 * @param round makes the orders' ids unique
 */
export async function doEverything(whole: Stage, round: number): Promise<void> {
  const stage: Run = { ...whole, round };
  await stage.sayPresent(PRESENT_MS);
  // Before the supervisor is there, because it would also carry canceled executions on.
  const plain = await orderWith(stage, 'plain');
  await Promise.all([
    stage.ended(plain),
    cancelLate(stage),
    cancelAtWork(stage),
    cancelEarly(stage),
    cancelInBulk(stage),
  ]);
  const losses = await loseMessages(stage);
  await leaveBehind(stage);
  // A tick stays for a minute while something is due, so nobody waits for its end; but beside a supervisor
  // that has promised more than the tick would, it ends as the second one.
  await stage.sayPresent(TICK_MS / 2);
  for (const { name } of stage.cloud.control.schedules()) {
    stage.cloud.control.tick(name).catch(() => undefined);
  }
  await Promise.all([
    ...losses.map((id) => stage.ended(id)),
    goEachWay(stage),
    undoFromEachStep(stage),
    askEverything(stage),
  ]);
  await callSupervisor(stage);
  await erase(stage, plain);
}

/** Erases the execution. The API refuses this for a minute after the last step began. */
async function erase({ request }: Run, id: string): Promise<void> {
  const untilAt = Date.now() + 90_000;
  while ((await request('POST', `/executions/${id}/erase`, {})).status === 409 && Date.now() < untilAt)
    await new Promise((next) => setTimeout(next, 1_000));
}

/**
 * Starts an order in a quiet system, from a process that does not know of the claimed supervisor, so that it
 * calls one.
 */
async function callSupervisor(stage: Run): Promise<void> {
  const { control } = stage.cloud;
  await stage.sayPresent(0);
  const processes = () =>
    control.functions().find(({ logicalId }) => logicalId.includes('SchedulerFunction'))?.processes ?? [];
  for (const { pid } of processes()) process.kill(pid, 'SIGKILL');
  while (processes().length > 0) await new Promise((next) => setTimeout(next, 20));
  await stage.ended(await orderWith(stage, 'calls'));
}

async function misbehave(stage: Run, orderId: string, rule: Misbehaviour): Promise<void> {
  const body = JSON.stringify({ ...rule, match: { about: orderId } });
  await fetch(`${stage.world.url}/behave`, { method: 'POST', body });
}

async function orderWith(stage: Run, orderId: string, ...rules: Misbehaviour[]): Promise<string> {
  const name = `${orderId}-${stage.round}`;
  for (const rule of rules) await misbehave(stage, name, rule);
  return await stage.startOrder(name);
}

/** Lets each branch be the last to end once, and each agent retry. */
async function goEachWay(stage: Run): Promise<void> {
  const services = ['payment', 'warehouse', 'carrier', 'mail'] as const;
  const tries = services.map((service) => ({ service, mode: 'unavailable', times: 1 }));
  const ids = await Promise.all([
    orderWith(stage, 'card-last', { service: 'payment', mode: 'slow', ms: 500 }),
    orderWith(stage, 'stock-last', { service: 'warehouse', mode: 'slow', ms: 500 }),
    orderWith(stage, 'tries', ...tries),
  ]);
  await Promise.all(ids.map((id) => stage.ended(id)));
}

/**
 * Lets a step fail permanently after the other branch is done, so that the undo begins with each of the
 * steps.
 */
async function undoFromEachStep(stage: Run): Promise<void> {
  const refuse = (service: Misbehaviour['service']): Misbehaviour => ({ service, mode: 'decline' });
  const late = (service: Misbehaviour['service']): Misbehaviour => ({ service, mode: 'slow', ms: 800 });
  const ids = await Promise.all([
    orderWith(stage, 'no-card', { service: 'payment', mode: 'unavailable', times: 1 }, refuse('payment')),
    orderWith(
      stage,
      'no-stock',
      { service: 'warehouse', mode: 'unavailable', times: 1 },
      refuse('warehouse'),
    ),
    orderWith(stage, 'no-carrier', refuse('carrier')),
    orderWith(stage, 'late-stock', refuse('payment'), late('warehouse')),
  ]);
  const ended = await Promise.all(ids.map((id) => stage.ended(id)));
  expect(ended.map(({ status }) => status)).not.toContain('succeeded');
  // A failed mail undoes nothing: the order has been shipped.
  expect((await stage.ended(await orderWith(stage, 'no-mail', refuse('mail')))).status).toBe('succeeded');
}

/** Cancels when no agent is at work, so that the scheduler sends the undo. */
async function cancelLate(stage: Run): Promise<void> {
  const id = await orderWith(stage, 'canceled', { service: 'mail', mode: 'unavailable' });
  await cancelBetweenTries(stage, id, ['notify']);
}

/** Cancels while the last agent is at work, so that its report sends the first undo. */
async function cancelAtWork(stage: Run, times = 0): Promise<void> {
  const id = await orderWith(stage, `canceled-at-work-${times}`, {
    service: 'mail',
    mode: 'slow',
    ms: 2_000,
  });
  for (;;) {
    const { body } = await stage.request('GET', `/executions/${id}`);
    const notify = (body.steps as { readonly name: string; readonly status: string }[]).find(
      ({ name }) => name === 'notify',
    );
    if (notify?.status === 'running' || body.endedAt !== undefined) break;
    await new Promise((next) => setTimeout(next, 50));
  }
  await stage.request('POST', `/executions/${id}/cancel`, { reason: 'changed my mind' });
  const { status } = await stage.ended(id);
  // On a busy machine it ended first.
  if (status === 'succeeded') await cancelAtWork(stage, times + 1);
  else expect(status).toBe('canceled');
}

/** Cancels when there is nothing to undo, so that the scheduler ends the execution. */
async function cancelEarly(stage: Run): Promise<void> {
  const rules = (['payment', 'warehouse'] as const).map((service) => ({ service, mode: 'unavailable' }));
  await cancelBetweenTries(stage, await orderWith(stage, 'canceled-early', ...rules), ['charge', 'reserve']);
}

/** Cancels in bulk, so that the agent of bulk actions sends the undo. */
async function cancelInBulk(stage: Run, times = 0): Promise<void> {
  // Not the mail: a second order whose mail fails would open its breaker, and nothing yet sends what the
  // breaker defers.
  const id = await orderWith(stage, `canceled-in-bulk-${times}`, { service: 'carrier', mode: 'unavailable' });
  await betweenTries(stage, id, ['ship']);
  const { body: bulk } = await unbusy(() => stage.request('POST', '/bulk', { action: 'cancel', ids: [id] }));
  const { body, text } = await unbusy(() => stage.request('POST', `/bulk/${bulk.bulkId}/confirm`));
  if (body.executionId === undefined) throw new Error(`it is not confirmed: ${text}`);
  await stage.ended(body.executionId);
  const done = (await stage.request('GET', `/bulk/${bulk.bulkId}`)).body;
  expect(done).toMatchObject({ status: 'done', progress: { acted: 1 } });
  // On a busy machine its tries ended first.
  if (done.progress.applied === 0) await cancelInBulk(stage, times + 1);
}

async function cancelBetweenTries(stage: Run, id: string, steps: readonly string[]): Promise<void> {
  await betweenTries(stage, id, steps);
  await stage.request('POST', `/executions/${id}/cancel`, { reason: 'changed my mind' });
  await stage.ended(id);
}

async function betweenTries(stage: Run, id: string, steps: readonly string[]): Promise<void> {
  interface Shown {
    readonly name: string;
    readonly status: string;
    readonly attempts: readonly unknown[];
  }
  for (;;) {
    const { body } = await stage.request('GET', `/executions/${id}`);
    const shown = (body.steps as Shown[]).filter(({ name }) => steps.includes(name));
    // The third pause is two seconds long, the fourth four.
    const pausing = shown.filter(({ status, attempts }) => status === 'retrying' && attempts.length >= 3);
    if (pausing.length === steps.length || body.endedAt !== undefined) break;
    await new Promise((next) => setTimeout(next, 50));
  }
}

async function askEverything(stage: Run): Promise<void> {
  for (const path of [
    '/workflows',
    '/executions?workflow=order-fulfilment',
    '/executions?status=bad',
    '/executions?code=card-declined',
    '/overview',
    '/incidents',
    '/agents',
    '/health',
    '/nowhere',
  ]) {
    await stage.request('GET', path);
  }
}

/**
 * Kills each agent's process before it has done anything, and the last one before it has announced the end.
 */
async function loseMessages(stage: Run): Promise<string[]> {
  const lose = async (orderId: string, agent: string, operation?: string): Promise<string> => {
    const moment = { beforeCall: 1, ...(operation === undefined ? {} : { operation }) };
    const { hit } = stage.cloud.control.kill(agent, moment);
    // Branches that end together both notify the join, and the second message would repair what is lost here.
    const id = await orderWith(stage, orderId, { service: 'warehouse', mode: 'slow', ms: 300 });
    await hit;
    return id;
  };
  const ids: string[] = [];
  for (const agent of ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer']) {
    ids.push(await lose(`lost-${agent}`, agent));
  }
  return [...ids, await lose('unannounced', 'notify-customer', 'PutEvents')];
}
