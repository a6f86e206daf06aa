/**
 * A night on call, made by the real roles on ports in memory: declined orders, one that waits for a person,
 * one whose carrier did not answer, one canceled without undo, a service that is down, one that was down, and
 * an execution of an older plan.
 */

import { createHash } from 'node:crypto';
import { done } from '../../lib/core/plan/answers.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { createScheduler, start } from '../../lib/scheduler/start.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { memoryApi, type MemoryApi, type MemoryPage, NOT_DEPLOYED } from './memory-world.ts';
import { servePage } from './page-server.ts';

const card = anAgent('charge-card');
const carrier = anAgent('carrier', { effect: 'probed' });
const mailer = anAgent('mailer', { effect: 'none', undo: 'none' });

const orderOf = (within: '2h' | '3h'): Workflow =>
  workflow('order', { input: anyObject, within, tags: ['orderId'] }, (w) => {
    const charge = w.step('charge', card, { amount: w.input['amount'] } as never, { recovery: [retry(0)] });
    const ship = w.step('ship', carrier, { to: w.input['orderId'] } as never, {
      after: [charge],
      recovery: [retry(2)],
    });
    w.approval('release', { within: '1h', otherwise: 'approve', after: [ship] });
    w.step('mail', mailer, {}, { recovery: [retry(0)] });
  }) as unknown as Workflow;

export interface OnCall extends MemoryApi {
  /** The ids of the executions, by order. */
  readonly ids: Readonly<Record<'4711' | '4712' | '4713' | '4714' | 'old', string>>;
  readonly declined: readonly string[];
  /** While the card is declined, orders fail at once; otherwise they succeed. */
  readonly card: { declined: boolean };
}

/** The same behind a page. */
export async function onCallPage(declined?: number): Promise<OnCall & Pick<MemoryPage, 'server'>> {
  const night = await onCall(declined);
  return { ...night, server: await servePage(night.api) };
}

/** @param declined how many orders are declined */
export async function onCall(declined = 3): Promise<OnCall> {
  const cards = { declined: false };
  const decline = (): never => {
    throw Object.assign(new PermanentError('the card was declined'), { code: 'card-declined' });
  };
  // The time that an external service takes.
  const pass = (ms: number): void => world.clock.advanceTo(world.clock.now() + ms);
  const world = memoryApi(orderOf('2h'), {
    'charge-card': {
      execute: async () => (cards.declined ? decline() : { chargeId: 'c-1' }),
      undo: async () => undefined,
    },
    carrier: {
      execute: async (_, input) => {
        // The reply was lost; the parcel is on its way.
        if (Object(input)['to'] === '4713') {
          pass(4_000);
          throw new Error('socket hang up');
        }
        return { parcel: 'p-1' };
      },
      probe: async () => {
        pass(2_000);
        return done({ parcel: 'p-2' });
      },
      undo: async () => undefined,
    },
    mailer: { execute: async () => ({}) },
  });
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  const older = createScheduler(world, [orderOf('3h')], { hash, newId: () => 'e-old' });
  const old = await start(older, {
    workflow: 'order',
    input: { orderId: '4710' },
    tags: { orderId: '4710' },
  });
  const begun = async (orderId: string): Promise<string> =>
    (await start(world.scheduler, { workflow: 'order', input: { orderId, amount: 42 }, tags: { orderId } }))
      .id;
  const waits = ({ questions = {} }: Snapshot): boolean => questions['release'] !== undefined;
  const canceled = await begun('4712');
  await world.run(canceled, { until: waits });
  await world.post(`/executions/${canceled}/cancel`, { undo: false, reason: 'ordered twice' });
  await world.run(canceled);
  const lost = await begun('4713');
  await world.run(lost, { until: waits });
  cards.declined = true;
  const failed: string[] = [];
  for (let at = 0; at < declined; at += 1) failed.push(await begun(`5${String(at).padStart(3, '0')}`));
  for (const id of failed) await world.run(id);
  cards.declined = false;
  const waiting = await begun('4711');
  await world.run(waiting, { until: waits });
  const asked = await begun('4714');
  await world.run(asked, { until: waits });
  await outOfOrder(world);
  return {
    ...world,
    ids: { 4711: waiting, 4712: canceled, 4713: lost, 4714: asked, old: old.id },
    declined: failed,
    card: cards,
  };
}

/** Takes the mailer's service down. */
async function outOfOrder({ breakers, clock }: MemoryApi): Promise<void> {
  const at = clock.now() - 1_800_000;
  const failure = { code: 'Error', message: 'socket hang up' };
  const about = { version: 1, writeId: 'w', failure };
  await breakers.write({
    ...about,
    agent: 'mailer',
    score: 8,
    failedAt: at,
    cooldowns: 5,
    openedAt: at,
    openUntil: clock.now() + 120_000,
  });
}

/** Records how many executions supervisors found waiting for a missing agent; none if it is back. */
export async function meetMissing({ receipts, clock }: MemoryApi, forMs: number | undefined): Promise<void> {
  const now = clock.now();
  const [before] = (await receipts.read()).shards;
  const found =
    forMs === undefined
      ? {}
      : { missing: { [NOT_DEPLOYED]: 2 }, missingSince: { [NOT_DEPLOYED]: now - forMs } };
  await receipts.write({
    shard: 0,
    version: (before?.version ?? 0) + 1,
    writeId: `w-${now}`,
    sweptAt: now,
    due: 2,
    failed: 0,
    oldestOverdueMs: 0,
    ...found,
  });
}
