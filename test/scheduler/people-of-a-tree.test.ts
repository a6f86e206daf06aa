/**
 * Four eyes in a tree of executions: a person who acts in one of them counts in all, also if acts are
 * simultaneous or a process crashes (S19).
 */

import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { drain } from '../engine/harness.ts';
import { pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import {
  begin,
  inner,
  input,
  of,
  person,
  ann,
  bob,
  carl,
  DECLINED,
  answer,
  statusOf,
  peopleOf,
  grown,
  resolution,
  worker,
} from './four-eyes.ts';

describe('in a tree', () => {
  it('no child’s approval is given by who started the root', async () => {
    const { h, id } = await grown();
    await expect(answer(h, `${id}.one.0`, 'check', ann)).rejects.toMatchObject({
      code: 'not-another',
      message: expect.stringContaining(`must not have started execution ${id}`),
    });
    await answer(h, `${id}.one.0`, 'check', bob);
    expect(await statusOf(h, `${id}.one.0`, 'check')).toBe('done');
    expect(await peopleOf(h, id)).toMatchObject({ 'local:bob': `approved:${id}.one.0/check` });
    expect(await peopleOf(h, `${id}.one.0`)).toBeUndefined();
  });

  it('who has approved in one execution does so in no other, also where the first was open to anybody', async () => {
    const { h, id } = await grown();
    await answer(h, `${id}.one.0`, 'plain', bob);
    await answer(h, `${id}.two.0`, 'check', carl);
    await expect(answer(h, `${id}.two.0`, 'check', bob)).rejects.toMatchObject({ code: 'already-closed' });
    for (const [where, step, by] of [
      [`${id}.one.0`, 'check', bob],
      [`${id}.one.0`, 'check', carl],
      [id, 'top', bob],
      [id, 'top', carl],
    ] as const)
      await expect(answer(h, where, step, by)).rejects.toMatchObject({ code: 'not-another' });
    // Questions that anybody may answer stay so.
    await answer(h, `${id}.two.0`, 'plain', ann);
  });

  it('one person who approves in two executions at the same time does so in one', async () => {
    const { h, id } = await grown();
    const results = await Promise.allSettled(
      ['one', 'two'].map((child) => answer(h, `${id}.${child}.0`, 'check', bob)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const statuses = await Promise.all(
      ['one', 'two'].map((child) => statusOf(h, `${id}.${child}.0`, 'check')),
    );
    expect(statuses.filter((status) => status === 'done')).toHaveLength(1);
  });

  it.each([
    ['retry', {}, 'retried'],
    ['retry-with-input', { input: { n: 1 } }, 'gave-input'],
    ['give-output', { output: {} }, 'gave-output'],
    ['skip', {}, 'skipped'],
  ] as const)('who resolves an incident of a child with %s approves nowhere', async (choice, more, deed) => {
    const { h, id } = await grown(ann, DECLINED);
    await resolution(h, `${id}.one.0`, { choice, ...more, by: bob });
    expect(await peopleOf(h, id)).toEqual({ 'local:ann': 'started', 'local:bob': deed });
    for (const where of [`${id}.one.0`, `${id}.two.0`])
      await expect(answer(h, where, 'check', bob)).rejects.toMatchObject({ details: { deed } });
    await expect(answer(h, id, 'top', bob)).rejects.toMatchObject({ details: { deed } });
    await answer(h, id, 'top', carl);
  });

  it('who has a waiting child tried again approves nowhere', async () => {
    const { h, id } = await grown(ann, DECLINED);
    await retry(h.scheduler, `${id}.one.0`, { by: bob });
    await expect(answer(h, id, 'top', bob)).rejects.toMatchObject({ details: { deed: 'retried' } });
  });

  it('who ends it, holds it or has it go on may approve', async () => {
    const { h, id } = await grown(ann, DECLINED);
    await pause(h.scheduler, id, { by: bob });
    await resume(h.scheduler, id, { by: bob });
    await resolution(h, `${id}.one.0`, { choice: 'keep', by: carl });
    expect(await peopleOf(h, id)).toEqual({ 'local:ann': 'started' });
  });

  it('an act that nobody vouches for is refused, and what it would have been is not done', async () => {
    const { h, id } = await grown(ann, DECLINED);
    await expect(resolution(h, `${id}.one.0`, { choice: 'skip' })).rejects.toMatchObject({
      code: 'unknown-caller',
    });
    await expect(answer(h, `${id}.one.0`, 'plain', undefined)).rejects.toMatchObject({
      code: 'unknown-caller',
    });
    expect(await statusOf(h, `${id}.one.0`, 'work')).toBe('waiting');
  });

  it('a process that dies between entry and answer leaves the person the same answer, and no other', async () => {
    const { h, id } = await grown();
    const [child, other] = [`${id}.one.0`, `${id}.two.0`];
    const write: Ports['store']['write'] = (what) =>
      what.executionId === child ? Promise.reject(new Error('died')) : h.store.write(what);
    const store = Object.assign(Object.create(h.store) as Ports['store'], { write });
    const dying = { ...h.scheduler, ports: { ...h.scheduler.ports, store } };
    await expect(answer(h, child, 'check', bob, { scheduler: dying })).rejects.toThrow('died');
    expect(await peopleOf(h, id)).toMatchObject({ 'local:bob': `approved:${child}/check` });
    await expect(answer(h, other, 'check', bob)).rejects.toMatchObject({ code: 'not-another' });
    await answer(h, child, 'check', bob);
    expect(await statusOf(h, child, 'check')).toBe('done');
  });

  it('who resolves an incident of the root itself approves nowhere in it', async () => {
    const h = of(inner, DECLINED);
    const { id } = await begin(h, 'inner', ann);
    await drain(h);
    await resolution(h, id, { choice: 'give-output', output: {}, by: bob });
    expect(await peopleOf(h, id)).toEqual({ 'local:ann': 'started', 'local:bob': 'gave-output' });
    await expect(answer(h, id, 'check', bob)).rejects.toMatchObject({ details: { deed: 'gave-output' } });
    await answer(h, id, 'check', carl);
  });

  it('nothing is approved below a root that has ended: nobody can be entered there', async () => {
    const { h, id } = await grown();
    const { execution } = await h.state(id);
    const ended = { ...execution, version: execution.version + 1, writeId: 'w', status: 'failed' as const };
    await h.store.write({ executionId: id, execution: ended });
    await expect(answer(h, `${id}.one.0`, 'check', bob)).rejects.toMatchObject({ code: 'already-closed' });
  });

  it('two who act in the root while it is entered both are: the later one reads again', async () => {
    const { h, id } = await grown();
    await Promise.all([
      answer(h, `${id}.one.0`, 'check', bob),
      answer(h, `${id}.two.0`, 'check', carl),
      answer(h, id, 'top', person('dan')),
    ]);
    expect(Object.keys((await peopleOf(h, id)) ?? {}).sort()).toEqual([
      'local:ann',
      'local:bob',
      'local:carl',
      'local:dan',
    ]);
  });
});

describe('what follows the end of a child', () => {
  const failing = workflow('failing', { input, within: '1h' }, (w) => {
    w.step('work', worker, {}, { recovery: [again(0)], undo: 'none' });
    w.onFailure('tell', worker, {}, { recovery: [again(0), askPerson({ within: '1h' })] });
  }) as Workflow;
  const above = workflow('above', { input, within: '3h' }, (w) => {
    w.child('sub', failing, {}, { mayFail: true });
    w.approval('top', { within: '1h', by: 'another' });
  }) as Workflow;

  it('is of the tree: who answers for it approves nowhere, and once the root is over nobody does', async () => {
    const h = of(above, DECLINED);
    const { id } = await begin(h, 'above', ann);
    await drain(h);
    const child = `${id}.sub.0`;
    expect((await h.state(child)).execution.status).toBe('following-up');
    const gives = { incident: 1, choice: 'give-output', output: {} } as const;
    await expect(resolveIncident(h.scheduler, child, gives)).rejects.toMatchObject({
      code: 'unknown-caller',
    });
    await resolveIncident(h.scheduler, child, { ...gives, by: bob });
    await expect(answer(h, id, 'top', bob)).rejects.toMatchObject({ details: { deed: 'gave-output' } });

    const other = await begin(h, 'above', ann, 'other');
    await drain(h);
    await answer(h, other.id, 'top', carl);
    await drain(h);
    expect((await h.state(other.id)).execution.status).toBe('succeeded');
    await expect(
      resolveIncident(h.scheduler, `${other.id}.sub.0`, { ...gives, by: bob }),
    ).rejects.toMatchObject({ code: 'already-closed' });
    expect((await h.run(`${other.id}.sub.0`, { maxMs: 7_200_000 })).execution.status).toBe('failed');
  });
});
