/** Incidents, the last stage of a recovery: two people answer at once, or there is no answer. */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { explain } from '../../lib/explain/why.ts';
import { askPerson, retry, useAgent, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import { resolveIncident, type ResolutionRequest } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, drain, type Harness, harness, settle } from '../engine/harness.ts';

const first = anAgent('first', { probe: 'none' });
const second = anAgent('second', { effect: 'probed' });
const blind = anAgent('blind', { effect: 'unsafe' });
const undo = async (): Promise<void> => undefined;
const decline = async (): Promise<never> => {
  throw new PermanentError('declined');
};
const lose = async (): Promise<never> => {
  throw new Error('socket hang up');
};
const asking = workflow('asking', { input: anyObject, within: '10d' }, (w) => {
  const done = w.step('done', first, {});
  w.step('asked', second, {}, { after: [done], recovery: [askPerson({ within: '1h' })] });
});

const answer = (h: Harness, id: string, given: Omit<ResolutionRequest, 'incident'>) =>
  resolveIncident(h.scheduler, id, { incident: 1, ...given });

describe('a step whose recovery ends with a person', () => {
  const stuck = (execute: (ctx: AttemptContext) => Promise<object> = decline) =>
    harness(asking, {
      first: { execute: async () => ({}), undo },
      second: { execute, undo, probe: async () => ({ verdict: 'cannot-tell' }) },
    });

  it('opens a question with a deadline, and the execution waits, watched at that deadline', async () => {
    const h = stuck();
    const { id } = await h.begin();
    await drain(h);
    await h.sweep();
    h.clock.advanceTo((await h.state(id)).execution.wakeAt ?? 0);
    await h.sweep();
    const { execution, steps, questions } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(steps['asked']).toMatchObject({ status: 'waiting', failure: { message: 'declined' } });
    expect(questions?.[1]).toMatchObject({ kind: 'recovery', step: 'asked', otherwise: 'undo-all' });
    expect(execution.wakeAt).toBe(questions?.[1]?.deadlineAt);
  });

  it('answers the question that is named, and no other of the execution', async () => {
    const both = workflow('both', { input: anyObject, within: '10d' }, (w) => {
      for (const name of ['one', 'other'])
        w.step(name, second, {}, { recovery: [askPerson({ within: '1h' })] });
    });
    const h = harness(both, { second: { execute: decline, undo } });
    const { id } = await h.begin();
    await drain(h);
    const output = { by: 'hand' };
    await resolveIncident(h.scheduler, id, { incident: 2, choice: 'give-output', output });
    const { steps, questions } = await h.state(id);
    expect(questions?.[1]?.closedAt).toBeUndefined();
    expect(steps[questions?.[1]?.step ?? '']?.status).toBe('waiting');
    expect(steps[questions?.[2]?.step ?? '']).toMatchObject({ status: 'done', output });
  });

  it.each([
    ['retry', {}, 'succeeded', 'done'],
    ['retry-with-input', { input: { better: true } }, 'succeeded', 'done'],
    ['give-output', { output: { by: 'hand' } }, 'succeeded', 'done'],
    ['skip', {}, 'succeeded', 'skipped'],
    ['undo-all', {}, 'compensated', 'failed'],
    ['keep', {}, 'failed', 'failed'],
  ] as const)('goes on as the person chooses: %s', async (choice, more, status, step) => {
    let tries = 0;
    const inputs: unknown[] = [];
    const h = harness(asking, {
      first: { execute: async () => ({}), undo },
      second: {
        execute: async (_ctx, input) => {
          tries += 1;
          inputs.push(input);
          return tries === 1 ? decline() : {};
        },
        undo,
      },
    });
    const { id } = await h.begin();
    await drain(h);
    await answer(h, id, { choice, ...more });
    const { execution, steps, questions } = await h.run(id);
    expect([execution.status, steps['asked']?.status]).toEqual([status, step]);
    expect(questions?.[1]).toMatchObject({ choice, closedBy: 'answer' });
    if (choice === 'keep') expect(steps['done']?.status).toBe('done');
    if (choice === 'retry-with-input') expect(inputs).toEqual([{}, { better: true }]);
    if (choice === 'give-output') expect(steps['asked']?.output).toEqual({ by: 'hand' });
  });

  it('is undone when nobody answers in time', async () => {
    const h = stuck();
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    const { execution, questions } = await h.run(id, { maxMs: 2 * 3_600_000 });
    expect(execution.status).toBe('compensated');
    expect(questions?.[1]).toMatchObject({ closedBy: 'deadline', choice: 'undo-all' });
    expect((execution.endedAt ?? 0) - startedAt).toBeGreaterThanOrEqual(3_600_000);
  });

  it('takes one of two answers; the other operator gets the choice that was made', async () => {
    const h = stuck();
    const { id } = await h.begin();
    await drain(h);
    const results = await Promise.allSettled([
      answer(h, id, { choice: 'skip' }),
      answer(h, id, { choice: 'undo-all' }),
    ]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = results.find((result) => result.status === 'rejected');
    expect(refused).toMatchObject({
      reason: { code: 'already-resolved', message: expect.stringContaining("'skip'") },
    });
    expect((await h.state(id)).execution.version).toBeGreaterThan(2);
  });

  it('refuses an answer to an unknown question', async () => {
    const h = stuck();
    const { id } = await h.begin();
    await expect(answer(h, id, { choice: 'skip' })).rejects.toMatchObject({ code: 'unknown-incident' });
  });
});

describe('a recovery', () => {
  const recovering = workflow('recovering', { input: anyObject, within: '1d' }, (w) => {
    w.step(
      'work',
      first,
      { size: 'large' },
      {
        recovery: [
          retry(1, { delay: '1s', maxDelay: '1s' }),
          withInput({ size: 'small' }, { attempts: 1 }),
          useAgent(second, { attempts: 1 }),
        ],
      },
    );
  });

  it('is climbed: other parameters, then another agent; what was certain to have failed is not undone', async () => {
    const seen: unknown[] = [];
    const h = harness(recovering, {
      first: {
        execute: async (_ctx, input) => {
          seen.push(input);
          return decline();
        },
        undo,
      },
      second: { execute: async (ctx, input) => ({ by: 'second', attempt: ctx.attempt, input }), undo },
    });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    // Permanently declined: the same request is not repeated.
    expect(seen).toEqual([{ size: 'large' }, { size: 'small' }]);
    expect(steps['work']?.output).toEqual({ by: 'second', attempt: 3, input: { size: 'small' } });
  });

  it('undoes what may have acted and cannot be asked for, stage by stage, before it goes on in another way', async () => {
    const undone: string[] = [];
    const spy = (name: string) => async () => {
      undone.push(name);
    };
    const performed: string[] = [];
    const h = harness(recovering, {
      first: { execute: lose, undo: spy('first') },
      second: {
        execute: async () => {
          performed.push('second');
          return {};
        },
        undo: spy('second'),
      },
    });
    const { id } = await h.begin();
    const { execution } = await h.run(id);
    expect([execution.status, performed, undone]).toEqual(['succeeded', ['second'], ['first', 'first']]);
  });
});

describe('a question that comes up on the way', () => {
  it('does not keep what was done beside it from going on, without a supervisor', async () => {
    const sided = workflow('sided', { input: anyObject, within: '1d' }, (w) => {
      w.step('asked', second, {}, { recovery: [askPerson({ within: '1h' })] });
      const done = w.step('done', first, {});
      w.step('after', first, {}, { after: [done] });
    });
    const performed: string[] = [];
    const h = harness(sided, {
      first: {
        execute: async (ctx) => {
          performed.push(ctx.step);
          return {};
        },
        undo,
      },
      second: { execute: decline, undo },
    });
    const { id } = await h.begin();
    // The failure is reported, but its process dies before it asks: the other branch finds the open question.
    const { write } = h.store;
    const [asked, done] = h.sent.splice(0);
    Object.assign(h.store, {
      write: (one: Parameters<typeof write>[0]) =>
        one.question === undefined ? write(one) : new Promise(() => undefined),
    });
    void h.deliver(asked!);
    await settle();
    Object.assign(h.store, { write });
    await h.deliver(done!);
    await drain(h);
    expect(performed).toEqual(['done', 'after']);
    expect((await h.state(id)).questions?.[1]).toMatchObject({ step: 'asked' });
  });
});

describe('an answer', () => {
  it('that says "nothing happened" where nobody asked for that word changes nothing by it', async () => {
    const h = harness(asking, {
      first: { execute: async () => ({}), undo },
      second: { execute: lose, undo },
    });
    const { id } = await h.begin();
    await drain(h);
    await drain(h);
    const { steps } = await h.state(id);
    expect(steps['asked']).toMatchObject({ status: 'waiting', mayHaveActed: true });
    // `nothingHappened` has no effect if nobody asked for it: possible effects are undone.
    await answer(h, id, { choice: 'undo-all', nothingHappened: true });
    expect((await h.state(id)).steps['asked']?.mayHaveActed).toBe(true);
    const { execution } = await h.run(id);
    expect([execution.status, (await h.state(id)).steps['asked']?.status]).toEqual([
      'compensated',
      'compensated',
    ]);
  });

  it('with an unknown choice is refused', async () => {
    const h = harness(asking, {
      first: { execute: async () => ({}), undo },
      second: { execute: decline, undo },
    });
    const { id } = await h.begin();
    await drain(h);
    await expect(answer(h, id, { choice: 'retry', input: {} })).rejects.toMatchObject({
      code: 'unsafe-choice',
    });
    await expect(answer(h, id, { choice: 'skip', output: {} })).rejects.toMatchObject({
      code: 'unsafe-choice',
    });
    await expect(
      answer(h, id, { choice: 'retry-with-input', input: { big: 'x'.repeat(40_000) } }),
    ).rejects.toMatchObject({ code: 'too-large' });
  });
});

it('a question ends with the execution at the latest, and the answer that was declared for silence holds', async () => {
  const short = workflow('short', { input: anyObject, within: '10m' }, (w) => {
    const done = w.step('done', first, {});
    const later = w.wait('later', { for: '1m', after: [done] });
    w.step(
      'asked',
      second,
      {},
      { after: [later], recovery: [askPerson({ within: '10m', otherwise: 'keep' })] },
    );
  });
  const h = harness(short, {
    first: { execute: async () => ({}), undo },
    second: { execute: decline, undo },
  });
  const { id } = await h.begin();
  const { execution, steps, questions } = await h.run(id);
  expect(questions?.[1]).toMatchObject({ closedBy: 'deadline', choice: 'keep' });
  expect([execution.status, steps['done']?.status]).toEqual(['failed', 'done']);
});

it('a late success answers the question itself, in one transaction', async () => {
  let finish: (output: object) => void = () => undefined;
  const blindly = workflow('blindly', { input: anyObject, within: '1d' }, (w) => {
    w.step('asked', blind, {});
  });
  const h = harness(blindly, {
    blind: { execute: () => new Promise((resolve) => (finish = resolve)), undo },
  });
  const { id } = await h.begin();
  // The attempt's heartbeats do not arrive, so its lease ends although it continues.
  const { write } = h.store;
  Object.assign(h.store, {
    write: (one: Parameters<typeof write>[0]) =>
      (one.step?.heartbeat ?? 0) > 0 ? new Promise(() => undefined) : write(one),
  });
  const [send] = h.sent.splice(0);
  void h.deliver(send!);
  await settle();
  h.clock.advanceTo(h.clock.now() + 11_000);
  await settle();
  await h.sweep();
  expect((await h.state(id)).execution.status).toBe('waiting');
  finish({ late: true });
  for (let round = 0; round < 5; round += 1) {
    await settle();
    h.clock.advanceTo(h.clock.now() + 500);
  }
  const { execution, steps, questions } = await h.state(id);
  expect([execution.status, steps['asked']?.output]).toEqual(['succeeded', { late: true }]);
  expect(questions?.[1]).toMatchObject({ closedBy: 'moot' });
});

it('why tells the question, the answer and who gave it, and does not blame a condition for a skip', async () => {
  const h = harness(asking, {
    first: { execute: async () => ({}), undo },
    second: { execute: decline, undo },
  });
  const { id } = await h.begin();
  await drain(h);
  await answer(h, id, { choice: 'skip', reason: 'sold out' });
  const explained = explain(asking.plan, await h.run(id), h.clock.now());
  const past = explained.past.map((one) => one.what);
  expect(past).toContain('incident 1: a person was asked');
  expect(past).toContain("incident 1: a person chose 'skip' (sold out)");
  expect(past).toContain('attempt 1, 0 ms: failed: declined');
  expect(explained.steps.find((step) => step.name === 'asked')?.because).toBe('a person skipped it');
});
