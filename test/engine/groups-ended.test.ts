/**
 * What follows when a child's tries are used up, or a try was canceled, left effects, or was refused (S10).
 */

import * as z from 'zod/mini';
import { explain } from '../../lib/explain/why.ts';
import { askPerson, retry, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { withChildren } from '../../lib/engine/children.ts';
import { cancel, pause, retry as again } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, drain, type Harness, harness } from './harness.ts';
import { withStore } from './process.ts';
import { moving, provided, type Provider } from './region.ts';

const asked = ({ questions }: Snapshot): boolean =>
  Object.values(questions ?? {}).some(({ closedAt }) => closedAt === undefined);

describe('a try that was canceled, or left something', () => {
  it('is followed by a person: who has another tried with an input of theirs', async () => {
    const { h, outside } = provided([]);
    const { id } = await h.begin();
    await cancel(h.scheduler, `${id}.up.0`, {});
    const waits = await h.run(id, { until: asked });
    expect(waits.steps['up']).toMatchObject({ status: 'waiting', failure: { code: 'child-canceled' } });
    expect(explain(moving.plan, waits, h.clock.now()).steps[0]?.because).toContain(
      'try 1 is over and has left nothing in effect',
    );
    await resolveIncident(h.scheduler, id, {
      incident: 1,
      choice: 'retry-with-input',
      input: { region: 'west' },
    });
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', output: { at: 'west' } });
    expect([...outside.stands][0]).toBe(`west ${id}.up.0-e1t2.network`);
  });

  it('is followed, after a stop and a retry, by one with the input that a person gave meanwhile', async () => {
    const { h, outside } = provided([]);
    const { id } = await h.begin();
    await cancel(h.scheduler, `${id}.up.0`, {});
    await h.run(id, { until: asked });
    await pause(h.scheduler, id, {});
    const input = { region: 'west' };
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry-with-input', input });
    await cancel(h.scheduler, id, { undo: false });
    expect((await h.run(id)).steps['up']?.status).toBe('fenced');
    await again(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { at: 'west' } });
    expect([...outside.stands][0]).toBe(`west ${id}.up.0-e2t1.network`);
    for (const field of ['givenInput', 'failure']) expect(steps['up']).not.toHaveProperty(field);
  });

  /** An execution whose network cannot be undone; a person then leaves it in place. */
  const stuck = async (): Promise<{ h: Harness; outside: Provider; id: string; waits: Snapshot }> => {
    const { h, outside } = provided(['north']);
    h.implementations['network'] = {
      ...(h.implementations['network'] as Harness['implementations'][string]),
      undo: async () => {
        throw new PermanentError('it is in use');
      },
    };
    const { id } = await h.begin();
    await h.run(`${id}.up.0`, { until: asked });
    await resolveIncident(h.scheduler, `${id}.up.0`, { incident: 1, choice: 'keep' });
    return { h, outside, id, waits: await h.run(id, { until: asked }) };
  };

  it('is not tried again while what it left may be in effect, but by the word of a person', async () => {
    const { h, outside, id, waits } = await stuck();
    expect(waits.steps['up']).toMatchObject({ status: 'waiting', failure: { code: 'child-failed' } });
    expect(explain(moving.plan, waits, h.clock.now()).steps[0]?.because).toContain(
      'try 1 is over, and what it did may be in effect',
    );
    await expect(
      resolveIncident(h.scheduler, id, {
        incident: 1,
        choice: 'retry-with-input',
        input: { region: 'west' },
      }),
    ).rejects.toThrow('nothingHappened');
    outside.stands.clear();
    const choice = { choice: 'retry-with-input', input: { region: 'west' }, nothingHappened: true } as const;
    await resolveIncident(h.scheduler, id, { incident: 1, ...choice });
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', output: { at: 'west' } });
  });

  it.each([
    ['undone', {}],
    ['left as it is', { undo: false }],
  ] as const)(
    'and is stopped, and %s, says what may stand, and no other takes its place after a retry',
    async (_, how) => {
      const { h, id } = await stuck();
      await cancel(h.scheduler, id, how);
      const end = await h.run(id);
      expect(end.execution.status).toBe('failed');
      expect(h.announced.at(-1)?.standing).toMatchObject({
        mayStand: 1,
        first: [{ step: 'up', effect: 'may-stand', executionId: `${id}.up.0` }],
      });
      await again(h.scheduler, id, {}).catch(() => undefined);
      await drain(h);
      for (const other of ['-e1t2', '-e2t1'])
        expect(await h.store.read(`${id}.up.0${other}`)).toBeUndefined();
    },
  );

  it('is put to its default without an answer', async () => {
    const { h, id } = await stuck();
    expect((await h.run(id, { maxMs: 2 * 3_600_000 })).execution.status).toBe('failed');
    expect(await h.store.read(`${id}.up.0-e1t2`)).toBeUndefined();
  });
});

const input = anyObject as never;
const plain = anAgent('plain', { undo: 'none' });
const once = { recovery: [retry(0)] };
const inner = workflow(
  'inner',
  { input, within: '1h' },
  (w) => void w.step('x', plain, {}, once),
) as Workflow;

