/**
 * After a point of no return, the deadline does not end the execution: a person is asked, and every answer
 * leads forward (L1, S10).
 */

import { explain } from '../../lib/explain/why.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { type Snapshot, openIncidents } from '../../lib/core/records/snapshot.ts';
import { pause, resume } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, type Harness, harness, type RunOptions } from '../engine/harness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const rare = { lease: '2m', claimWithin: '2m' } as const;
const before = anAgent('before', rare);
const point = anAgent('point', { ...rare, effect: 'probed' });
const after = anAgent('after', rare);
const flow = workflow('chain', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', before, {});
  const p = w.step('p', point, {}, { after: [a], pointOfNoReturn: true });
  w.step('c', after, {}, { after: [p] });
});

const undos: string[] = [];
const undo = async (ctx: { step: string }): Promise<void> => {
  undos.push(ctx.step);
};
beforeEach(() => undos.splice(0));

const isAsked = (state: Snapshot): boolean => openIncidents(state).length > 0;
/** Runs until a person is asked, while no message of this step is delivered. */
const without = (step: string): RunOptions => ({
  deliverable: ({ message }) => message.step !== step,
  maxMs: 3 * HOUR,
  until: isAsked,
});

async function late(): Promise<{ h: Harness; id: string }> {
  const execute = async (): Promise<object> => ({});
  const h = harness(flow, { before: { execute, undo }, point: { execute }, after: { execute, undo } });
  const { id } = await h.begin();
  await h.run(id, without('c'));
  return { h, id };
}

describe('an execution that is past its point of no return when its time is over', () => {
  it('is put to a person at once, who is offered nothing that undoes', async () => {
    const { h, id } = await late();
    const state = await h.state(id);
    expect(h.clock.now() - state.execution.deadlineAt).toBeLessThan(5_000);
    expect(state.execution.status).toBe('waiting');
    expect(state.questions?.[1]).toMatchObject({
      kind: 'deadline',
      step: 'c',
      otherwise: 'keep',
      deadlineAt: h.clock.now() + 7 * DAY,
      failure: { message: expect.stringContaining("'p'") },
    });
    for (const choice of ['undo-all', 'retry', 'skip'] as const)
      await expect(resolveIncident(h.scheduler, id, { incident: 1, choice })).rejects.toMatchObject({
        code: 'unsafe-choice',
        details: { choices: [{ choice: 'resume' }, { choice: 'give-output' }, { choice: 'keep' }] },
      });
    const why = explain(flow.plan, state, h.clock.now());
    expect(why.steps.find(({ name }) => name === 'c')?.next.what).toContain('takes it: attempt 1');
    expect(why.next.at).toBeLessThan(state.questions?.[1]?.deadlineAt ?? 0);
  });

  it('is left as it is when nobody answers for a week', async () => {
    const { h, id } = await late();
    const { execution, steps } = await h.run(id, { ...without('c'), maxMs: 8 * DAY, until: hasEnded });
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'deadline', undo: false } });
    expect(steps).toMatchObject({ a: { status: 'done' }, p: { status: 'done' }, c: { status: 'fenced' } });
    expect(undos).toEqual([]);
  });

  it('goes on with its time anew, and is asked about again when that is over', async () => {
    const { h, id } = await late();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'resume' });
    const { execution } = await h.state(id);
    expect(execution).toMatchObject({ status: 'running', deadlineAt: h.clock.now() + HOUR });
    const { questions } = await h.run(id, without('c'));
    expect(questions?.[2]).toMatchObject({ kind: 'deadline', openedAt: execution.deadlineAt });
    await resolveIncident(h.scheduler, id, { incident: 2, choice: 'resume' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('succeeds with the output that the person gives for the step that hangs', async () => {
    const { h, id } = await late();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'give-output', output: { by: 'hand' } });
    const { execution, steps } = await h.run(id, { ...without('c'), until: hasEnded });
    expect(execution.status).toBe('succeeded');
    expect(steps['c']).toMatchObject({ status: 'done', output: { by: 'hand' }, attempt: 0 });
  });

  it('succeeds by itself although the question is open', async () => {
    const { h, id } = await late();
    const { execution, questions } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(questions?.[1]).toMatchObject({ closedBy: 'moot' });
  });

  it('still waits for the answer after a pause', async () => {
    const { h, id } = await late();
    await pause(h.scheduler, id, {});
    await resume(h.scheduler, id, {});
    expect((await h.state(id)).execution.status).toBe('waiting');
  });
});

const hasEnded = ({ execution }: Snapshot): boolean =>
  execution.endedAt !== undefined && execution.wakeAt === undefined;

it('a point of no return whose outcome nobody can find out is put to a person at the deadline', async () => {
  const h = harness(flow, {
    before: { execute: async () => ({}), undo },
    point: {
      execute: async () => {
        throw new Error('socket hang up');
      },
      probe: async () => ({ verdict: 'not-done' }) as never,
    },
    after: { execute: async () => ({}), undo },
  });
  const { id } = await h.begin();
  const { questions, steps } = await h.run(id, {
    deliverable: ({ message }) => message.mode !== 'probe',
    maxMs: 3 * HOUR,
    until: isAsked,
  });
  expect(steps['p']?.status).toBe('unknown');
  expect(questions?.[1]).toMatchObject({ kind: 'deadline', step: 'p' });
});

it('a retry of a failed step after the deadline does not at once ask about the deadline', async () => {
  const asking = workflow('asking', { input: anyObject, within: '1h' }, (w) => {
    const p = w.step('p', point, {}, { pointOfNoReturn: true });
    const later = w.wait('later', { for: '30m', after: [p] });
    w.step('c', after, {}, { after: [later], recovery: [again(1), askPerson({ within: '1h' })] });
  });
  let isBroken = true;
  const h = harness(asking, {
    point: { execute: async () => ({}) },
    after: {
      execute: async () => {
        if (isBroken) throw new PermanentError('declined');
        return {};
      },
      undo,
    },
  });
  const { id } = await h.begin();
  await h.run(id, { until: isAsked });
  h.clock.advanceTo(h.clock.now() + 0.6 * HOUR);
  await h.sweep();
  isBroken = false;
  await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
  const { execution, questions } = await h.run(id);
  expect(execution.status).toBe('succeeded');
  expect(Object.keys(questions ?? {})).toEqual(['1']);
});

it('one that waits for the external party alone is watched at its deadline (S12)', async () => {
  const calling = workflow('calling', { input: anyObject, within: '1h' }, (w) => {
    const p = w.step('p', point, {}, { pointOfNoReturn: true });
    const later = w.wait('later', { for: '10m', after: [p] });
    w.callback('answer', { output: anyObject, within: '1h', after: [later] });
  });
  const h = harness(calling, { point: { execute: async () => ({}) } });
  const { id } = await h.begin();
  const { execution, questions } = await h.run(id, { until: isAsked, maxMs: 12 * HOUR });
  expect(questions?.[1]).toMatchObject({ kind: 'deadline', openedAt: execution.deadlineAt });
  expect(questions?.[1]).not.toHaveProperty('step');
});
