/** For tests of carrying on: a process with all agents of a chain of steps. */

import * as z from 'zod/mini';
import { handleAndCarryOn } from '../../lib/agent/carry-on.ts';
import type { HostedAgent, Neighbours } from '../../lib/agent/kept-message.ts';
import type { Worker } from '../../lib/agent/author-code.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Ref } from '../../lib/author/ref-types.ts';
import type { Agent, Implementation } from '../../lib/core/plan/agent.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { anAgent, type Harness, harness, settle } from '../engine/harness.ts';

export const NAMES = Array.from({ length: 20 }, (_, at) => `agent-${at}`);
export const agents = NAMES.map((name) => anAgent(name));
const customers = z.object({ customer: z.string() });
const byCustomer = (input: Ref<{ customer: string }>) => input.customer;
const chain = (steps: number, fairBy?: true) =>
  workflow('chain', { input: customers, within: '2h', ...(fairBy && { fairBy: byCustomer }) }, (w) => {
    let last = w.step('s0', agents[0]!, {});
    for (let at = 1; at < steps; at += 1) last = w.step(`s${at}`, agents[at]!, { before: last.output });
  });

interface Options {
  readonly steps?: number;
  readonly leftMs?: number;
  readonly here?: (agent: string) => boolean;
  /** The work of an agent's code. @default nothing, in no time */
  readonly execute?: (h: Harness, agent: string) => Promise<unknown>;
  /** Wraps the ports of the process. */
  readonly around?: (ports: Ports) => Ports;
  readonly of?: Neighbours['of'];
  /** Runs while a message is being delivered. */
  readonly meanwhile?: (h: Harness, message: Send['message']) => Promise<void>;
  readonly more?: (agent: string) => Partial<Worker>;
  readonly longestMs?: number;
  readonly fairBy?: true;
  /** When the process ends, in the time of its clock. */
  readonly deadline?: (endAt: number) => number;
}

/** Advances time whenever nothing else can continue, until the promise settles. */
export async function driven<Result>(h: Harness, work: Promise<Result>): Promise<Result> {
  const end = { isOver: false };
  void work.finally(() => (end.isOver = true)).catch(() => undefined);
  for (let laps = 0; laps < 200; laps += 1) {
    for (let turn = 0; turn < 5 && !end.isOver; turn += 1) await settle();
    const nextAt = h.clock.nextWakeAt();
    if (end.isOver) return await work;
    if (nextAt !== undefined) h.clock.advanceTo(nextAt);
  }
  throw new Error('it does not end');
}

/** A process that has all agents of the chain, and one message for the first. */
export async function processOf(options: Options = {}) {
  const {
    steps = 3,
    leftMs = 60_000,
    here = () => true,
    execute,
    around = (ports: Ports) => ports,
  } = options;
  const performed: string[] = [];
  const notes: string[] = [];
  const implementationOf = (name: string): Implementation<unknown, unknown> => ({
    execute: async () => {
      performed.push(name);
      return (await execute?.(h, name)) ?? {};
    },
  });
  const flow = chain(steps, options.fairBy);
  const h = harness(
    flow,
    Object.fromEntries(NAMES.map((name) => [name, implementationOf(name)])),
    1,
    (world) => ({
      ...world,
      log: { note: ({ what, step }) => void notes.push(`${what} ${step ?? ''}`) },
    }),
  );
  const ports = around({ ...h, log: { note: ({ what, step }) => void notes.push(`${what} ${step ?? ''}`) } });
  const hosted = (name: string): HostedAgent => {
    const agent = agents[NAMES.indexOf(name)] as Agent;
    return { ports, worker: { agent, implementation: implementationOf(name), ...options.more?.(name) } };
  };
  const neighbours: Neighbours = {
    has: here,
    of:
      options.of ??
      (async ({ agent, message }) => {
        await options.meanwhile?.(h, message);
        return hosted(agent);
      }),
    ...(options.longestMs === undefined ? {} : { longestMs: options.longestMs }),
  };
  const { id } = await h.begin({ customer: 'one' });
  const [first] = h.sent.splice(0) as [Send];
  const endAt = h.clock.now() + leftMs;
  const handle = (send = first) =>
    driven(
      h,
      handleAndCarryOn(
        hosted(send.agent),
        new Map(),
        send.message,
        () => options.deadline?.(endAt) ?? endAt,
        neighbours,
      ),
    );
  const sentTo = (): string[] => h.sent.map(({ agent }) => agent);
  return { ...h, id, first, handle, performed, notes, sentTo };
}

/** Makes an agent's work that takes this long. */
export const taking = (ms: number) => async (h: Harness) => {
  h.clock.advanceTo(h.clock.now() + ms);
  return {};
};
