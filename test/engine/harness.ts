/**
 * Drives the real roles over ports in memory: delivers messages, and advances time to the next event. Tests
 * decide which messages are lost, which agent dies, and when the supervisor sweeps.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Worker } from '../../lib/agent/author-code.ts';
import { defined } from '../../lib/core/values/defined.ts';
import { ProcessRate } from '../../lib/agent/process-rate.ts';
import { ProcessBreaker } from '../../lib/agent/breaker.ts';
import { handleMessage } from '../../lib/agent/message.ts';
import {
  type Agent,
  type AgentOptions,
  declareAgent,
  type Implementation,
} from '../../lib/core/plan/agent.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { actOnPage } from '../../lib/scheduler/bulk-page.ts';
import { bulkAgent, deferredByPause, type PageInput } from '../../lib/scheduler/bulk-workflow.ts';
import { createScheduler, type Scheduler, start } from '../../lib/scheduler/start.ts';
import { sweepOnce } from '../../lib/supervisor/sweep.ts';
import { type MemoryWorld, memoryWorld } from '../../lib/memory/world.ts';

export const PROCESS_MS = 60_000;
const anything = z.record(z.string(), z.any());

/** An agent that accepts and returns any object. */
export const anAgent = (
  name: string,
  options: Partial<AgentOptions<Record<string, unknown>, Record<string, unknown>>> = {},
): Agent<Record<string, unknown>, Record<string, unknown>> =>
  declareAgent(name, {
    input: anything,
    output: anything,
    effect: 'idempotent',
    timeout: '30s',
    lease: '10s',
    claimWithin: '10s',
    ...options,
  }) as Agent<Record<string, unknown>, Record<string, unknown>>;

export const anyObject = anything;

const hasEnded = ({ execution }: Snapshot): boolean =>
  execution.endedAt !== undefined && execution.wakeAt === undefined;

type Implementations = Record<string, Implementation<unknown, unknown>>;

export interface Harness extends MemoryWorld {
  readonly scheduler: Scheduler;
  readonly implementations: Implementations;
  /** Handles a message taken from the queue. */
  readonly deliver: (send: Send, ports?: Ports) => Promise<'handled' | 'give-back'>;
  readonly begin: (input?: Json, key?: string) => Promise<Execution>;
  readonly state: (id: string) => Promise<Snapshot>;
  readonly sweep: () => Promise<void>;
  /** Delivers, advances time and sweeps (unless unsupervised) until the execution's end is announced. */
  readonly run: (id: string, options?: RunOptions) => Promise<Snapshot>;
}

export interface RunOptions {
  /** @default true */
  readonly supervised?: boolean;
  /** Called for every message before it is delivered; false loses the message. */
  readonly deliverable?: (send: Send) => boolean;
  /** The process that gets a message. */
  readonly portsOf?: (send: Send) => Ports | undefined;
  /** Stops earlier, once this is true. */
  readonly until?: (state: Snapshot) => boolean;
  readonly maxMs?: number;
}

/** The queue's visibility timeout; after it, a message that was given back or failed is redelivered. */
const VISIBILITY_MS = 30_000;
const MAX_RECEIVES = 5;

/** Runs all work that does not wait for time to pass. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Delivers all messages without advancing time. */
export async function drain(h: Harness): Promise<void> {
  while (h.sent.length > 0) for (const send of h.sent.splice(0)) await h.deliver(send);
  await settle();
}

/** The earliest wake time of all executions, because children have their own. */
const earliestWake = async ({ store }: MemoryWorld): Promise<number | undefined> =>
  (await store.due(0, Number.MAX_SAFE_INTEGER)).items[0]?.wakeAt;

type Settings = Pick<Worker, 'recordsARead' | 'singleFlight' | 'listener' | 'underWay'> & {
  readonly processMs?: number;
  /** The rate of each agent, in attempts a second. */
  readonly rates?: Readonly<Record<string, number>>;
};

/**
 * @param wrap changes the ports of the roles, but not those of the harness
 * @param settings of every worker, and how long its process lives
 */
