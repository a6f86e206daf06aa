/**
 * Four eyes in one execution, on the production roles: who may give an approval that must come from another
 * person (S19).
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Caller } from '../../lib/core/values/caller.ts';
import { MAX_PEOPLE } from '../../lib/core/records/people.ts';
import { retry } from '../../lib/scheduler/commands.ts';
import { start } from '../../lib/scheduler/start.ts';
import { startFrom } from '../../lib/scheduler/starter.ts';
import {
  input,
  person,
  ann,
  bob,
  carl,
  session,
  user,
  token,
  asks,
  begin,
  of,
  answer,
  statusOf,
  peopleOf,
} from './four-eyes.ts';

describe('an approval by another person', () => {
  it('is refused from its starter, with the reason and who may give it; a reject too', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    for (const reject of [false, true]) {
      await expect(answer(h, id, 'release', ann, { reject })).rejects.toMatchObject({
        code: 'not-another',
        message: `approval 'release' of execution ${id} takes only the answer of another person, and local:ann started it. The answering person must not have started execution ${id}, retried it, resolved an incident of it so that it goes on, or given another approval in it`,
        details: { executionId: id, deed: 'started' },
      });
    }
    expect(await statusOf(h, id, 'release')).toBeUndefined();
  });

  it('is given by another, and says by whom; the next one must be a third', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await answer(h, id, 'release', bob);
    expect((await h.state(id)).steps['release']).toMatchObject({ status: 'done', by: bob });
    await expect(answer(h, id, 'sign', bob)).rejects.toMatchObject({
      code: 'not-another',
      message: expect.stringContaining(`local:bob approved ${id}/release`),
    });
    await answer(h, id, 'sign', carl);
    const { execution } = await h.state(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { by: 'local:bob', and: 'local:carl' } });
    expect(execution.people).toEqual({
      'local:ann': 'started',
      'local:bob': `approved:${id}/release`,
      'local:carl': `approved:${id}/sign`,
    });
  });

  it('given again by the same person gets the same reply, given by another one it is closed', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await answer(h, id, 'release', bob);
    const { version } = (await h.state(id)).execution;
    await answer(h, id, 'release', bob);
    expect((await h.state(id)).execution.version).toBe(version);
    for (const by of [ann, carl])
      await expect(answer(h, id, 'release', by)).rejects.toMatchObject({ code: 'already-closed' });
  });

  it('given again in another session of a role which is one person gets the same reply', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await answer(h, id, 'release', session('Approver', 'first'));
    await answer(h, id, 'release', session('Approver', 'second'));
    expect((await h.state(id)).steps['release']?.by).toEqual(session('Approver', 'first'));
  });

  it('is given to no one before its turn: who gave it could still act before it', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await expect(answer(h, id, 'sign', bob)).rejects.toMatchObject({ code: 'not-open' });
    expect(await peopleOf(h, id)).toEqual({ 'local:ann': 'started' });
  });

  it('is refused from a caller without an identity, and so is the start', async () => {
    const h = of(asks);
    await expect(begin(h, 'asks')).rejects.toMatchObject({
      code: 'unknown-caller',
      message: expect.stringContaining("the person who starts workflow 'asks' must be known"),
    });
    const { id } = await begin(h, 'asks', ann);
    await expect(answer(h, id, 'release', undefined)).rejects.toMatchObject({ code: 'unknown-caller' });
  });

  it('may be given by anybody where a trigger started it: that is nobody', async () => {
    const h = of(asks);
    const trigger = { name: 'nightly', workflow: 'asks', from: 'event', input: {}, key: ['k'] } as const;
    const outcome = await startFrom(h.scheduler, trigger, { id: 'm-1', body: '{}', attributes: {} });
    const id = (outcome as { executionId: string }).executionId;
    expect((await h.state(id)).execution).toMatchObject({
      startedBy: { kind: 'trigger', name: 'nightly' },
      people: {},
    });
    await answer(h, id, 'release', ann);
    await expect(answer(h, id, 'sign', ann)).rejects.toMatchObject({ code: 'not-another' });
  });

  it('does not depend on who repeats a start with its key', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann, 'k');
    expect((await begin(h, 'asks', bob, 'k')).id).toBe(id);
    await answer(h, id, 'release', bob);
    await expect(answer(h, id, 'sign', ann)).rejects.toMatchObject({ code: 'not-another' });
  });

  it('is refused to who had it tried again, and is open to others then', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await answer(h, id, 'release', bob, { reject: true });
    await h.run(id);
    expect((await h.state(id)).execution.status).toBe('failed');
    await retry(h.scheduler, id, { by: carl });
    expect((await h.state(id)).execution.retries?.[0]).toMatchObject({ by: carl });
    await expect(answer(h, id, 'release', carl)).rejects.toMatchObject({ details: { deed: 'retried' } });
    await answer(h, id, 'release', bob);
    expect(await statusOf(h, id, 'release')).toBe('done');
  });

  it('that no person gives after another try names no person, whoever had answered before', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    await answer(h, id, 'release', bob, { reject: true });
    expect((await h.run(id)).steps['release']?.by).toEqual(bob);
    await retry(h.scheduler, id, { by: carl });
    const { steps } = await h.run(id, { maxMs: 3 * 3_600_000 });
    expect(steps['release']).toMatchObject({ status: 'failed', failure: { code: 'no-answer' } });
    expect(steps['release']).not.toHaveProperty('by');
  });

  it('remembers so many persons; the next one’s act is refused, and none is forgotten', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', ann);
    for (let at = 1; at < MAX_PEOPLE; at += 1) {
      await answer(h, id, 'release', bob, { reject: true });
      await h.run(id);
      await retry(h.scheduler, id, { by: person(`operator-${at}`) });
    }
    expect(Object.keys((await peopleOf(h, id)) ?? {})).toHaveLength(MAX_PEOPLE);
    await expect(answer(h, id, 'release', bob)).rejects.toMatchObject({ code: 'too-many-people' });
    await answer(h, id, 'release', bob, { reject: true });
    await h.run(id);
    await expect(retry(h.scheduler, id, { by: bob })).rejects.toMatchObject({ code: 'too-many-people' });
    await retry(h.scheduler, id, { by: ann });
    // The execution waits for the approval, which is open again.
    expect((await h.state(id)).execution.status).toBe('waiting');
  });
});

describe('persons are distinguished', () => {
  const may = async (
    starter: Caller,
    approver: Caller,
    personal: readonly string[] = [],
  ): Promise<boolean> => {
    const h = of(asks);
    const scheduler = { ...h.scheduler, personalRoles: new Set(personal) };
    const { id } = await start(scheduler, { workflow: 'asks', input: {}, by: starter });
    return answer(h, id, 'release', approver, { scheduler }).then(
      () => true,
      (error: { code: string }) => {
        expect(error.code).toBe('not-another');
        return false;
      },
    );
  };

  it.each<[string, Caller, Caller, readonly string[], boolean]>([
    ['two users', user('ann'), user('bob'), [], true],
    ['one user', user('ann'), user('ann'), [], false],
    ['two sessions of a role', session('Ops', 'ann'), session('Ops', 'bob'), [], false],
    ['two roles', session('Ops', 'ann'), session('Other', 'ann'), [], true],
    ['two sessions of a personal role', session('Ops', 'ann'), session('Ops', 'bob'), ['Ops'], true],
    ['one session of a personal role', session('Ops', 'ann'), session('Ops', 'Ann'), ['Ops'], false],
    [
      'two sessions where another role is personal',
      session('Ops', 'ann'),
      session('Ops', 'bob'),
      ['Op'],
      false,
    ],
    ['one subject of one issuer', token('https://a', 'x'), token('https://a', 'x'), [], false],
    ['two subjects of one issuer', token('https://a', 'x'), token('https://a', 'y'), [], true],
    ['one subject of two issuers', token('https://a', 'x'), token('https://b', 'x'), [], true],
  ])('%s', async (_, starter, approver, personal, expected) => {
    expect(await may(starter, approver, personal)).toBe(expected);
  });

  it('also where a role became personal on the way: it had been one person', async () => {
    const h = of(asks);
    const { id } = await begin(h, 'asks', session('Ops', 'ann'));
    const scheduler = { ...h.scheduler, personalRoles: new Set(['Ops']) };
    await expect(answer(h, id, 'release', session('Ops', 'bob'), { scheduler })).rejects.toMatchObject({
      code: 'not-another',
      message: expect.stringContaining('All who use one role count as one person'),
    });
  });
});

describe('where no approval must be another person’s', () => {
  const plain = workflow('plain', { input, within: '3h' }, (w) => {
    w.approval('ok', { within: '1h' });
  }) as Workflow;

  it('no person is recorded, and a caller without an identity may do everything', async () => {
    const h = of(plain);
    const { id } = await begin(h, 'plain');
    await answer(h, id, 'ok', undefined);
    const { execution, steps } = await h.state(id);
    expect(execution).not.toHaveProperty('people');
    expect(execution).not.toHaveProperty('startedBy');
    expect(steps['ok']).not.toHaveProperty('by');
  });

  it('who started it may approve', async () => {
    const h = of(plain);
    const { id } = await begin(h, 'plain', ann);
    await answer(h, id, 'ok', ann);
    expect((await h.state(id)).execution).toMatchObject({ status: 'succeeded', startedBy: ann });
  });
});
