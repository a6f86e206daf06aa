/** A bug in an agent's code is not a failure of its service, and leaves its breaker unchanged (S6, L4). */

import { runInNewContext, runInThisContext } from 'node:vm';
import { perform } from '../../lib/agent/author-code.ts';
import { declareAgent } from '../../lib/core/plan/agent.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Mode } from '../../lib/core/records/state.ts';
import { newBreaker } from '../../lib/core/step/breaker.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';
import { ctx } from './attempt-context.ts';

const T0 = 1_700_000_000_000;
const worker = declareAgent('worker', { input: anyObject, output: anyObject, effect: 'probed' } as never);
const fails = (error: unknown) => async (): Promise<never> => {
  throw error;
};

describe('a bug of the code differs from a failure of its service', () => {
  const failureOf = async (execute: () => unknown, mode: Mode = 'execute') => {
    const implementation = { execute: async () => ({}), [mode]: async () => execute() };
    const report = await perform(
      { agent: worker, implementation },
      { mode, ctx, input: {}, output: undefined },
    );
    return (report as { failure: { code: string; message: string } }).failure;
  };
  const nothing = undefined as never as Record<string, () => void>;
  const json = (text: string) => async () => new Response(text).json() as Promise<unknown>;

  it.each<[string, () => unknown]>([
    ['a name that nobody has declared', () => runInThisContext('notDeclared')],
    ['a property of nothing', () => nothing['x']],
    ['a call of no function', () => ({}) as never as Record<string, () => void>['x']],
    ['another realm', () => runInNewContext('null.x')],
    ['source that cannot be read', () => runInThisContext('(')],
    ['an argument that Node refuses', () => Buffer.from(undefined as never)],
  ])('%s', async (_, execute) => {
    const call = (): unknown => {
      const made = execute();
      return typeof made === 'function' ? made() : (made as never as { x: () => void }).x();
    };
    const failure = await failureOf(call);
    expect(failure).toMatchObject({ code: 'bug' });
    expect(failure.message).toMatch(/^a bug in agent 'worker': (Reference|Type|Syntax)Error: /);
    expect(await failureOf(call, 'probe')).toEqual(failure);
    expect(await failureOf(call, 'undo')).toEqual(failure);
  });

  it('names file and line, and nothing else of the stack', async () => {
    const { message } = await failureOf(() => nothing['x']);
    expect(message).toMatch(/ \(agent\/bug\.test\.ts:\d+\)$/);
  });

  it.each<[string, () => unknown]>([
    ['an answer that is no JSON', json('<html>')],
    ['an answer that is cut', json('{"a":')],
    ['an answer that is empty', json('')],
    ['a number that is none', () => BigInt('x')],
    ['a URL that an answer gave', () => new URL('x')],
    ['a service that does not answer', () => fetch('http://127.0.0.1:1/')],
    ["a library's error", () => fails(new (class SyntaxError extends Error {})('Expected "]"'))()],
    ['an error with a cause', fails(new TypeError('no answer', { cause: new Error('reset') }))],
    ['an error with fields', fails(Object.assign(new SyntaxError('unexpected <'), { position: 3 }))],
    ['any other error', fails(new Error('Cannot read properties of undefined'))],
    ['a number out of range', () => new Date(Number.NaN).toISOString()],
  ])('%s is of the service', async (_, execute) => {
    expect((await failureOf(execute)).code).not.toBe('bug');
  });

  it('a wish of the service to wait is said', async () => {
    const failure = await failureOf(fails(new TransientError('429', { retryAfter: '7s' })));
    expect(failure.message).toBe('429 (its service asks to wait 7 s)');
  });
});

const carrier = anAgent('carrier');
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', carrier, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '2s' })] });
  return {};
});

describe('the breaker of an agent whose code has a bug', () => {
  function open(failure: () => Error) {
    const breakers = memoryBreakers();
    const service = { dead: true, calls: 0 };
    const call = async (): Promise<Record<string, unknown>> => {
      service.calls += 1;
      if (service.dead) throw failure();
      return {};
    };
    const h: Harness = harness(ship, { carrier: { execute: call, undo: call } }, 1, (world) => ({
      ...world,
      breakers,
    }));
    return { h, service, breakers };
  }

  it('opens nothing and takes no trial, and its record says since when at little cost', async () => {
    const bug = (): Error => {
      try {
        return (undefined as never as { error: Error }).error;
      } catch (error) {
        return error as Error;
      }
    };
    const { h, service, breakers } = open(bug);
    const ids: string[] = [];
    for (let count = 0; count < 30; count += 1) ids.push((await h.begin()).id);
    await h.run(ids[0] as string, { until: () => service.calls >= 60 });
    const breaker = await breakers.read('carrier');
    expect(breaker).toMatchObject({ score: 0, bugs: { since: T0, failure: { code: 'bug' } } });
    expect(breaker?.failingSince).toBeUndefined();
    expect(breaker?.version).toBeLessThan(9);
    service.dead = false;
    // No work is deferred: the next execution runs at once.
    const begunAt = h.clock.now();
    expect((await h.run((await h.begin()).id)).execution).toMatchObject({
      status: 'succeeded',
      endedAt: begunAt,
    });
  });

  it('a half-open breaker is neither closed nor opened again by a bug: the next call is the trial', async () => {
    const { h, service, breakers } = open(() => Object.assign(new Error('x'), { code: 'bug' }));
    const half = { openedAt: T0, openUntil: T0, failedAt: T0, score: 8, cooldowns: 3, writeId: 'w-0' };
    await breakers.write({ ...newBreaker('carrier'), version: 1, ...half });
    await h.run((await h.begin()).id, { until: () => service.calls > 1 });
    expect(await breakers.read('carrier')).toMatchObject({ openedAt: T0, cooldowns: 3 });
    service.dead = false;
    expect((await h.run((await h.begin()).id)).execution.status).toBe('succeeded');
    expect((await breakers.read('carrier'))?.openedAt).toBeUndefined();
  });
});
