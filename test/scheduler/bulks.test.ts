/**
 * Bulk actions: which executions they select, no act before the confirmation, one command for each execution.
 */

import { STATUS_GROUPS } from '../../lib/core/operators/list-filter.ts';
import { obeyedOf } from '../../lib/core/operators/obey.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { actOnPage } from '../../lib/scheduler/bulk-page.ts';
import { collectBulk, confirmBulk, makeBulk, showBulk } from '../../lib/scheduler/bulks.ts';
import { pause as pauseOne, resume as resumeOne, retry as retryOne } from '../../lib/scheduler/commands.ts';
import { list } from '../../lib/scheduler/lists.ts';
import { start } from '../../lib/scheduler/start.ts';
import {
  ann,
  asIfUncounted,
  confirmed,
  failed,
  make,
  orders,
  RETRY,
  statusesOf,
  world,
} from './bulk-world.ts';

describe('a bulk retry', () => {
  it('shows how many and which, acts on nothing until it is confirmed, then retries each once', async () => {
    const h = world();
    const ids = await failed(h, orders(12));
    const before = h.calls.length;
    h.refused.clear();
    const bulk = await make(h, RETRY, { filter: { statuses: ['failed'] } });
    expect(bulk).toMatchObject({ isCollected: true, count: 12, leftOut: 0, pages: 1 });
    const { examples } = await showBulk(h.scheduler, bulk.id);
    expect(examples).toHaveLength(10);
    expect(ids).toEqual(expect.arrayContaining(examples.map(({ id }) => id)));
    expect(h.calls).toHaveLength(before);

    const shown = await confirmed(h, bulk.id);
    expect(shown).toMatchObject({
      pagesDone: 1,
      result: { applied: 12, refused: {} },
      execution: { status: 'succeeded', workflow: 'steadfast-bulk', startedBy: ann },
    });
    expect(await statusesOf(h, ids)).toEqual(ids.map(() => 'succeeded'));
    expect(h.calls).toHaveLength(before + 12);
    const { execution } = await h.state(ids[0] ?? '');
    expect(execution).toMatchObject({ retries: [{ by: ann, reason: 'the bank is back' }] });
    expect(
      obeyedOf(execution, { type: 'retry', commandId: `${bulk.id}.${execution.id}` })?.at,
    ).toBeGreaterThan(0);
  });

  it('is about the executions of the workflow that its filter names, and of no other', async () => {
    const h = world();
    const [id = ''] = await failed(h, orders(1));
    const { execution } = await h.state(id);
    await h.scheduler.ports.store.create({ ...execution, id: 'of-another', workflow: 'refund' });
    const bulk = await make(h, RETRY, { filter: { statuses: ['failed'], workflow: 'pay' } });
    expect([bulk.count, bulk.examples]).toEqual([1, [id]]);
  });

  it('does not retry one again that fails again, also where its page is done again (S15)', async () => {
    const h = world();
    const ids = await failed(h, orders(3));
    const bulk = await make(h, RETRY, { ids });
    await confirmed(h, bulk.id);
    expect(await statusesOf(h, ids)).toEqual(['failed', 'failed', 'failed']);
    const calls = h.calls.length;
    const attempt = { attempt: 2, signal: { aborted: false } };
    expect(await actOnPage(asIfUncounted(h), { bulk: bulk.id, page: 0 }, attempt)).toEqual({
      applied: 3,
      refused: 0,
    });
    expect(await statusesOf(h, ids)).toEqual(['failed', 'failed', 'failed']);
    expect(h.calls).toHaveLength(calls);
  });

  it('counts what it has done, where its page is done again after many commands of others', async () => {
    const h = world();
    const [id = ''] = await failed(h, orders(1));
    const bulk = await make(h, RETRY, { ids: [id] });
    await confirmBulk(h.scheduler, bulk.id, 'confirm', ann);
    const attempt = { attempt: 1, signal: { aborted: false } };
    const page = { bulk: bulk.id, page: 0 };
    const dying = { ...h.bulks, write: () => Promise.reject(new Error('died')) };
    const scheduler = { ...h.scheduler, ports: { ...h.scheduler.ports, bulks: dying } };
    await expect(actOnPage(scheduler, page, attempt)).rejects.toThrow('died');
    for (let number = 0; number < 11; number += 1) {
      await pauseOne(h.scheduler, id, { commandId: `p${number}` });
      await resumeOne(h.scheduler, id, { commandId: `r${number}` });
    }
    expect(await actOnPage(h.scheduler, page, attempt)).toEqual({ applied: 1, refused: 0 });
    expect((await h.state(id)).execution).toMatchObject({ status: 'running', epoch: 2 });
  });

  it('leaves what has failed again before it came to it, and says so', async () => {
    const h = world();
    const [one = '', other = ''] = await failed(h, orders(2));
    const bulk = await make(h, RETRY, { ids: [one, other, 'nobody'] });
    h.clock.advanceTo(h.clock.now() + 1_000);
    await retryOne(h.scheduler, one, {});
    await h.run(one);
    h.refused.clear();
    const { result } = await confirmed(h, bulk.id);
    expect(result).toEqual({
      applied: 1,
      refused: {
        'not-retryable': {
          count: 1,
          examples: [
            {
              executionId: one,
              message: expect.stringContaining('after the executions were selected'),
            },
          ],
        },
        'unknown-execution': { count: 1, examples: [{ executionId: 'nobody', message: expect.any(String) }] },
      },
    });
    expect(await statusesOf(h, [one, other])).toEqual(['failed', 'succeeded']);
  });

  it('means what was there when it was made, page by page, and leaves out what it can never apply to', async () => {
    const h = world();
    await failed(h, orders(250));
    const { id } = await h.begin({ order: 'fine' });
    await h.run(id);
    const bulk = await make(h, RETRY, { filter: { workflow: 'pay' } });
    await failed(h, ['late']);
    expect(bulk).toMatchObject({ count: 250, leftOut: 0, pages: 3 });
    expect((await h.bulks.readPage(bulk.id, 2))?.ids).toHaveLength(50);
    h.refused.clear();
    expect((await confirmed(h, bulk.id)).result).toEqual({ applied: 250, refused: {} });
    expect(h.calls.filter((order) => order === 'late')).toHaveLength(1);
    const bad = await make(h, RETRY, { filter: { code: 'declined' } });
    expect(bad).toMatchObject({ count: 1 });
    // All of them run the plan that new executions use.
    const old = { statuses: STATUS_GROUPS.bad, plan: 'old' };
    expect(await make(h, RETRY, { filter: old })).toMatchObject({ count: 0, leftOut: 0 });
    const [late] = (await list(h.scheduler, { statuses: STATUS_GROUPS.bad, limit: 1 })).items;
    await h.store.create({ ...(late as Execution), id: 'e-old', plan: 'hash-1', version: 1 });
    expect(await make(h, RETRY, { filter: old })).toMatchObject({ count: 1, examples: ['e-old'] });
  });

  it('by the key of a start counts the execution it can apply to, and leaves out any other', async () => {
    const h = world();
    h.refused.add('refused');
    const begun = async (order: string, idempotencyKey: string) => {
      const { id } = await start(h.scheduler, { workflow: 'pay', input: { order }, idempotencyKey });
      await h.run(id);
      return id;
    };
    const failedOne = await begun('refused', 'k-1');
    await begun('fine', 'k-2');
    const by = (key: string) => make(h, RETRY, { filter: { workflow: 'pay', key } });
    expect(await by('k-1')).toMatchObject({ count: 1, leftOut: 0, examples: [failedOne], isCollected: true });
    expect(await by('k-2')).toMatchObject({ count: 0, leftOut: 1, pages: 0, isCollected: true });
    expect(await by('none')).toMatchObject({ count: 0, leftOut: 0 });
    const { startedAt } = (await h.state(failedOne)).execution;
    const within = (times: object) => make(h, RETRY, { filter: { workflow: 'pay', key: 'k-1', ...times } });
    expect(await within({ since: startedAt, until: startedAt + 1 })).toMatchObject({ count: 1 });
    expect(await within({ since: startedAt + 1 })).toMatchObject({ count: 0 });
    expect(await within({ until: startedAt })).toMatchObject({ count: 0 });
  });

  it('with one key is one action, and another body under that key is refused (S11)', async () => {
    const h = world();
    const ids = await failed(h, orders(2));
    const asked = { ids, idempotencyKey: 'k' };
    const bulk = await make(h, RETRY, asked);
    expect((await make(h, RETRY, asked)).id).toBe(bulk.id);
    await expect(make(h, { action: 'cancel' }, asked)).rejects.toMatchObject({ code: 'key-reused' });
    h.refused.clear();
    await confirmed(h, bulk.id);
    const calls = h.calls.length;
    await confirmed(h, bulk.id);
    expect(h.calls).toHaveLength(calls);
  });
});

