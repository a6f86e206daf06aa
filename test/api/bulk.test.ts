/** The routes for bulk actions: what they accept, answer and refuse. */

import { PermanentError } from '../../lib/core/values/errors.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { type Client, client } from './app.ts';

const world = (execute?: () => Promise<unknown>): Client =>
  client(execute, (ports) => ({ ...ports, bulks: memoryBulks() }));

const failing = async (): Promise<never> => {
  throw new PermanentError('no');
};

describe('POST /bulk', () => {
  it('makes one, shows it, confirms it, and tells how far it is', async () => {
    const c = world(failing);
    const id = await c.begun();
    await c.run(id);
    c.clock.advanceTo(c.clock.now() + 1);
    const made = await c.post(
      '/bulk',
      { action: 'retry', filter: { status: 'failed' } },
      { 'idempotency-key': 'k' },
    );
    const bulkId = String(made.body['bulkId']);
    expect(made).toMatchObject({
      status: 202,
      location: `/bulk/${bulkId}`,
      body: { status: 'collected', count: 1, leftOut: 0, examples: [{ executionId: id, status: 'failed' }] },
    });
    expect(
      (await c.post('/bulk', { action: 'retry', filter: { status: 'failed' }, idempotencyKey: 'k' })).body[
        'bulkId'
      ],
    ).toBe(bulkId);
    expect((await c.post(`/bulk/${bulkId}/collect`)).body['status']).toBe('collected');
    const confirmed = await c.post(`/bulk/${bulkId}/confirm`, {});
    expect(confirmed.body).toMatchObject({
      status: 'acting',
      progress: { acted: 0, applied: 0, refused: [] },
    });
    await c.run(String(confirmed.body['executionId']));
    expect((await c.get(`/bulk/${bulkId}`)).body).toMatchObject({
      status: 'done',
      progress: { acted: 1, applied: 1, refused: [] },
    });
    expect((await c.get('/overview')).body).toMatchObject({ workflows: [{ workflow: 'flow' }] });
    expect((await c.post('/workflows/steadfast-bulk/pause')).body).toMatchObject({
      error: { code: 'unknown-workflow' },
    });
    expect((await c.post('/agents/steadfast-bulk/pause')).body).toMatchObject({
      error: { code: 'unknown-agent' },
    });
    expect((await c.get('/executions?workflow=steadfast-bulk')).body).toMatchObject({
      items: [{ executionId: confirmed.body['executionId'] }],
    });
  });

  it.each<[object, string]>([
    [{ action: 'retry' }, 'either filter or ids'],
    [{ action: 'retry', filter: { status: 'failed' }, ids: ['e-1'] }, 'either filter or ids'],
    [{ action: 'retry', filter: {} }, 'the filter finds everything'],
    [{ action: 'retry', ids: ['e-1'], undo: false }, "undo does not go with 'retry'"],
    [{ action: 'retry', ids: ['e-1'], step: 'a' }, 'step needs the input'],
    [{ action: 'resolve', ids: ['e-1'] }, "'resolve' needs a choice"],
    [{ action: 'delete', ids: ['e-1'] }, 'action'],
    [{ action: 'retry', ids: [] }, 'ids'],
    [{ action: 'retry', ids: ['A B'] }, 'is not the id of an execution'],
    [{ action: 'retry', filter: { tag: 'a:b' } }, 'in its tags'],
    [{ action: 'retry', filter: { status: 'failed', limit: '5' } }, 'unknown: limit'],
    [{ action: 'retry', ids: ['e-1'], by: 'ann' }, 'unknown: by'],
  ])('refuses %j and says what is allowed', async (body, message) => {
    const answer = await world().post('/bulk', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'bad-request', message: expect.stringContaining(message) } },
    });
  });

  it('refuses more ids than one body should have, and another body under the same key', async () => {
    const c = world();
    const ids = Array.from({ length: 5_001 }, (_, at) => `e-${at}`);
    expect((await c.post('/bulk', { action: 'retry', ids })).status).toBe(413);
    await c.post('/bulk', { action: 'retry', ids: ['e-1'], idempotencyKey: 'k' });
    const other = await c.post('/bulk', { action: 'retry', ids: ['e-2'], idempotencyKey: 'k' });
    expect(other.body).toMatchObject({ error: { code: 'key-reused' } });
  });

  it('has one that approves confirmed by its own route', async () => {
    const c = world();
    const { body } = await c.post('/bulk', { action: 'approve', ids: ['e-1'], comment: 'fine' });
    const wrong = await c.post(`/bulk/${String(body['bulkId'])}/confirm`);
    expect(wrong.body).toMatchObject({
      error: { code: 'bad-request', message: expect.stringContaining('/answer') },
    });
    expect((await c.post(`/bulk/${String(body['bulkId'])}/answer`)).body).toMatchObject({ status: 'acting' });
  });

  it('is refused where the deployment has no agent for it', async () => {
    const c = client();
    expect((await c.post('/bulk', { action: 'retry', ids: ['e-1'] })).body).toMatchObject({
      error: { code: 'no-bulk-actions' },
    });
    expect((await world().get('/bulk/nobody')).body).toMatchObject({ error: { code: 'unknown-bulk' } });
  });
});
