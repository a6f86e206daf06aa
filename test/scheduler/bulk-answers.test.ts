/** Bulk answers to incidents and approvals: each is answered once; who is recorded. */

import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { actOnPage } from '../../lib/scheduler/bulk-page.ts';
import { confirmBulk, makeBulk, showBulk } from '../../lib/scheduler/bulks.ts';
import { start } from '../../lib/scheduler/start.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';
import {
  ann,
  asIfUncounted,
  bank,
  confirmed,
  failed,
  make,
  orders,
  RETRY,
  statusesOf,
  type World,
  world,
} from './bulk-world.ts';

const asking = workflow('asking', { input: anyObject, within: '8h' }, (w) => {
  w.step('charge', bank, { order: w.input['order'] } as never, {
    recovery: [retry(0), askPerson({ within: '1h' })],
  });
}) as Workflow;

const waiting = (state: { execution: { status: string } }): boolean => state.execution.status === 'waiting';

async function askingNow(h: World, names: readonly string[], until = waiting): Promise<string[]> {
  const ids: string[] = [];
  for (const order of names) {
    h.refused.add(order);
    const { id } = await h.begin({ order });
    await h.run(id, { until });
    ids.push(id);
  }
  h.clock.advanceTo(h.clock.now() + 1_000);
  return ids;
}

