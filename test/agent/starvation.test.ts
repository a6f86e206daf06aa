/**
 * On a full host, executions that are carried on delay others only for a limited time. The rule is the real
 * one; queue, places and time are simulated.
 */

import { KeptMessage, type Neighbours } from '../../lib/agent/kept-message.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Ports } from '../../lib/core/ports.ts';

const PLACES = 10;
const CHAINS = 10;
const LENGTH = 100;
const SINGLE = 200;

interface Waiting {
  readonly execution: string;
  /** How many steps are left, including this one. */
  readonly left: number;
}

const sendOf = (execution: string, step: string): Send =>
  ({
    agent: 'any',
    delayMs: 0,
    message: { execution, step, mode: 'execute', attempt: 1 },
  }) as unknown as Send;

/** By how many ms, at p99, the chains delay the ends of executions with one step. */
async function lateness(stepMs: number, carriesOn: boolean): Promise<number> {
  const chains = Array.from({ length: CHAINS }, (_, at) => ({ execution: `chain-${at}`, left: LENGTH }));
  const single = Array.from({ length: SINGLE }, (_, at) => ({ execution: `single-${at}`, left: 1 }));
  const queue: Waiting[] = [...chains, ...single];
  const freeAt = Array.from({ length: PLACES }, () => 0);
  const pending: { readonly at: number; readonly next: Waiting }[] = [];
  const ended: number[] = [];
  const neighbours: Neighbours = { has: () => carriesOn, of: () => Promise.reject(new Error('unused')) };
  while (queue.length > 0 || pending.length > 0) {
    const place = freeAt.indexOf(Math.min(...freeAt));
    const now = Math.max(freeAt[place] ?? 0, queue.length > 0 ? 0 : (pending[0]?.at ?? 0));
    while ((pending[0]?.at ?? Number.POSITIVE_INFINITY) <= now) queue.push(pending.shift()!.next);
    const taken = queue.shift()!;
    let { left } = taken;
    let at = now;
    const kept = new KeptMessage(neighbours, () => -at);
    for (;;) {
      at += stepMs;
      left -= 1;
      if (left === 0) break;
      const ports = { clock: { now: () => at }, queue: { send: async () => undefined } } as unknown as Ports;
      await kept.behind(ports, taken.execution).queue.send([sendOf(taken.execution, `s${left}`)]);
      if (kept.take() === undefined) break;
    }
    freeAt[place] = at;
    if (left > 0) pending.push({ at, next: { execution: taken.execution, left } });
    pending.sort((one, other) => one.at - other.at);
    if (taken.execution.startsWith('single')) ended.push(at);
  }
  ended.sort((one, other) => one - other);
  return ended[Math.ceil(ended.length * 0.99) - 1] ?? 0;
}

it.each([20, 100, 1_000, 5_000])(
  'ten chains of 100 keep single steps of %i ms from their places at most as long again',
  async (stepMs) => {
    const [alone, beside] = [await lateness(stepMs, false), await lateness(stepMs, true)];
    expect(beside).toBeGreaterThan(alone);
    expect(beside).toBeLessThanOrEqual(2 * alone);
  },
);