describe('a bulk action', () => {
  it('is refused until it is collected, when it is about nothing, a day later, or by the wrong way', async () => {
    const h = world();
    const ids = await failed(h, orders(1));
    const none = await make(h, RETRY, { filter: { statuses: ['paused'] } });
    await expect(confirmBulk(h.scheduler, none.id, 'confirm', ann)).rejects.toMatchObject({
      code: 'empty-bulk',
    });
    const bulk = await make(h, RETRY, { ids });
    await expect(confirmBulk(h.scheduler, bulk.id, 'answer', ann)).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining(`/bulk/${bulk.id}/confirm`),
    });
    await h.bulks.write({
      bulk: { ...bulk, version: 2, writeId: 'w', isCollected: false, filter: { workflow: 'pay' } },
    });
    await expect(confirmBulk(h.scheduler, bulk.id, 'confirm', ann)).rejects.toMatchObject({
      code: 'not-collected',
    });
    expect(await collectBulk(h.scheduler, bulk.id)).toMatchObject({ isCollected: true });
    h.clock.advanceTo(h.clock.now() + 86_400_001);
    await expect(confirmBulk(h.scheduler, bulk.id, 'confirm', ann)).rejects.toMatchObject({
      code: 'bulk-expired',
    });
    await expect(showBulk(h.scheduler, 'nobody')).rejects.toMatchObject({ code: 'unknown-bulk' });
  });

  it('is refused where the deployment has no agent for it, with the next step', async () => {
    const { queue, ...h } = world();
    const scheduler = {
      ...h.scheduler,
      ports: { ...h.scheduler.ports, queue: { ...queue, reaches: () => false } },
    };
    await expect(makeBulk(scheduler, { command: RETRY, ids: ['e-1'] })).rejects.toMatchObject({
      code: 'no-bulk-actions',
      message: expect.stringContaining('bulkActions: false'),
    });
  });

  it('is started by no other way, is in no list unless it is asked for, and is met by no filter', async () => {
    const h = world();
    await failed(h, orders(1));
    await expect(start(h.scheduler, { workflow: 'steadfast-bulk', input: {} })).rejects.toMatchObject({
      code: 'unknown-workflow',
      message: expect.stringContaining('POST /bulk'),
    });
    const bulk = await make(h, RETRY, { filter: { statuses: ['failed'] } });
    await confirmBulk(h.scheduler, bulk.id, 'confirm', ann);
    const { executionId } = await showBulk(h.scheduler, bulk.id);
    const open = await list(h.scheduler, { statuses: ['running', 'waiting'], limit: 9 });
    expect(open.items.map(({ id }) => id)).not.toContain(executionId);
    const asked = await list(h.scheduler, { workflow: 'steadfast-bulk', limit: 9 });
    expect(asked.items.map(({ id }) => id)).toEqual([executionId]);
    await expect(
      make(h, { action: 'cancel' }, { filter: { workflow: 'steadfast-bulk' } }),
    ).rejects.toMatchObject({
      code: 'unknown-workflow',
    });
    const all = await make(h, { action: 'cancel' }, { filter: { statuses: ['running'] } });
    expect(all).toMatchObject({ count: 0 });
  });

  it('can be paused and canceled like any execution', async () => {
    const h = world();
    const ids = await failed(h, orders(1));
    const bulk = await make(h, RETRY, { ids });
    await confirmBulk(h.scheduler, bulk.id, 'confirm', ann);
    const { executionId } = await showBulk(h.scheduler, bulk.id);
    expect((await pauseOne(h.scheduler, executionId, {})).status).toBe('paused');
  });

  it('begins no other page while it is paused, at no cost of a try, and goes on when it is resumed', async () => {
    const h = world();
    const ids = Array.from({ length: 2_500 }, (_, at) => `nobody-${at}`);
    const bulk = await make(h, RETRY, { ids });
    await confirmBulk(h.scheduler, bulk.id, 'confirm', ann);
    const { executionId } = await showBulk(h.scheduler, bulk.id);
    // All pages of a part are sent at once.
    const [first, ...others] = h.sent.splice(0);
    expect(others).toHaveLength(24);
    await h.deliver(first!);
    await pauseOne(h.scheduler, executionId, { reason: 'wait', by: ann });
    for (const send of others) expect(await h.deliver(send)).toBe('handled');
    expect(await showBulk(h.scheduler, bulk.id)).toMatchObject({ pagesDone: 1 });
    const held = (await h.state(others[0]!.message.execution)).steps[others[0]!.message.step];
    expect(held).toMatchObject({
      status: 'retrying',
      attempt: 0,
      deferred: {
        why: 'paused',
        pause: { by: ann, reason: expect.stringMatching(/^its bulk action is.*: wait$/) },
      },
    });
    h.clock.advanceTo(h.clock.now() + 3_600_000);
    await h.sweep();
    for (const send of h.sent.splice(0)) await h.deliver(send);
    expect(await showBulk(h.scheduler, bulk.id)).toMatchObject({ pagesDone: 1 });
    const resumedAt = h.clock.now();
    await resumeOne(h.scheduler, executionId, {});
    await h.run(executionId);
    expect(h.clock.now() - resumedAt).toBeLessThan(60_000);
    expect(await showBulk(h.scheduler, bulk.id)).toMatchObject({
      pagesDone: 25,
      result: { refused: { 'unknown-execution': { count: 2_500 } } },
      execution: { status: 'succeeded' },
    });
  });
});