export function harness(
  workflow: Workflow,
  implementations: Implementations,
  seed = 1,
  wrap: (world: MemoryWorld) => Ports = (world) => world,
  { processMs = PROCESS_MS, rates = {}, ...settings }: Settings = {},
): Harness {
  const world = memoryWorld({ seed });
  const seen = wrap(world);
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  let next = 0;
  const scheduler = createScheduler(seen, [workflow], { hash, newId: () => `e-${(next += 1)}` });
  const plans = new Map();
  const workers = new Map([bulkAgent as Agent, ...workflow.agents].map((agent) => [agent.spec.name, agent]));
  // The agents that every deployment has.
  const builtIn: Implementations = {
    [bulkAgent.spec.name]: { execute: (ctx, input) => actOnPage(scheduler, input as PageInput, ctx) },
  };
  const queuedAt = new WeakMap<Send, number>();
  // One warm process per agent; it uses the breaker if the ports have breakers.
  const breakers = new Map([...workers.keys()].map((name) => [name, new ProcessBreaker(name)]));

  const paces = new Map(Object.entries(rates).map(([name, each]) => [name, new ProcessRate(name, each)]));
  const receives = new WeakMap<Send['message'], number>();

  const deliver = (send: Send, ports: Ports = seen): Promise<'handled' | 'give-back'> => {
    const agent = workers.get(send.agent);
    const implementation = implementations[send.agent] ?? builtIn[send.agent];
    if (agent === undefined || implementation === undefined) throw new Error(`no agent ${send.agent}`);
    const endAt = world.clock.now() + processMs;
    return handleMessage(
      ports,
      plans,
      {
        ...settings,
        agent,
        implementation,
        breaker: breakers.get(send.agent) as ProcessBreaker,
        ...defined({ rate: paces.get(send.agent) }),
        ...(agent === bulkAgent ? { deferredBy: deferredByPause } : {}),
      },
      send.message,
      () => endAt,
    );
  };

  const deliverAsQueue = async (send: Send, ports: Ports | undefined): Promise<void> => {
    const result = await deliver(send, ports).catch(() => 'give-back');
    const count = (receives.get(send.message) ?? 0) + 1;
    receives.set(send.message, count);
    if (result === 'give-back' && count < MAX_RECEIVES) world.sent.push({ ...send, delayMs: VISIBILITY_MS });
  };

  const self: Harness = {
    ...world,
    scheduler,
    implementations,
    deliver,
    begin: (input = {}, key) =>
      start(scheduler, {
        workflow: workflow.name,
        input,
        ...(key === undefined ? {} : { idempotencyKey: key }),
      }),
    state: async (id) => {
      const state = await world.store.read(id);
      if (state === undefined) throw new Error(`no execution ${id}`);
      return state;
    },
    sweep: async () => {
      await sweepOnce(seen, plans, world.clock.now());
    },
    run: async (id, options = {}) => {
      const { supervised = true, deliverable = () => true, maxMs = 3_600_000, until = hasEnded } = options;
      const endAt = world.clock.now() + maxMs;
      let sweeping = false;
      for (;;) {
        for (const send of world.sent) if (!queuedAt.has(send)) queuedAt.set(send, world.clock.now());
        const due = world.sent.filter(
          (send) => (queuedAt.get(send) ?? 0) + send.delayMs <= world.clock.now(),
        );
        for (const send of due) {
          world.sent.splice(world.sent.indexOf(send), 1);
          if (deliverable(send)) void deliverAsQueue(send, options.portsOf?.(send));
        }
        await settle();
        if (world.sent.some((send) => !queuedAt.has(send))) continue;
        const state = await self.state(id);
        if (until(state)) return state;
        const times = [
          world.clock.nextWakeAt(),
          ...world.sent.map((send) => (queuedAt.get(send) ?? 0) + send.delayMs),
          ...(supervised && !sweeping ? [await earliestWake(world)] : []),
        ].filter((at): at is number => at !== undefined);
        const nextAt = Math.min(...times);
        if (!Number.isFinite(nextAt) || nextAt > endAt) {
          throw new Error(`stuck: ${JSON.stringify(state, null, 1)}`);
        }
        world.clock.advanceTo(nextAt);
        await settle();
        const wakeAt = (await earliestWake(world)) ?? Number.POSITIVE_INFINITY;
        if (!supervised || sweeping || wakeAt > world.clock.now()) continue;
        sweeping = true;
        // Not awaited: it may wait for time, which moves only here.
        void self.sweep().finally(() => {
          sweeping = false;
        });
        await settle();
      }
    },
  };
  return self;
}