describe('incidents in bulk', () => {
  it('are retried with another input, each once', async () => {
    const h = world(asking);
    const ids = await askingNow(h, orders(3));
    const bulk = await make(
      h,
      { action: 'retry', input: { order: 'corrected' } },
      { filter: { code: 'declined' } },
    );
    expect(bulk).toMatchObject({ count: 3 });
    expect((await confirmed(h, bulk.id)).result).toEqual({ applied: 3, refused: {} });
    expect(await statusesOf(h, ids)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(h.calls.filter((order) => order === 'corrected')).toHaveLength(3);
    const { questions } = await h.state(ids[0] ?? '');
    expect(Object.values(questions ?? {})).toMatchObject([
      { choice: 'retry-with-input', caller: ann, commandId: `${bulk.id}.${ids[0]}` },
    ]);
  });

  it('take no word for what could still happen when the bulk action was made', async () => {
    const blind = anAgent('blind', { effect: 'unsafe', undo: 'none' });
    const blindly = workflow('blindly', { input: anyObject, within: '1d' }, (w) => {
      w.step('asked', blind, {});
    }) as Workflow;
    const lose = async (): Promise<never> => {
      throw new Error('socket hang up');
    };
    const bulks = memoryBulks();
    const h = harness(blindly, { blind: { execute: lose } }, 1, (ports) => ({ ...ports, bulks }));
    const { id } = await h.begin();
    await h.run(id, { until: waiting });
    const skip = { action: 'resolve', choice: 'skip', nothingHappened: true } as const;
    const made = async (): Promise<string> =>
      (await makeBulk(h.scheduler, { command: skip, by: ann, ids: [id] })).id;
    const early = await made();
    h.clock.advanceTo(h.clock.now() + 120_000);
    await confirmBulk(h.scheduler, early, 'confirm', ann);
    const acts = (bulk: string) =>
      actOnPage(h.scheduler, { bulk, page: 0 }, { attempt: 1, signal: { aborted: false } });
    expect(await acts(early)).toEqual({ applied: 0, refused: 1 });
    expect((await showBulk(h.scheduler, early)).result?.refused).toMatchObject({
      'unsafe-choice': { count: 1 },
    });
    const later = await made();
    await confirmBulk(h.scheduler, later, 'confirm', ann);
    expect(await acts(later)).toEqual({ applied: 1, refused: 0 });
  });

  it('are answered once: what is asked again later is left open', async () => {
    const h = world(asking);
    const [id = ''] = await askingNow(h, ['o-1']);
    const bulk = await make(h, { action: 'resolve', choice: 'retry' }, { ids: [id] });
    h.clock.advanceTo(h.clock.now() + 1_000);
    expect((await confirmed(h, bulk.id)).result).toMatchObject({ applied: 1 });
    await h.run(id, { until: (state) => Object.keys(state.questions ?? {}).length === 2 });
    const later = await make(h, RETRY, { ids: [id] });
    await h.bulks.write({ bulk: { ...later, version: 2, writeId: 'w', createdAt: bulk.createdAt } });
    expect((await confirmed(h, later.id)).result).toMatchObject({
      applied: 0,
      refused: { 'not-retryable': { count: 1 } },
    });
  });

  it('that are not there are said to be none', async () => {
    const h = world();
    const ids = await failed(h, orders(1));
    const bulk = await make(h, { action: 'resolve', choice: 'skip' }, { ids });
    expect((await confirmed(h, bulk.id)).result).toMatchObject({ refused: { 'not-asked': { count: 1 } } });
  });
});

const approving = workflow('approving', { input: anyObject, within: '8h' }, (w) => {
  const ok = w.approval('ok', { within: '1h', by: 'another' });
  w.step('charge', bank, { order: 'x' } as never, { after: [ok] });
}) as Workflow;

const twice = workflow('twice', { input: anyObject, within: '8h' }, (w) => {
  const one = w.approval('one', { within: '1h' });
  w.approval('two', { within: '1h', after: [one] });
}) as Workflow;

const charged = workflow('charged', { input: anyObject, within: '8h' }, (w) => {
  const charge = w.step('charge', bank, { order: 'x' } as never);
  w.approval('ok', { within: '1h', after: [charge] });
}) as Workflow;

describe('approvals in bulk', () => {
  const begin = async (h: World, name: string): Promise<string> => {
    const { id } = await start(h.scheduler, {
      workflow: 'approving',
      input: {},
      by: { kind: 'local', name },
    });
    await h.run(id, { until: waiting });
    return id;
  };

  it('are given in the name of who confirms, who may not be who started them (S19)', async () => {
    const h = world(approving);
    const ids = [await begin(h, 'bob'), await begin(h, 'ann')];
    const bulk = await make(h, { action: 'approve', comment: 'fine' }, { filter: { statuses: ['waiting'] } });
    expect(bulk).toMatchObject({ count: 2 });
    await expect(confirmBulk(h.scheduler, bulk.id, 'confirm', ann)).rejects.toMatchObject({
      code: 'bad-request',
    });
    expect((await confirmed(h, bulk.id, 'answer')).result).toEqual({
      applied: 1,
      refused: {
        'not-another': { count: 1, examples: [{ executionId: ids[1], message: expect.any(String) }] },
      },
    });
    const { steps } = await h.state(ids[0] ?? '');
    expect(steps['ok']).toMatchObject({
      status: 'done',
      by: ann,
      output: { approved: true, comment: 'fine' },
    });
  });

  it('mean what asks: what simply runs is in no count', async () => {
    const h = world(charged);
    const { id: asked } = await h.begin();
    await h.run(asked, { until: waiting });
    expect((await h.begin()).status).toBe('running');
    for (const action of ['approve', 'reject', 'resolve'] as const) {
      const command = { action, ...(action === 'resolve' ? { choice: 'skip' } : {}) } as const;
      const one = await make(h, command as never, { filter: { workflow: 'charged' } });
      expect(one).toMatchObject({ count: 1, leftOut: 0, examples: [asked] });
      const all = await make(h, command as never, { filter: { statuses: ['running', 'waiting'] } });
      expect(all).toMatchObject({ count: 1, leftOut: 1, examples: [asked] });
    }
  });

  it('are counted as given where a page is done again and the next one is open by then', async () => {
    const h = world(twice);
    const { id } = await start(h.scheduler, { workflow: 'twice', input: {} });
    await h.run(id, { until: waiting });
    const bulk = await make(h, { action: 'approve' }, { ids: [id] });
    h.clock.advanceTo(h.clock.now() + 1_000);
    await confirmed(h, bulk.id, 'answer');
    await h.run(id, { until: ({ questions }) => questions?.['two'] !== undefined });
    const attempt = { attempt: 2, signal: { aborted: false } };
    const again = { bulk: bulk.id, page: 0 };
    expect(await actOnPage(asIfUncounted(h), again, attempt)).toEqual({ applied: 1, refused: 0 });
    expect((await h.state(id)).steps['two']).toBeUndefined();
    const later = await make(h, { action: 'approve' }, { ids: [id] });
    await h.bulks.write({ bulk: { ...later, version: 2, writeId: 'w', createdAt: bulk.createdAt - 1 } });
    expect((await confirmed(h, later.id, 'answer')).result).toMatchObject({
      refused: { 'not-asked': { count: 1 } },
    });
  });

  it('are no answer to what a retry has asked since', async () => {
    const h = world(approving);
    const id = await begin(h, 'bob');
    const bulk = await make(h, { action: 'approve' }, { ids: [id] });
    await h.bulks.write({ bulk: { ...bulk, version: 2, writeId: 'w', createdAt: bulk.createdAt - 60_000 } });
    // The page's first read finds the question of the time before the retry.
    const { store } = h.scheduler.ports;
    let reads = 0;
    const read: typeof store.read = async (...about) => {
      const state = await store.read(...about);
      const asked = state?.questions?.['ok'];
      reads += 1;
      return state === undefined || asked === undefined || reads > 1
        ? state
        : { ...state, questions: { ...state.questions, ok: { ...asked, openedAt: 0 } } };
    };
    const stale = { ...h.scheduler, ports: { ...h.scheduler.ports, store: { ...store, read } } };
    await confirmBulk(h.scheduler, bulk.id, 'answer', ann);
    const page = { bulk: bulk.id, page: 0 };
    const attempt = { attempt: 1, signal: { aborted: false } };
    expect(await actOnPage(stale, page, attempt)).toEqual({ applied: 0, refused: 1 });
    expect((await h.bulks.readResult(bulk.id, 0))?.refused).toMatchObject({
      'already-closed': { count: 1 },
    });
    expect((await h.state(id)).questions?.['ok']?.closedAt).toBeUndefined();
  });

  it('are rejected, and a page that is done again finds the answer that it gave', async () => {
    const h = world(approving);
    const id = await begin(h, 'bob');
    const bulk = await make(h, { action: 'reject', reason: 'no' }, { ids: [id] });
    await confirmed(h, bulk.id, 'answer');
    expect((await h.run(id)).execution).toMatchObject({
      status: 'failed',
      cause: { failure: { code: 'rejected' } },
    });
    const attempt = { attempt: 2, signal: { aborted: false } };
    expect(await actOnPage(asIfUncounted(h), { bulk: bulk.id, page: 0 }, attempt)).toEqual({
      applied: 1,
      refused: 0,
    });
  });
});
