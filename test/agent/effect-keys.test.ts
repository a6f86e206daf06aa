/**
 * Effect keys during a recovery (S18): every variant has its own key, plain retries share one, and probe and
 * undo get the attempt's input. The service checks keys: it repeats its answer for a request that it has
 * done, and refuses a different request with the same key.
 */

import { executionView } from '../../lib/api/views.ts';
import type { AttemptContext, Implementation } from '../../lib/core/plan/agent.ts';
import type { Verdict } from '../../lib/core/plan/answers.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Step } from '../../lib/core/records/state.ts';
import {
  askPerson,
  retry as again,
  useAgent,
  withInput,
  workflow,
} from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { explain } from '../../lib/explain/why.ts';
import { pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const first = anAgent('first', { effect: 'probed' });
const second = anAgent('second', { effect: 'probed' });
const last = anAgent('last', { undo: 'none' });
const input = anyObject as never;
const soon = { delay: '1s', maxDelay: '1s' } as const;

const shipping = workflow('shipping', { input, within: '1h' }, (w) => {
  const sent = w.step('sent', first, { size: 'L' } as never, {
    recovery: [
      again(1, soon),
      withInput({ size: 'M' } as never),
      useAgent(second),
      askPerson({ within: '30m' }),
    ],
  });
  w.step('child-ended', last, {}, { after: [sent], recovery: [again(0)] });
}) as Workflow;

type Deed = 'execute' | 'probe' | 'undo';
interface Call {
  readonly on: Deed;
  readonly agent: string;
  /** Counts from 1. */
  readonly key: number;
  readonly size: unknown;
}

/** @param fails how each attempt to execute fails, or whether it acts first, by attempt, from 1 */
function service(fails: Record<number, () => Error>, acts: readonly number[] = []) {
  const calls: Call[] = [];
  const refused: string[] = [];
  const keys: string[] = [];
  const known = new Map<string, { of: string; live: boolean }>();
  const as = (agent: string): Implementation<unknown, unknown> => {
    const enter = (on: Deed, { idempotencyKey }: AttemptContext, given: unknown): string => {
      if (!keys.includes(idempotencyKey)) keys.push(idempotencyKey);
      calls.push({
        on,
        agent,
        key: Number(/-(\d+)$/.exec(idempotencyKey)?.[1] ?? 1),
        size: (given as { size: unknown }).size,
      });
      const of = `${agent} ${canonicalJson(given as Json)}`;
      const before = known.get(idempotencyKey);
      if (before !== undefined && before.of !== of)
        refused.push(`${on} ${idempotencyKey}: ${before.of}, then ${of}`);
      return of;
    };
    return {
      execute: async (ctx, given) => {
        const of = enter('execute', ctx, given);
        const error = fails[ctx.attempt]?.();
        const before = known.get(ctx.idempotencyKey);
        known.set(ctx.idempotencyKey, {
          of,
          live: before?.live === true || error === undefined || acts.includes(ctx.attempt),
        });
        if (error !== undefined) throw error;
        return {};
      },
      probe: async (ctx, given): Promise<Verdict<unknown>> => {
        enter('probe', ctx, given);
        return known.get(ctx.idempotencyKey)?.live === true
          ? { verdict: 'done', output: {} }
          : { verdict: 'not-done' };
      },
      undo: async (ctx, given) => {
        const of = enter('undo', ctx, given);
        known.set(ctx.idempotencyKey, { of, live: false });
      },
    };
  };
  const live = (): number => [...known.values()].filter((one) => one.live).length;
  return { calls, refused, keys, live, first: as('first'), second: as('second') };
}

const busy = (): Error => new TransientError('503');
const declined = (): Error => new PermanentError('declined');
const hangsUp = (): Error => new Error('socket hang up');

function shipped(
  external: ReturnType<typeof service>,
  runLast: () => Promise<object> = async () => ({}),
): Harness {
  return harness(shipping, { first: external.first, second: external.second, last: { execute: runLast } });
}
const texts = (calls: readonly Call[]): string[] =>
  calls.map(({ on, agent, key, size }) => `${on} ${key}: ${agent} ${String(size)}`);

describe('a recovery', () => {
  it('has a key for each variant, with its agent and its input, and one for all tries of a variant', async () => {
    const external = service({ 1: busy, 2: busy, 3: busy });
    const h = shipped(external);
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(texts(external.calls)).toEqual([
      'execute 1: first L',
      'execute 1: first L',
      'execute 2: first M',
      'execute 3: second M',
    ]);
    expect(external.keys).toEqual([external.keys[0], `${external.keys[0]}-2`, `${external.keys[0]}-3`]);
    expect(external.refused).toEqual([]);
  });

  it('is undone with the agent, the input and the key of the attempt that acted (S10)', async () => {
    const external = service({ 1: busy, 2: busy });
    const h = shipped(external, async () => {
      throw new PermanentError('no such address');
    });
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('compensated');
    expect(texts(external.calls).slice(-2)).toEqual(['execute 2: first M', 'undo 2: first M']);
    expect([external.refused, external.live()]).toEqual([[], 0]);
  });

  it('asks for an open outcome under its own key before the next variant begins', async () => {
    const external = service({ 1: busy, 2: hangsUp });
    const h = shipped(external);
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('succeeded');
    // Probed before everything that could still act is over, and afterwards.
    expect([...new Set(texts(external.calls))]).toEqual([
      'execute 1: first L',
      'probe 1: first L',
      'execute 2: first M',
    ]);
    expect([external.refused, external.live()]).toEqual([[], 1]);
  });

  it('does not begin the next variant where the lost attempt of the one before has acted (S6)', async () => {
    const external = service({ 1: busy, 2: hangsUp }, [2]);
    const h = shipped(external);
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps['sent']?.key]).toEqual(['succeeded', 1]);
    expect(texts(external.calls).at(-1)).toBe('probe 1: first L');
  });

  it('goes on to its next variant after a pause that came before it was begun', async () => {
    const external = service({ 1: busy, 2: busy });
    const h = shipped(external);
    const { id } = await h.begin();
    const isAtM = ({ steps }: { steps: Readonly<Record<string, Step>> }): boolean =>
      steps['sent']?.status === 'retrying' && steps['sent'].stage === 2;
    await h.run(id, { until: isAtM });
    await pause(h.scheduler, id, {});
    const { steps } = await h.run(id, { until: ({ execution }) => execution.status === 'paused' });
    expect(steps['sent']).toMatchObject({ status: 'retrying', stage: 2, key: 1, keyVariant: 0 });
    await resume(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(texts(external.calls).at(-1)).toBe('execute 2: first M');
  });
});

