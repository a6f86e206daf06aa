/** S6 work counts as failed only if that is known; S17 only the name and message of an error are stored. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { runInNewContext } from 'node:vm';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';
import { lackOf, perform } from '../../lib/agent/author-code.ts';
import { type AgentHandler, agentHandler, handlerOfFile } from '../../lib/agent/handler.ts';
import { declareAgent, type Implementation } from '../../lib/core/plan/agent.ts';
import * as errors from '../../lib/core/values/errors.ts';
import type { Mode } from '../../lib/core/records/state.ts';
import { testWorkflow } from 'steadfast/testing';
import { MAX_RECORD_VALUE_BYTES } from '../../lib/core/records/large-values.ts';
import { bookTrip, goodAgents, insteadOf } from '../kit/trip.ts';
import { ctx } from './attempt-context.ts';

const { PermanentError, TransientError } = errors;
const agent = declareAgent('worker', {
  input: z.object({ n: z.number() }),
  output: z.object({ text: z.string() }),
  effect: 'probed',
} as never);
const fails = (error: unknown) => async (): Promise<never> => {
  throw error;
};
const run = (mode: Mode, part: Partial<Implementation<unknown, unknown>>, input: unknown = { n: 1 }) =>
  perform(
    { agent, implementation: { execute: async () => ({ text: 'ok' }), ...part } },
    { mode, ctx, input: input as never, output: undefined },
  );
class CardDeclined extends PermanentError {
  override readonly name = 'CardDeclined';
}
class Busy extends TransientError {
  constructor(...[message, options]: ConstructorParameters<typeof TransientError>) {
    super(message, options);
    this.name = 'Busy';
  }
}
const gives = (value: unknown) => ({ execute: async () => value });

it('an output is never refused for a whole number beyond 2^53: what was lost was lost before', async () => {
  const counter = declareAgent('counter', { input: z.any(), output: z.any(), effect: 'probed' } as never);
  const execute = gives({ n: 2 ** 60 });
  const report = await perform(
    { agent: counter, implementation: execute },
    { mode: 'execute', ctx, input: {}, output: undefined },
  );
  expect(report).toMatchObject({ kind: 'done', output: { n: 2 ** 60 } });
});

it('nobody can be asked about an unsafe agent, so it has no probe and needs none', () => {
  const unsafe = declareAgent('unsafe', { input: z.any(), output: z.any(), effect: 'unsafe' } as never);
  expect(lackOf(unsafe, { execute: async () => ({}), undo: async () => ({}) })).toBeUndefined();
  expect(lackOf(unsafe, { execute: async () => ({}) })).toMatchObject({ code: 'no-undo' });
  // The author relies on a probe, which is never made for an `unsafe` agent.
  const probed = {
    execute: async () => ({}),
    undo: async () => ({}),
    probe: async () => ({ verdict: 'not-done' }) as never,
  };
  expect(lackOf(unsafe, probed)).toEqual({
    code: 'useless-probe',
    message: "agent 'unsafe' is declared without probe, and its handler has one; nothing was executed",
  });
});

it('nothing is executed that its agent could not be asked about or take back', async () => {
  const answer = async () => ({ text: 'ok' });
  const steps = { execute: answer, probe: fails(new Error()), undo: answer };
  expect(lackOf(agent, steps)).toBeUndefined();
  const { probe: _, ...noProbe } = steps;
  expect(lackOf(agent, noProbe)).toMatchObject({
    code: 'no-probe',
    message: "agent 'worker' is declared with probe, and its handler has none; nothing was executed",
  });
  const { undo: __, ...noUndo } = steps;
  const { worker } = agentHandler(agent, noUndo);
  const report = await perform(worker, { mode: 'execute', ctx, input: { n: 1 }, output: undefined });
  expect(report).toMatchObject({ kind: 'failed', permanent: true, failure: { code: 'no-undo' } });
  expect(report).not.toHaveProperty('acted');
});

it('a file that exports another agent’s handler does nothing, and every execution says so', async () => {
  const { world, agents } = goodAgents();
  const copied = handlerOfFile('book-hotel', agents[0] as AgentHandler);
  const trial = testWorkflow(bookTrip, { agents: insteadOf(agents, copied) });
  const copy = await trial.start({ trip: 'to Ghent' });
  const { status, steps } = await copy.waitForEnd();
  expect([status, steps['hotel']?.status]).toEqual(['compensated', 'failed']);
  expect(JSON.stringify(await copy.why())).toContain(
    "wrong-handler: the file of agent 'book-hotel' exports the handler of agent 'book-flight'; nothing was done",
  );
  expect(world.effects().filter(({ undone }) => !undone)).toEqual([]);
  expect(handlerOfFile('book-flight', agents[0] as AgentHandler)).toBe(agents[0]);
});

describe('an execute', () => {
  const throws = (error: unknown) => ({ execute: fails(error) });
  const coded = (message: string, code: string) => throws(Object.assign(new Error(message), { code }));
  const unknown = (code: string, message: string) => ({ kind: 'unknown', failure: { code, message } });
  const failed = (more: object) => ({ kind: 'failed', ...more });
  const wrong = (code: string) => ({ kind: 'wrong-answer', failure: { code } });
  const [bad, large] = [wrong('bad-output'), wrong('output-too-large')];
  it.each<[string, Partial<Implementation<unknown, unknown>>, object]>([
    ['that returns is done', gives({ text: 'x' }), { kind: 'done', output: { text: 'x' } }],
    [
      'that returns half of a character is done, with a sign in its place',
      gives({ text: 'x\ud83d' }),
      { kind: 'done', output: { text: 'x\ufffd' } },
    ],
    [
      'that throws half of a character keeps the rest',
      coded('\udc00 up', 'E\ud800'),
      unknown('E\ufffd', '\ufffd up'),
    ],
    ['that throws any error is unknown', throws(new Error('hang up')), unknown('Error', 'hang up')],
    ['that throws what is no error is unknown', throws('text'), unknown('Error', 'text')],
    ['that throws nothing is unknown', throws(undefined), { kind: 'unknown' }],
    [
      'that throws a coded error is unknown, with its code',
      coded('x', 'ECONNRESET'),
      unknown('ECONNRESET', 'x'),
    ],
    [
      'that throws TransientError has failed for now',
      throws(new TransientError('503')),
      failed({ permanent: false }),
    ],
    [
      'that throws a wish has it kept',
      throws(new TransientError('429', { retryAfter: '5ms' })),
      failed({ retryAfterMs: 5 }),
    ],
    [
      'that throws PermanentError has failed for good',
      throws(new PermanentError('no')),
      failed({ permanent: true }),
    ],
    [
      "that throws another library's PermanentError is unknown",
      throws(Object.assign(new Error('no'), { name: 'PermanentError' })),
      unknown('PermanentError', 'no'),
    ],
    [
      'that throws a PermanentError of a name of its own has failed for good',
      throws(new CardDeclined('declined')),
      failed({ permanent: true, failure: { code: 'CardDeclined', message: 'declined' } }),
    ],
    [
      'that throws a TransientError of a name of its own has its wish kept',
      throws(new Busy('429', { retryAfter: 0.005 })),
      failed({
        permanent: false,
        retryAfterMs: 5,
        failure: { code: 'Busy', message: '429 (its service asks to wait 5 ms)' },
      }),
    ],
    [
      'whose output another realm has made is done',
      gives(runInNewContext('({ text: "x" })')),
      { kind: 'done', output: { text: 'x' } },
    ],
    [
      'whose output does not fit has acted, and what it answered is kept',
      gives({ text: 5 }),
      { ...bad, answer: '{"text":5}' },
    ],
    [
      'that returns nothing where something is wanted has acted',
      gives(undefined),
      { ...bad, answer: 'undefined' },
    ],
    ['with too large an output has acted', gives({ text: 'x'.repeat(MAX_RECORD_VALUE_BYTES) }), large],
    [
      'with too many bytes in few characters has acted',
      gives({ text: '€'.repeat(MAX_RECORD_VALUE_BYTES / 2) }),
      large,
    ],
  ])('%s', async (_, part, report) => {
    expect(await run('execute', part)).toMatchObject({ codeReturned: true, ...report });
  });

  it.each([Number.NaN, -1, 0, Number.POSITIVE_INFINITY, '5'])('ignores a wish of %p', async (retryAfter) => {
    const error = new TransientError('429', { retryAfter });
    expect(await run('execute', { execute: fails(error) })).not.toHaveProperty('retryAfterMs');
  });

  it('is not called with an input that the agent does not accept', async () => {
    let calls = 0;
    const execute = async (): Promise<void> => {
      calls += 1;
    };
    const report = await run('execute', { execute }, { n: 'one' });
    expect(report).toMatchObject({ kind: 'failed', permanent: true, failure: { code: 'input-refused' } });
    expect(report).not.toHaveProperty('acted');
    expect(calls).toBe(0);
  });
});

it('an error of another copy of the package says the same of the work', async () => {
  const copy = '../../lib/core/values/errors.ts?copy';
  const other = (await import(copy)) as typeof errors;
  expect(other.PermanentError).not.toBe(PermanentError);
  const of = async (error: unknown) => await run('execute', { execute: fails(error) });
  expect(await of(new other.PermanentError('no'))).toMatchObject({ kind: 'failed', permanent: true });
  const wish = new other.TransientError('503', { retryAfter: '5ms' });
  expect(await of(wish)).toMatchObject({ kind: 'failed', permanent: false, retryAfterMs: 5 });
  expect(await of(new other.StillActingError('x', 'y'))).toMatchObject({ codeReturned: false });
  const refused = other.refuse('code', 'text');
  expect([errors.isSteadfastError(refused), errors.sayable(refused)]).toEqual([true, 'code: text']);
});

it('an error of another realm is named in a log; a value that is not an error is not', () => {
  const foreign: unknown = runInNewContext('new TypeError("a payload")');
  expect(foreign).not.toBeInstanceOf(Error);
  expect([foreign, new Error('x'), { name: 'x' }, 'text'].map(errors.errorName)).toEqual([
    'TypeError',
    'Error',
    'error',
    'error',
  ]);
});

describe('a probe', () => {
  const cannotTell = { kind: 'found', verdict: 'cannot-tell' };
  it.each<[string, Partial<Implementation<unknown, unknown>>, object]>([
    ['that is not there cannot tell', {}, { ...cannotTell, failure: { code: 'no-probe' } }],
    ['that throws cannot tell', { probe: fails(new Error('x')) }, cannotTell],
    ['that throws PermanentError cannot tell either', { probe: fails(new PermanentError('x')) }, cannotTell],
    [
      'that found it done says so',
      { probe: async () => ({ verdict: 'done', output: { text: 'x' } }) },
      { kind: 'found', verdict: 'done', output: { text: 'x' } },
    ],
    [
      'whose output does not fit found it done all the same',
      { probe: async () => ({ verdict: 'done', output: 5 }) },
      { kind: 'wrong-answer', failure: { code: 'bad-output' }, answer: '5' },
    ],
    [
      'that cannot tell says why',
      { probe: async () => ({ verdict: 'cannot-tell', reason: 'status 501' }) },
      { ...cannotTell, failure: { code: 'cannot-tell', message: 'status 501' } },
    ],
    [
      'whose reason is no text cannot tell all the same',
      { probe: async () => ({ verdict: 'cannot-tell', reason: { status: 501 } }) as never },
      { ...cannotTell, failure: { code: 'cannot-tell' } },
    ],
    [
      'that answers no verdict cannot tell',
      { probe: async () => ({ verdict: 'notDone', output: 'a secret' }) as never },
      {
        ...cannotTell,
        failure: { code: 'cannot-tell', message: expect.stringMatching(/^its answer is no/) },
      },
    ],
    [
      'that found nothing says so',
      { probe: async () => ({ verdict: 'not-done' }) },
      { kind: 'found', verdict: 'not-done' },
    ],
    [
      'that found it running says so',
      { probe: async () => ({ verdict: 'running' }) },
      { kind: 'found', verdict: 'running' },
    ],
  ])('%s', async (_, part, report) => {
    expect(await run('probe', part)).toMatchObject(report);
  });
});

describe('an undo', () => {
  it.each<[string, Partial<Implementation<unknown, unknown>>, object]>([
    ['that returns is undone', { undo: async () => 'anything' }, { kind: 'compensated' }],
    [
      'that is not there has failed for good',
      {},
      { kind: 'failed', permanent: true, failure: { code: 'no-undo' } },
    ],
    ['that throws is unknown', { undo: fails(new Error('x')) }, { kind: 'unknown' }],
    [
      'that throws TransientError may be repeated',
      { undo: fails(new TransientError('x')) },
      { kind: 'failed', permanent: false },
    ],
  ])('%s', async (_, part, report) => {
    expect(await run('undo', part)).toMatchObject(report);
  });
});

describe('what is kept of an error (S17)', () => {
  const modes = [
    ['execute', 'unknown'],
    ['probe', 'found'],
    ['undo', 'unknown'],
  ] as const;

  it.each(modes)('of a %s names what caused it', async (mode, kind) => {
    const cause = Object.assign(new Error('other side closed'), { code: 'ECONNRESET' });
    const error = new TypeError('fetch failed', { cause });
    const failure = { code: 'TypeError', message: 'fetch failed: ECONNRESET other side closed' };
    expect(await run(mode, { [mode]: fails(error) })).toMatchObject({ kind, failure });
  });

  it.each([
    [new TransientError('503', { cause: new Error('no route') }), '503: no route'],
    [new PermanentError('declined', { cause: new Error('stolen') }), 'declined: stolen'],
  ])('of %p is what the author said and what caused it', async (error, message) => {
    expect(await run('execute', { execute: fails(error) })).toMatchObject({ failure: { message } });
  });

  it('names a request whose connection was closed', async () => {
    const server = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const report = await run('execute', { execute: () => fetch(`http://127.0.0.1:${port}`) });
    server.close();
    expect(report).toMatchObject({ kind: 'unknown', failure: { code: 'TypeError' } });
    const { failure } = report as { failure: { message: string } };
    expect(failure.message).toMatch(/^fetch failed: .*(ECONNRESET|other side closed)/);
  });
});