const failing = (...results: ('fails' | 'works')[]) => {
  let at = 0;
  return {
    plain: {
      execute: async (): Promise<object> => {
        at += 1;
        if (results[at - 1] === 'fails') throw new TransientError('no');
        return {};
      },
    },
  };
};

describe('when its tries are over', () => {
  const twice = workflow('twice', { input, within: '3h' }, (w) => {
    w.child('up', inner as never, {} as never, { recovery: [retry(1, { delay: '1s' })] });
  }) as Workflow;

  it('the step fails, and an operator’s retry begins them again under ids of their own', async () => {
    const h = harness(twice, failing('fails', 'fails', 'fails', 'works'));
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('failed');
    await again(h.scheduler, id, {});
    const end = await h.run(id);
    expect(end.execution.status).toBe('succeeded');
    const ids = ['', '-e1t2', '-e2t1', '-e2t2'].map((suffix) => `${id}.up.0${suffix}`);
    const ends = await Promise.all(ids.map(async (one) => (await h.state(one)).execution.status));
    expect(ends).toEqual(['failed', 'failed', 'failed', 'succeeded']);
    expect(await h.store.read(`${id}.up.0-e1t3`)).toBeUndefined();
  });

  it('and it may fail, its failure is tolerated, and not before', async () => {
    const may = workflow('may', { input, within: '3h' }, (w) => {
      const up = w.child('up', inner as never, {} as never, { recovery: [retry(1)], mayFail: true });
      w.step('after', plain, {}, { ...once, after: [up] });
    }) as Workflow;
    const h = harness(may, failing('fails', 'fails', 'works'));
    const { id } = await h.begin();
    const end = await h.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(end.steps['up']).toMatchObject({ status: 'tolerated', children: { try: 2 } });
  });
});

describe('an input that the other workflow does not accept', () => {
  const strict = workflow('strict', { input: z.object({ must: z.string() }), within: '1h' }, (w) => {
    w.step('x', plain, {}, once);
  });
  const strictly = workflow('strictly', { input, within: '3h' }, (w) => {
    const { must } = w.input as never as { must: never };
    w.child('up', strict, { must }, { recovery: [retry(3), withInput({ must: 'text' })] });
  }) as Workflow;

  it('is not tried again; the next stage has another', async () => {
    const h = harness(strictly, failing());
    const { id } = await h.begin({ must: 5 });
    const end = await h.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(end.steps['up']).toMatchObject({
      children: { try: 2 },
      attempts: [{ failure: { code: 'input-refused' } }],
    });
    expect((await h.state(`${id}.up.0`)).execution).toMatchObject({ status: 'canceled', version: 1 });
  });

  it('is not a try that an operator canceled, although the process that took its place dies before it says why', async () => {
    let writes = 0;
    const h = harness(strictly, failing(), 1, (world) =>
      withStore(world, (store) => ({
        write: async (write) => {
          if (write.step?.name === 'up' && (writes += 1) === 1) throw new Error('died');
          return store.write(write);
        },
      })),
    );
    const { id } = await h.begin({ must: 5 });
    const end = await h.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(end.steps['up']?.children?.try).toBe(2);
  });

  it('says why to the next one that could have started it', async () => {
    const h = harness(strictly, failing());
    const { id } = await h.begin({ must: 5 });
    const { execution } = await h.state(`${id}.up.0`);
    const start = { id: execution.id, planId: execution.plan, input: { must: 5 }, parent: execution.parent };
    const next = { kind: 'start-children', step: 'up', planned: {}, starts: [start] } as never;
    expect(await withChildren(h.scheduler.ports, next, async () => undefined)).toMatchObject({
      failure: { code: 'input-refused' },
      ended: { 0: { status: 'canceled' } },
    });
  });
});

describe('a group with a point of no return', () => {
  const handOver = anAgent('hand-over', { undo: 'none' });
  const delivery = workflow('delivery', { input, within: '1h' }, (w) => {
    const x = w.step('x', plain, {}, once);
    const over = w.step('over', handOver, {}, { ...once, after: [x], pointOfNoReturn: true });
    w.step('y', plain, {}, { ...once, after: [over] });
  }) as Workflow;
  const sends = workflow('sends', { input, within: '3h' }, (w) => {
    w.child('up', delivery as never, {} as never, {
      pointOfNoReturn: true,
      recovery: [retry(2), askPerson()],
    });
  }) as Workflow;
  const world = (...results: ('fails' | 'works')[]): Harness =>
    harness(sends, { ...failing(...results), 'hand-over': { execute: async () => ({}) } });

  it('is tried again when it failed before the point', async () => {
    const h = world('fails', 'works', 'works');
    const { id } = await h.begin();
    const end = await h.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(end.steps['up']?.children?.try).toBe(2);
  });

  it('is never tried again by itself behind it', async () => {
    const h = world('works', 'fails');
    const { id } = await h.begin();
    await h.run(`${id}.up.0`, { until: asked });
    await resolveIncident(h.scheduler, `${id}.up.0`, { incident: 1, choice: 'keep' });
    const waits = await h.run(id, { until: asked });
    expect(waits.questions?.[1]).toMatchObject({ step: 'up', otherwise: 'keep' });
    expect(await h.store.read(`${id}.up.0-e1t2`)).toBeUndefined();
  });
});