describe('the history', () => {
  it('says of every attempt its variant, agent, key and input, and so does why', async () => {
    const external = service({ 1: declined, 2: declined, 3: declined });
    const h = shipped(external);
    const { id } = await h.begin();
    await h.run(id, { until: ({ execution }) => execution.status === 'waiting' });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry-with-input', input: { size: 'S' } });
    const state = await h.run(id);
    const [sent] = executionView(state, shipping.plan, h.clock.now()).steps;
    expect(sent?.attempts).toMatchObject([
      { variant: 1, agent: 'first', idempotencyKey: external.keys[0], input: { size: 'L' } },
      { variant: 2, agent: 'first', idempotencyKey: external.keys[1], input: { size: 'M' } },
      { variant: 3, agent: 'second', idempotencyKey: external.keys[2], input: { size: 'M' } },
      {
        variant: 3,
        agent: 'second',
        idempotencyKey: external.keys[3],
        input: { size: 'S' },
        inputGiven: true,
      },
    ]);
    const ofSent = explain(shipping.plan, state, h.clock.now()).past.filter(({ step }) => step === 'sent');
    const text = ofSent.map(({ what }) => what).join('\n');
    expect(text).toContain('attempt 2 (variant 2, with other input)');
    expect(text).toContain("attempt 3 (variant 3, by agent 'second', with other input)");
    expect(text).toContain("attempt 4 (variant 3, by agent 'second', with an input that a person gave)");
    expect(text).not.toContain('size');
  });
});

describe('what a person gives', () => {
  const all = { 1: declined, 2: declined, 3: declined };
  const given = async (external: ReturnType<typeof service>, runLast?: () => Promise<object>) => {
    const h = shipped(external, runLast);
    const { id } = await h.begin();
    await h.run(id, { until: ({ execution }) => execution.status === 'waiting' });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry-with-input', input: { size: 'S' } });
    return { h, id };
  };

  it('has a key of its own, and is what is undone (S10)', async () => {
    const external = service(all);
    const { h, id } = await given(external, async () => {
      throw new PermanentError('no such address');
    });
    expect((await h.run(id)).execution.status).toBe('compensated');
    // A permanent failure skips the plain retries.
    expect(texts(external.calls)).toEqual([
      'execute 1: first L',
      'execute 2: first M',
      'execute 3: second M',
      'execute 4: second S',
      'undo 4: second S',
    ]);
    expect([external.refused, external.live()]).toEqual([[], 0]);
  });

  it('keeps its key when it is tried again as it is', async () => {
    const external = service({ ...all, 4: declined });
    const { h, id } = await given(external);
    await h.run(id, { until: ({ questions }) => questions?.[2] !== undefined });
    await resolveIncident(h.scheduler, id, { incident: 2, choice: 'retry' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(texts(external.calls).slice(-2)).toEqual(['execute 4: second S', 'execute 4: second S']);
  });
});

describe('the retry of an execution', () => {
  const short = workflow('short', { input, within: '1h' }, (w) => {
    w.step('sent', first, { size: 'L' } as never, { recovery: [withInput({ size: 'M' } as never)] });
  }) as Workflow;

  it('begins with the first variant under the next key: no key has two meanings', async () => {
    const external = service({ 1: declined, 2: declined });
    const h = harness(short, { first: external.first });
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('failed');
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(texts(external.calls)).toEqual(['execute 1: first L', 'execute 2: first M', 'execute 3: first L']);
    expect(external.refused).toEqual([]);
  });
});
