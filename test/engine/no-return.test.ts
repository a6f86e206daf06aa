/** After the point of no return, an execution can only go forward. Also: inputs that an agent refuses. */

import * as z from 'zod/mini';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { explain } from '../../lib/explain/why.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, type Harness, harness, settle } from './harness.ts';

const DAY = 86_400_000;
const before = anAgent('before');
const point = anAgent('point', { effect: 'probed' });
const after = anAgent('after');
const decline = async (): Promise<never> => {
  throw new PermanentError('declined');
};
const undos: string[] = [];
const undo = async (ctx: { step: string }): Promise<void> => {
  undos.push(ctx.step);
};
beforeEach(() => undos.splice(0));

const chain = workflow('chain', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', before, {});
  const p = w.step('p', point, {}, { after: [a], pointOfNoReturn: true });
  w.step('c', after, {}, { after: [p], recovery: [again(1)] });
});
const passed = (execute: () => Promise<object>) =>
  harness(chain, {
    before: { execute: async () => ({}), undo },
    point: { execute: async () => ({}), undo },
    after: { execute, undo },
  });
const asked = async (h: Harness): Promise<string> => {
  const { id } = await h.begin();
  await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
  return id;
};

describe('behind a point of no return', () => {
  it('a step that fails for good asks a person, who is not offered to undo', async () => {
    const h = passed(decline);
    const id = await asked(h);
    const { execution, steps, questions } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(steps['c']).toMatchObject({ status: 'waiting' });
    expect(questions?.[1]).toMatchObject({ otherwise: 'keep', deadlineAt: h.clock.now() + 7 * DAY });
    await expect(resolveIncident(h.scheduler, id, { incident: 1, choice: 'undo-all' })).rejects.toMatchObject(
      { code: 'unsafe-choice' },
    );
  });

  it('the default leaves everything as it is (L1)', async () => {
    const h = passed(decline);
    const id = await asked(h);
    const { execution, steps } = await h.run(id, { maxMs: 8 * DAY });
    expect(execution).toMatchObject({ status: 'failed', cause: { undo: false } });
    expect(steps).toMatchObject({ a: { status: 'done' }, p: { status: 'done' } });
    expect(undos).toEqual([]);
  });

  it('a person may have it tried again', async () => {
    let tries = 0;
    const h = passed(async () => ((tries += 1) === 1 ? decline() : {}));
    const id = await asked(h);
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('a cancel is refused, unless it leaves what has acted as it is', async () => {
    const h = passed(decline);
    const id = await asked(h);
    await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-cancelable',
      message: expect.stringContaining("step 'p' is past the point of no return"),
    });
    await cancel(h.scheduler, id, { undo: false });
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect(steps).toMatchObject({ a: { status: 'done' }, p: { status: 'done' }, c: { status: 'fenced' } });
    expect(undos).toEqual([]);
  });

  it('the deadline of the execution undoes nothing', async () => {
    const h = passed(decline);
    const id = await asked(h);
    h.clock.advanceTo(h.clock.now() + 2 * 3_600_000);
    await h.sweep();
    expect((await h.state(id)).execution.status).toBe('waiting');
    expect(explain(chain.plan, await h.state(id), h.clock.now()).next.what).toContain(
      "without an answer 'keep' is chosen",
    );
  });
});

