/**
 * Reliable undo (P3): order, retries, unknown outcomes, the fence. S1, S10; F1, F2, F6 of the model's
 * findings.
 */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { stepOfKey } from './book.ts';
import { anAgent, anyObject, harness, PROCESS_MS, settle } from './harness.ts';
import { aProcess, deferred, heldWrite, never } from './process.ts';

const worker = anAgent('worker');
const other = anAgent('other');
const SETTLE_MS = 5_000;
const once = { recovery: [retry(0)], retryUndo: retry(3, { delay: '1s', maxDelay: '2s' }) };
const twice = { ...once, recovery: [retry(1, { delay: '1s', maxDelay: '1s' })] };

const decline = async (): Promise<never> => {
  throw new PermanentError('declined');
};
const fine = { execute: async () => ({}), undo: async () => undefined };

/** a, then b; b fails permanently. */
const pair = workflow('pair', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', worker, {}, once);
  w.step('b', other, { a: a.output }, once);
});

describe('an undo', () => {
  it('that fails is tried again, and the execution is compensated when it is done', async () => {
    let tries = 0;
    const undo = async (): Promise<void> => {
      tries += 1;
      if (tries < 3) throw new TransientError('503');
    };
    const h = harness(pair, { worker: { ...fine, undo }, other: { execute: decline, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('compensated');
    expect(steps['a']).toMatchObject({ status: 'compensated', undoAttempt: 3, attempt: 1 });
    expect(steps['b']?.status).toBe('failed');
  });

  it('gets the output of the step that it undoes, and the same effect key', async () => {
    const seen: unknown[] = [];
    const keys = new Set<string>();
    const execute = async (ctx: AttemptContext): Promise<object> => {
      keys.add(ctx.idempotencyKey);
      return { chargeId: 'c-1' };
    };
    const undo = async (ctx: AttemptContext, _: unknown, output: unknown): Promise<void> => {
      keys.add(ctx.idempotencyKey);
      seen.push(output);
    };
    const h = harness(pair, { worker: { execute, undo }, other: { ...fine, execute: decline } });
    const { id } = await h.begin();
    await h.run(id, { supervised: false });
    expect(seen).toEqual([{ chargeId: 'c-1' }]);
    expect([...keys].map(stepOfKey)).toEqual([`${id}.a`]);
  });

  it('whose agent dies is repeated, but not while the dead one may still act', async () => {
    const undoneAt: number[] = [];
    const undo = async (): Promise<unknown> => {
      undoneAt.push(h.clock.now());
      if (undoneAt.length > 1) return undefined;
      doomed.kill();
      return never;
    };
    const h = harness(pair, { worker: { ...fine, undo }, other: { ...fine, execute: decline } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const { execution } = await h.run(id, {
      portsOf: ({ message }) => (message.mode === 'undo' && undoneAt.length === 0 ? doomed.ports : undefined),
    });
    expect(execution.status).toBe('compensated');
    expect(undoneAt).toHaveLength(2);
    expect((undoneAt[1] ?? 0) - (undoneAt[0] ?? 0)).toBeGreaterThanOrEqual(PROCESS_MS + SETTLE_MS);
  });

  it.each([
    ['fails for good', decline, 1],
    [
      'fails once more than it may',
      async () => {
        throw new TransientError('503');
      },
      4,
    ],
  ])(
    'that %s is a question to a person; without an answer it is told as what it is: failed, and what lies before is left',
    async (_, undo, tries) => {
      const chain = workflow('chain', { input: anyObject, within: '1h' }, (w) => {
        const first = w.step('first', worker, {}, once);
        const second = w.step('second', other, {}, { ...once, after: [first] });
        w.step('third', worker, {}, { ...once, after: [second] });
      });
      const undone: string[] = [];
      const execute = async (ctx: AttemptContext): Promise<object> => (ctx.step === 'third' ? decline() : {});
      const spy = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
      const h = harness(chain, { worker: { execute, undo: spy }, other: { ...fine, undo } });
      const { id } = await h.begin();
      const { execution, steps, questions } = await h.run(id, { maxMs: 8 * 86_400_000 });
      expect(questions?.[1]).toMatchObject({
        kind: 'undo',
        step: 'second',
        closedBy: 'deadline',
        choice: 'keep',
      });
      expect(execution).toMatchObject({
        status: 'failed',
        cause: { failure: { code: 'compensation-failed', message: expect.stringContaining('second') } },
      });
      expect(steps['second']).toMatchObject({ status: 'compensation-failed', undoAttempt: tries });
      expect(steps['first']?.status).toBe('done');
      expect(undone).toEqual([]);
    },
  );

  it('goes backwards through a graph: nothing before what depends on it (S10)', async () => {
    const deep = workflow('deep', { input: anyObject, within: '1h' }, (w) => {
      const a = w.step('a', worker, {}, once);
      const b = w.step('b', other, {}, { ...once, after: [a] });
      const c = w.step('c', worker, {}, { ...once, after: [a] });
      const d = w.step('d', other, {}, { ...once, after: [b] });
      const e = w.step('e', worker, {}, { ...once, after: [c, d] });
      w.step('f', other, {}, { ...once, after: [e] });
    });
    const undone: string[] = [];
    const undo = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
    const execute = async (ctx: AttemptContext): Promise<object> => (ctx.step === 'f' ? decline() : {});
    const h = harness(deep, { worker: { execute, undo }, other: { execute, undo } });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('compensated');
    expect([...undone].sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const before = (one: string, two: string): boolean => undone.indexOf(one) < undone.indexOf(two);
    expect([
      before('e', 'c'),
      before('e', 'd'),
      before('d', 'b'),
      before('b', 'a'),
      before('c', 'a'),
    ]).toEqual(Array(5).fill(true));
  });

  it('covers a step whose answer was lost once, although a later attempt was refused (F6)', async () => {
    let tries = 0;
    const undone: string[] = [];
    const execute = async (): Promise<object> => {
      tries += 1;
      if (tries === 1) throw new Error('socket hang up');
      return decline();
    };
    const undo = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
    const lone = workflow('lone', { input: anyObject, within: '1h' }, (w) => {
      w.step('it', worker, {}, twice);
    });
    const h = harness(lone, { worker: { execute, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(undone).toEqual(['it']);
    expect(execution.status).toBe('compensated');
    expect(steps['it']).toMatchObject({ status: 'compensated', mayHaveActed: false });
  });

  it('of a lost attempt begins only when that attempt is dead for certain (F5)', async () => {
    const undoneAt: number[] = [];
    const undo = async (): Promise<void> => void undoneAt.push(h.clock.now());
    const execute = async (): Promise<object> => {
      doomed.kill();
      return never;
    };
    const lone = workflow('lone', { input: anyObject, within: '1h' }, (w) => {
      w.step('it', worker, {}, once);
    });
    const h = harness(lone, { worker: { execute, undo } });
    const doomed = aProcess(h);
    const { id } = await h.begin();
    const deadAt = h.clock.now() + PROCESS_MS;
    const { execution } = await h.run(id, {
      portsOf: ({ message }) => (message.mode === 'execute' ? doomed.ports : undefined),
    });
    expect(execution.status).toBe('compensated');
    expect(undoneAt[0]).toBeGreaterThanOrEqual(deadAt + SETTLE_MS);
  });

  it('is not asked of a step that has none', async () => {
    const mail = anAgent('mail', { undo: 'none' });
    const letter = workflow('letter', { input: anyObject, within: '1h' }, (w) => {
      const sent = w.step('sent', mail, {}, { recovery: [retry(0)] });
      w.step('b', other, {}, { ...once, after: [sent] });
    });
    const h = harness(letter, { mail: fine, other: { ...fine, execute: decline } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('failed');
    expect(steps['sent']?.status).toBe('done');
  });
});

describe('the fence (F1)', () => {
  const claimOf =
    (step: string) =>
    (write: Write): boolean =>
      write.step?.name === step && write.step.status === 'running';

  it('stops a claim that was decided before the cancel and written after it', async () => {
    const executed: string[] = [];
    const execute = async (ctx: AttemptContext): Promise<object> => (executed.push(ctx.step), {});
    const h = harness(pair, { worker: { execute, undo: fine.undo }, other: { execute, undo: fine.undo } });
    const held = heldWrite(h, claimOf('a'));
    const { id } = await h.begin();
    const running = h.run(id, { portsOf: () => held.ports, supervised: false });
    await held.arrived;
    await cancel(h.scheduler, id, { reason: 'changed my mind' });
    held.release();
    const { execution, steps } = await running;
    expect(await held.result).toBe('conflict');
    expect(execution.status).toBe('canceled');
    expect(steps['a']).toMatchObject({ status: 'fenced', attempt: 0 });
    expect(executed).toEqual([]);
  });

  it('meets a claim that was written first: the step works to its end, and is undone', async () => {
    const undone: string[] = [];
    const work = deferred<object>();
    const undo = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
    const h = harness(pair, { worker: { execute: () => work.promise, undo }, other: fine });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['a']?.status === 'running' });
    await cancel(h.scheduler, id, {});
    expect((await h.state(id)).execution.status).toBe('compensating');
    work.resolve({});
    await settle();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('canceled');
    expect(undone).toEqual(['a']);
  });

  it('stops a parallel branch that was about to start when another one failed', async () => {
    const executed: string[] = [];
    const both = workflow('both', { input: anyObject, within: '1h' }, (w) => {
      w.step('bad', worker, {}, once);
      w.step('late', other, {}, once);
    });
    const execute = async (ctx: AttemptContext): Promise<object> => (executed.push(ctx.step), {});
    const h = harness(both, { worker: { ...fine, execute: decline }, other: { execute, undo: fine.undo } });
    const held = heldWrite(h, claimOf('late'));
    const { id } = await h.begin();
    const running = h.run(id, {
      supervised: false,
      portsOf: ({ message }) => (message.step === 'late' ? held.ports : undefined),
    });
    await held.arrived;
    for (let round = 0; round < 5; round += 1) await settle();
    held.release();
    const { execution, steps } = await running;
    expect(execution.status).toBe('failed');
    expect(steps['late']?.status).toBe('fenced');
    expect(executed).toEqual([]);
  });
});

describe('parallel ends (F2)', () => {
  it('are brought to the end by the last of them, without a supervisor, though both began together', async () => {
    const ends = workflow('ends', { input: anyObject, within: '1h' }, (w) => {
      w.step('left', worker, {}, once);
      w.step('right', other, {}, once);
    });
    const admissions = [deferred<object>(), deferred<object>()];
    const h = harness(ends, {
      worker: { ...fine, execute: async () => admissions[0]?.promise },
      other: { ...fine, execute: async () => admissions[1]?.promise },
    });
    const { id } = await h.begin();
    await h.run(id, {
      supervised: false,
      until: ({ steps }) => Object.values(steps).filter(({ status }) => status === 'running').length === 2,
    });
    for (const admission of admissions) admission.resolve({});
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
  });
});
