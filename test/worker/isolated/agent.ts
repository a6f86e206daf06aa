/** An agent for its own process; its input says what it reports and answers, and how it dies. */

import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import type { AttemptContext, Implementation } from '../../../lib/core/plan/agent.ts';
import { PermanentError } from '../../../lib/core/values/errors.ts';
import { performCalls } from '../../../lib/worker/isolated-calls.ts';

interface Given {
  readonly way: string;
  readonly at?: unknown;
}

class CardDeclined extends PermanentError {
  override readonly name = 'CardDeclined';
}

const UNREADABLE: PropertyDescriptor = {
  get: () => {
    throw new Error('no field');
  },
};

let later: (() => void) | undefined;
const ENDLESS = 1e9;

/** Faults that must stay with their call. */
async function odd(way: string, ctx: AttemptContext): Promise<unknown> {
  if (way === 'unreadable') throw Object.defineProperty(new CardDeclined('declined'), 'message', UNREADABLE);
  if (way === 'unreadable, unawaited') {
    void Promise.reject(Object.defineProperties(new Error('x'), { message: UNREADABLE, name: UNREADABLE }));
    await setTimeout(60_000, undefined, { signal: ctx.signal });
  }
  if (way === 'disconnects') process.disconnect?.();
  if (way === 'listens to nothing') process.removeAllListeners();
  if (way === 'too long') {
    const long = 'x'.repeat(300_000);
    ctx.log.info(long, { text: long });
    ctx.log.info('an error', Object.assign(new Error('x'), { name: long, code: long, retryAfter: long }));
    ctx.progress(long);
    return { texts: Array.from({ length: 40 }, (_, at) => String(at % 10).repeat(1_000_000)) };
  }
  if (way === 'logs without end') {
    for (let at = 0; at < 300_000; at += 1) ctx.log.info(`line ${at}`);
    return {};
  }
  if (way === 'logs long lines')
    for (let at = 0; at < 100; at += 1) ctx.log.info('long', { text: 'x'.repeat(200_000) });
  if (way === 'too many') return { items: Array.from({ length: 160_000 }, (_, at) => ({ at })) };
  if (way === 'too many, of no JSON')
    return { keys: Array.from({ length: 51_000 }, (_, at) => new Map([[at, { [`k${at}`]: new Date() }]])) };
  if (way === 'is its own cause') {
    const error = new Error('round');
    error.cause = error;
    ctx.log.info('a circle', { error });
    let deep: object = {};
    for (let level = 0; level < 4_000; level += 1) {
      deep = { deep };
      if (level % 50 === 0 && level > 32) ctx.log.info('deep', deep as never);
    }
    return { error };
  }
  return undefined;
}

const own: Implementation<unknown, unknown> = {
  execute: async (ctx, input) => {
    const { way, at } = input as Given;
    later?.();
    const answer = await odd(way, ctx);
    if (answer !== undefined) return answer;
    if (way === 'declines') throw new CardDeclined('declined');
    if (way === 'dies') process.exit(7);
    if (way === 'loops later') {
      ctx.progress(1);
      await setTimeout(1);
      for (;;);
    }
    if (way === 'awaits time') {
      ctx.progress(1);
      for (let turn = 0; turn < 500 && ctx.timeLeftMs() === 0; turn += 1) await setTimeout(20);
      return { leftMs: ctx.timeLeftMs() };
    }
    if (way === 'watches its time') {
      for (let turn = 0, last = ctx.timeLeftMs(); turn < 500; turn += 1) {
        await setTimeout(20);
        const leftMs = ctx.timeLeftMs();
        if (leftMs > last) return { isGivenBack: true };
        last = leftMs;
      }
      return { isGivenBack: false };
    }
    if (way === 'bug') return { length: (undefined as never as { length: number }).length };
    if (way === 'fetch fails')
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      });
    if (way === 'function') return { way, of: () => 1 };
    if (way === 'promise') return { of: Promise.resolve(1) };
    // Their ends, and that of this process, are the end of its output.
    const programs = way === 'goes on' ? [false, true] : [];
    for (const detached of programs)
      spawn('sleep', ['3600'], { detached, stdio: ['ignore', 'inherit', 'inherit'] });
    for (let share = 0; share < (way === 'goes on' ? ENDLESS : 0); share += 1) {
      ctx.progress(share);
      await setTimeout(1);
    }
    if (way === 'big') return { text: 'x'.repeat(200_000) };
    if (way === 'says what is no word')
      for (const one of [null, [null], [{ kind: 'ready' }]]) process.send?.(one as never);
    if (way === 'logs') {
      ctx.log.info('a line', { of: () => 1 });
      ctx.log.info(undefined as never, Object.defineProperty(new Error('x'), 'message', UNREADABLE));
    }
    if (way === 'reports') for (let share = 0; share < 100_000; share += 1) ctx.progress(share);
    later = way === 'reports later' ? () => ctx.progress('of another') : undefined;
    return { way, isDate: at instanceof Date };
  },
  probe: async (_, input) =>
    (input as Given).way === 'found'
      ? { verdict: 'done', output: { of: Promise.resolve(1) } }
      : ({ verdict: 'cannot-tell', reason: Promise.resolve(1) } as never),
  undo: async () => ({ response: () => 1 }),
};
performCalls(
  new Map([
    ['alone', own],
    ['other', own],
  ]),
);
