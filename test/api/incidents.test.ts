/** Incidents over HTTP: listing them, answering once, refusals with a reason. */

import { PermanentError } from '../../lib/core/values/errors.ts';
import { client, type Client } from './app.ts';

/** Makes an execution with an incident: its second step cannot be undone. */
async function asked(): Promise<{ c: Client; id: string }> {
  const c = client(async () => ({ ok: true }));
  c.implementations['worker'] = {
    execute: async (ctx) => {
      if (ctx.step === 'b') throw new PermanentError('declined');
      return { ok: true };
    },
    undo: async () => {
      throw new PermanentError('cannot be taken back');
    },
  };
  const id = await c.begun({ input: { orderId: 'o-1' }, tags: { orderId: 'o-1' } });
  for (let round = 0; round < 20; round += 1) {
    for (const send of c.sent.splice(0)) await c.deliver(send);
  }
  return { c, id };
}

describe('an incident', () => {
  it('is in the list of all open ones and in its execution, with the choices that are safe now', async () => {
    const { c, id } = await asked();
    const { status, body } = await c.get('/incidents');
    expect([status, body['items']]).toMatchObject([
      200,
      [{ executionId: id, number: 1, kind: 'undo', step: 'a', failure: { message: 'cannot be taken back' } }],
    ]);
    expect(body['items']).toMatchObject([{ workflow: 'flow', tags: { orderId: 'o-1' } }]);
    expect(JSON.stringify(body)).not.toContain('writeId');
    expect((await c.get(`/executions/${id}`)).body['incidents']).toMatchObject([
      { number: 1, choices: [{ choice: 'retry' }, { choice: 'skip' }, { choice: 'keep' }] },
    ]);
  });

  it('is not well: the overview says since when, until when, and what to do', async () => {
    const { c } = await asked();
    const { health } = (await c.get('/overview')).body as { health: object };
    expect(health).toMatchObject({
      status: 'degraded',
      says: expect.stringMatching(
        /^1 incident has been open since .+; without an answer, it is decided in .+; answer: npx steadfast incidents\.$/,
      ),
      findings: [{ kind: 'asked', waiting: 1 }],
    });
  });

  it("says before the choice what 'keep' leaves in effect, and after it what was left", async () => {
    const { c, id } = await asked();
    const standing = {
      stands: 0,
      mayStand: 1,
      first: [{ step: 'a', effect: 'may-stand' }],
      view: `/executions/${id}`,
    };
    const [incident] = (await c.get(`/executions/${id}`)).body['incidents'] as {
      choices: { leaves?: object }[];
    }[];
    expect(incident?.choices.map(({ leaves }) => leaves)).toEqual([undefined, undefined, standing]);
    c.clock.advanceTo(c.clock.now() + 60_000);
    const { body } = await c.post(`/executions/${id}/incidents/1/resolve`, { choice: 'keep' });
    expect(body).toMatchObject({ executionId: id, status: 'failed', standing });
    await c.run(id);
    expect(c.announced).toMatchObject([{ status: 'failed', cause: 'failure', standing }]);
  });

  it('is answered once; a second answer gets the choice that was made', async () => {
    const { c, id } = await asked();
    c.clock.advanceTo(c.clock.now() + 60_000);
    const path = `/executions/${id}/incidents/1/resolve`;
    expect((await c.post(path, { choice: 'skip', reason: 'refunded by hand' })).status).toBe(202);
    const second = await c.post(path, { choice: 'keep' });
    expect([second.status, second.body['error']]).toMatchObject([
      409,
      { code: 'already-resolved', message: expect.stringContaining("'skip'"), details: { choice: 'skip' } },
    ]);
    expect((await c.get('/incidents')).body['items']).toEqual([]);
    expect((await c.run(id)).execution.status).toBe('compensated');
  });

  it.each([
    ['a choice that is none', { choice: 'hope' }, 400, 'bad-request'],
    ['no choice', {}, 400, 'bad-request'],
    ['a choice that is not offered', { choice: 'give-output', output: {} }, 409, 'unsafe-choice'],
    ['an unknown field', { choice: 'skip', sure: true }, 400, 'bad-request'],
  ])('refuses %s', async (_, body, status, code) => {
    const { c, id } = await asked();
    const answer = await c.post(`/executions/${id}/incidents/1/resolve`, body);
    expect([answer.status, answer.body['error']]).toMatchObject([status, { code }]);
  });

  it.each(['/incidents/9/resolve', '/incidents/x/resolve'])('that is not there is told: %s', async (path) => {
    const { c, id } = await asked();
    const answer = await c.post(`/executions/${id}${path}`, { choice: 'skip' });
    expect([answer.status, answer.body['error']]).toMatchObject([404, { code: 'unknown-incident' }]);
  });

  it('lists refuse a bad cursor and a bad limit', async () => {
    const { c } = await asked();
    expect((await c.get('/incidents?limit=0')).status).toBe(400);
    expect((await c.get('/incidents?after=1')).status).toBe(400);
  });
});
