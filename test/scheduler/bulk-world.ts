/** For tests of bulk actions: a bank that refuses orders, and executions that fail because of it. */

import type { BulkCommand } from '../../lib/core/operators/bulk.ts';
import type { Bulks } from '../../lib/core/ports.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { confirmBulk, makeBulk, showBulk } from '../../lib/scheduler/bulks.ts';
import type { Scheduler } from '../../lib/scheduler/start.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

export const ann = { kind: 'local', name: 'ann' } as const;
export const bank = anAgent('bank', { undo: 'none' });
const pay = workflow('pay', { input: anyObject, within: '1h' }, (w) => {
  w.step('charge', bank, { order: w.input['order'] } as never, { recovery: [retry(0)] });
}) as Workflow;

export interface World extends Harness {
  readonly calls: string[];
  /** Orders that the bank refuses now. */
  readonly refused: Set<string>;
  readonly bulks: Bulks;
}

export function world(of: Workflow = pay): World {
  const calls: string[] = [];
  const refused = new Set<string>();
  const bulks = memoryBulks();
  const execute = async (_: unknown, input: unknown): Promise<object> => {
    const { order = '' } = input as { order?: string };
    calls.push(order);
    if (refused.has(order)) throw Object.assign(new PermanentError('declined'), { code: 'declined' });
    return { ok: true };
  };
  const h = harness(of, { bank: { execute } }, 1, (ports) => ({ ...ports, bulks }));
  return { ...h, calls, refused, bulks };
}

/** Failed executions, one for each order. */
export async function failed(h: World, orders: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const order of orders) {
    h.refused.add(order);
    const { id } = await h.begin({ order });
    await h.run(id);
    ids.push(id);
  }
  h.clock.advanceTo(h.clock.now() + 1_000);
  return ids;
}

export const orders = (count: number): string[] => Array.from({ length: count }, (_, at) => `o-${at}`);

export const make = (h: World, command: BulkCommand, more: object) =>
  makeBulk(h.scheduler, { command, by: ann, ...more });
export const RETRY: BulkCommand = { action: 'retry', reason: 'the bank is back' };

/** Confirms the bulk action, and runs all to its end. */
export async function confirmed(h: World, id: string, as: 'confirm' | 'answer' = 'confirm') {
  await confirmBulk(h.scheduler, id, as, ann);
  const { executionId } = await showBulk(h.scheduler, id);
  await h.run(executionId);
  return showBulk(h.scheduler, id);
}

export const statusesOf = async (h: World, ids: readonly string[]): Promise<string[]> =>
  Promise.all(ids.map(async (id) => (await h.run(id)).execution.status));

/** The scheduler of a process that does a page again, because one before it died before its result. */
export const asIfUncounted = ({ scheduler, bulks }: World): Scheduler => ({
  ...scheduler,
  ports: {
    ...scheduler.ports,
    bulks: { ...bulks, readResult: async () => undefined, write: async () => 'written' },
  },
});