describe('beside a point of no return whose outcome is open', () => {
  const fork = workflow('fork', { input: anyObject, within: '1h' }, (w) => {
    const a = w.step('a', before, {});
    const p = w.step('p', point, {}, { after: [a], pointOfNoReturn: true, recovery: [again(1)] });
    w.step('c', after, {}, { after: [a], recovery: [again(1)] });
    w.step('d', before, {}, { after: [p] });
  });

  const run = async (end: 'done' | 'fail') => {
    let finish: (() => void) | undefined;
    const h = harness(fork, {
      before: { execute: async () => ({}), undo },
      point: {
        execute: () =>
          new Promise((resolve, reject) => {
            finish = () => (end === 'done' ? resolve({}) : reject(new PermanentError('no')));
          }),
        undo,
      },
      after: { execute: decline, undo },
    });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['c']?.status === 'failed' });
    await settle();
    await h.sweep();
    const open = await h.state(id);
    expect(open.execution.status).toBe('running');
    const why = explain(fork.plan, open, h.clock.now());
    expect(why.steps.find(({ name }) => name === 'c')?.because).toContain("the outcome of 'p'");
    await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({
      message: expect.stringContaining('its outcome is open'),
    });
    finish?.();
    return { h, id };
  };

  it('a failure waits, and is put to a person when the point is passed', async () => {
    const { h, id } = await run('done');
    await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'skip' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(undos).toEqual([]);
  });

  it('a failure waits, and undoes everything when the point is not passed', async () => {
    const { h, id } = await run('fail');
    expect((await h.run(id)).execution.status).toBe('compensated');
    expect(undos).toEqual(['a']);
  });

  it('what was claimed just as the execution was stopped is left as it is, and may be tried again', async () => {
    const h = harness(fork, {
      before: { execute: async () => ({}), undo },
      point: { execute: async () => ({}), undo },
      after: { execute: decline, undo },
    });
    const { id } = await h.begin();
    await h.deliver(h.sent.splice(0)[0] as never);
    const stale = await h.state(id);
    const ofPoint = h.sent.find(({ message }) => message.step === 'p');
    h.sent.splice(0);
    let reads = 0;
    const late = {
      ...h,
      store: Object.assign(Object.create(h.store) as typeof h.store, {
        read: async (of: string) => ((reads += 1) === 1 ? stale : h.store.read(of)),
        write: async (write: Parameters<typeof h.store.write>[0]) => {
          // The cancel is written between the read and the claim; its fence comes after.
          if (reads === 1 && write.step?.status === 'running') {
            reads += 1;
            const state = await h.state(id);
            await h.store.write({
              executionId: id,
              execution: {
                ...state.execution,
                version: state.execution.version + 1,
                writeId: 'cancel',
                status: 'compensating',
                wakeAt: h.clock.now(),
                cause: { kind: 'cancel', at: h.clock.now(), failure: { code: 'canceled', message: 'x' } },
              },
            });
          }
          return h.store.write(write);
        },
      }),
    };
    await h.deliver(ofPoint as never, late);
    const { execution, steps } = await h.run(id);
    expect(steps['p']).toMatchObject({ status: 'done' });
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect(undos).toEqual([]);
  });
});

describe('an input that the agent does not accept', () => {
  const strict = anAgent('strict', { input: z.object({ must: z.string() }) as never, undo: 'none' });
  const refused = workflow('refused', { input: anyObject, within: '2h' }, (w) => {
    const a = w.step('a', before, {});
    w.step('b', strict, {}, { after: [a] });
  });
  const refusing = () =>
    harness(refused, { before: { execute: async () => ({}), undo }, strict: { execute: async () => ({}) } });

  it('is put to a person, within the time of the execution; the default undoes', async () => {
    const h = refusing();
    const id = await asked(h);
    const { execution, questions } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(questions?.[1]).toMatchObject({
      step: 'b',
      otherwise: 'undo-all',
      deadlineAt: execution.deadlineAt,
      failure: { code: 'input-refused' },
    });
    expect((await h.run(id, { maxMs: DAY })).execution.status).toBe('compensated');
  });

  it('is answered with one that it accepts', async () => {
    const h = refusing();
    const id = await asked(h);
    await resolveIncident(h.scheduler, id, {
      incident: 1,
      choice: 'retry-with-input',
      input: { must: 'be' },
    });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('is asked about within the time that a recovery declares', async () => {
    const declared = workflow('declared', { input: anyObject, within: '10d' }, (w) => {
      w.step('b', strict, {}, { recovery: [askPerson({ within: '3h', otherwise: 'keep' })] });
    });
    const h = harness(declared, { strict: { execute: async () => ({}) } });
    const id = await asked(h);
    expect((await h.state(id)).questions?.[1]).toMatchObject({
      otherwise: 'keep',
      deadlineAt: h.clock.now() + 3 * 3_600_000,
    });
  });
});
