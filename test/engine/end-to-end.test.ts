import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { eq, orElse } from '../../lib/author/references.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject, harness } from './harness.ts';
import { withStore } from './process.ts';

const a = anAgent('a');
const b = anAgent('b');
const c = anAgent('c', { effect: 'probed' });
const quick = { recovery: [retry(3, { delay: '1s', maxDelay: '5s' })] };

const diamond = workflow('diamond', { input: anyObject, within: '1h' }, (w) => {
  const left = w.step('left', a, { from: w.input }, quick);
  const right = w.step('right', b, {}, quick);
  const join = w.step('join', c, { left: left.output, right: right.output }, quick);
  w.step('last', a, { join: join.output }, quick);
  return { join: join.output };
});

const ok = {
  execute: async () => ({ ok: true }),
  probe: async () => ({ verdict: 'not-done' as const }),
  undo: async () => undefined,
};

describe('an execution', () => {
  it('without faults ends by itself, without a supervisor, one message and one attempt a step', async () => {
    const h = harness(diamond, { a: ok, b: ok, c: ok });
    const { id } = await h.begin({ n: 1 });
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(execution.output).toEqual({ join: { ok: true } });
    expect(Object.values(steps).map((step) => [step.name, step.status, step.attempt])).toEqual(
      expect.arrayContaining([
        ['left', 'done', 1],
        ['right', 'done', 1],
        ['join', 'done', 1],
        ['last', 'done', 1],
      ]),
    );
    expect(h.announced).toHaveLength(1);
    expect(h.notes.map(({ what }) => what)).not.toContain('dispatched');
  });

  it('retries what failed transiently and then succeeds', async () => {
    let tries = 0;
    const flaky = {
      ...ok,
      execute: async () => {
        tries += 1;
        if (tries <= 3) throw new TransientError('503');
        return {};
      },
    };
    const h = harness(diamond, { a: ok, b: flaky, c: ok });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['right']?.attempt).toBe(4);
    expect(h.notes.map(({ what }) => what)).not.toContain('dispatched');
  });

  it('undoes in reverse order what was done when a step fails for good', async () => {
    const undone: string[] = [];
    const undoable = (name: string) => ({
      ...ok,
      undo: async (ctx: { step: string }) => {
        undone.push(`${name}:${ctx.step}`);
      },
    });
    const declined = {
      ...undoable('c'),
      execute: async () => {
        throw new PermanentError('declined');
      },
    };
    const h = harness(diamond, { a: undoable('a'), b: undoable('b'), c: declined });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('compensated');
    expect(execution.cause).toMatchObject({ kind: 'failure', step: 'join' });
    expect(undone.sort()).toEqual(['a:left', 'b:right']);
    expect(steps['last']).toBeUndefined();
  });

  it('is picked up by the supervisor when every message is lost once', async () => {
    const seen = new Set<string>();
    const h = harness(diamond, { a: ok, b: ok, c: ok });
    const { id } = await h.begin();
    const { execution } = await h.run(id, {
      deliverable: ({ message }) => {
        const first = !seen.has(message.step);
        seen.add(message.step);
        return !first;
      },
    });
    expect(execution.status).toBe('succeeded');
    expect(h.notes.filter(({ what }) => what === 'dispatched').length).toBeGreaterThanOrEqual(3);
  });

  it('with a lost reply asks the probe before anything is repeated', async () => {
    let charges = 0;
    const charge = {
      ...ok,
      execute: async () => {
        charges += 1;
        throw new Error('socket hang up');
      },
      probe: async () => ({ verdict: 'done' as const, output: { found: true } }),
    };
    const h = harness(diamond, { a: ok, b: ok, c: charge });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(execution.output).toEqual({ join: { found: true } });
    expect(charges).toBe(1);
  });

  it('skips a step whose condition does not hold, and what follows runs', async () => {
    const choosy = workflow('choosy', { input: anyObject, within: '1h' }, (w) => {
      const first = w.step('first', a, {}, quick);
      const maybe = w.step(
        'maybe',
        b,
        {},
        { ...quick, when: eq(first.output['go'] as never, 'yes' as never) },
      );
      w.step('after', c, { got: orElse(maybe.output, 'nothing') }, { ...quick, after: [maybe] });
    });
    const h = harness(choosy, { a: ok, b: ok, c: ok });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(steps['maybe']?.status).toBe('skipped');
    expect(steps['after']?.status).toBe('done');
  });

  it('is announced by the writer of its end, even one that has lost a race over something else before', async () => {
    const choosy = workflow('choosy', { input: anyObject, within: '1h' }, (w) => {
      const first = w.step('first', a, {}, quick);
      w.step('maybe', b, {}, { ...quick, when: eq(first.output['go'] as never, 'yes' as never) });
    });
    let lost = false;
    const h = harness(choosy, { a: ok, b: ok }, 1, (world) =>
      withStore(world, (store) => ({
        write: async (write) => {
          if (lost || write.step?.status !== 'skipped') return store.write(write);
          lost = true;
          return 'conflict';
        },
      })),
    );
    const { id } = await h.begin();
    expect((await h.run(id, { supervised: false })).execution.status).toBe('succeeded');
    expect(h.announced).toHaveLength(1);
  });
});
