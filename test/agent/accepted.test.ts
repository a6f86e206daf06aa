/** How an agent reports work that its service has accepted, and what a probe may answer about it (S6). */

import * as z from 'zod/mini';
import { lackOf, perform } from '../../lib/agent/author-code.ts';
import { type AgentOptions, declareAgent, type Implementation } from '../../lib/core/plan/agent.ts';
import { accepted, running } from '../../lib/core/plan/answers.ts';
import { limitsOf } from '../../lib/core/plan/plan.ts';
import { ctx } from './attempt-context.ts';

const contract = { input: z.any(), output: z.any(), effect: 'probed' } as const;
const declared = (more: Partial<AgentOptions<unknown, unknown>> = {}) =>
  declareAgent('worker', { ...contract, acceptedWithin: '2h', ...more } as never);
const execute = (answer: unknown, agent = declared()) =>
  perform(
    { agent, implementation: { execute: async () => answer } },
    { mode: 'execute', ctx, input: {}, output: undefined },
  );
const probe = (answer: ReturnType<typeof running>) => {
  const implementation: Implementation<unknown, unknown> = {
    execute: async () => ({}),
    probe: async () => answer,
  };
  return perform({ agent: declared(), implementation }, { mode: 'probe', ctx, input: {}, output: undefined });
};

describe('an accepted answer', () => {
  it.each([
    ['its kind', 'kind', {}],
    ['its token', 'token', { kind: 'steadfast:accepted' }],
  ])('that throws where %s is read is an answer about work that is done', async (_, field, answer) => {
    const get = (): never => {
      throw new Error('not loaded');
    };
    const report = await execute(Object.defineProperty({ ...answer }, field, { enumerable: true, get }));
    expect(report).toMatchObject({
      kind: 'wrong-answer',
      failure: {
        code: 'bad-output',
        message: expect.stringContaining('it cannot be read: Error: not loaded'),
      },
    });
  });

  it.each([
    ['30s', 30_000],
    [12, 12_000],
  ])('has a token, and a time of %p', async (askAfter, askAfterMs) => {
    const report = await execute(accepted({ token: 'job-1', askAfter }));
    expect(report).toEqual({
      kind: 'accepted',
      codeReturned: true,
      token: 'job-1',
      withinMs: 7_200_000,
      askAfterMs,
    });
  });

  it('needs neither, and an invalid time is ignored', async () => {
    expect(await execute(accepted())).toEqual({ kind: 'accepted', codeReturned: true, withinMs: 7_200_000 });
    expect(await execute(accepted({ askAfter: 'soon' }))).not.toHaveProperty('askAfterMs');
  });

  it('is a wrong answer from an agent that declares no time for accepted work', async () => {
    const agent = declareAgent('worker', contract as never);
    expect(await execute(accepted({ token: 'job-1' }), agent)).toMatchObject({
      kind: 'wrong-answer',
      failure: { code: 'no-accepted-within', message: expect.stringContaining("without 'acceptedWithin'") },
    });
  });

  it.each([['x'.repeat(1_001)], [{ id: 1 }]])(
    'is a wrong answer with a token that is none',
    async (token) => {
      expect(await execute(accepted({ token: token as string }))).toMatchObject({
        kind: 'wrong-answer',
        failure: { code: 'bad-token' },
      });
    },
  );
});

it('a probe says how far accepted work is, and when to ask again', async () => {
  expect(await probe(running({ progress: 0.5, askAfter: '1m' }))).toEqual({
    kind: 'found',
    codeReturned: true,
    verdict: 'running',
    progress: 0.5,
    askAfterMs: 60_000,
  });
  expect(await probe(running({ progress: 'x'.repeat(300) }))).toMatchObject({
    progress: expect.stringMatching(/^.{200}$/),
  });
  expect(await probe(running())).toEqual({ kind: 'found', codeReturned: true, verdict: 'running' });
});

describe('an agent that accepts', () => {
  it.each(['idempotent', 'probed', 'none'] as const)('must have a probe: %s', (effect) => {
    const agent = declared({ effect });
    expect(lackOf(agent, { execute: async () => ({}) })).toMatchObject({ code: 'no-probe' });
  });

  it.each([
    [{ effect: 'unsafe' }, /must be probed/],
    [{ effect: 'idempotent', probe: 'none' }, /must be probed/],
    [{ acceptedWithin: '4s' }, /under 5s/],
  ] as const)('is refused where it cannot be asked: %j', (options, why) => {
    expect(() => declared(options)).toThrow(why);
  });

  it('has its time in the plan; the plan of any other agent is unchanged', () => {
    expect(limitsOf(declared().spec)).toMatchObject({ acceptsMs: 7_200_000 });
    expect(limitsOf(declareAgent('worker', contract as never).spec)).not.toHaveProperty('acceptsMs');
  });
});
