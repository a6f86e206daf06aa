/**
 * Drives the real roles over the ports in memory: delivers what was sent, moves time to the next thing that happens.
 * Tests decide which messages get lost, which agent dies, when the supervisor looks.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { declareAgent, type Agent, type AgentOptions, type Implementation } from '../../lib/core/agent.ts';
import type { Send } from '../../lib/core/decide.ts';
import type { Json } from '../../lib/core/json.ts';
import type { Execution, Snapshot } from '../../lib/core/state.ts';
import type { Workflow } from '../../lib/core/workflow.ts';
import { handleMessage } from '../../lib/roles/agent.ts';
import { createScheduler, start, type Scheduler } from '../../lib/roles/scheduler.ts';
import { sweepOnce } from '../../lib/roles/supervisor.ts';
import { type MemoryWorld, memoryWorld } from '../../lib/testing/memory.ts';

export const PROCESS_MS = 60_000;
const anything = z.record(z.string(), z.any());

/** An agent that takes and gives any object. */
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
    pickup: '10s',
    ...options,
  }) as Agent<Record<string, unknown>, Record<string, unknown>>;

export const anyObject = anything;

type Implementations = Record<string, Implementation<unknown, unknown>>;

export interface Harness extends MemoryWorld {
  readonly scheduler: Scheduler;
  readonly implementations: Implementations;
  /** Takes the oldest message that is due out of the queue and handles it; its handling may still be under way. */
  readonly deliver: (send: Send) => Promise<'handled' | 'give-back'>;
  readonly begin: (input?: Json, key?: string) => Promise<Execution>;
  readonly state: (id: string) => Promise<Snapshot>;
  readonly sweep: () => Promise<void>;
  /** Delivers, moves time and (if asked) sweeps until the execution has ended and said so. */
  readonly run: (id: string, options?: RunOptions) => Promise<Snapshot>;
}

export interface RunOptions {
  /** @default true */
  readonly supervised?: boolean;
  /** Called for every message before it is delivered; false loses it. */
  readonly deliverable?: (send: Send) => boolean;
  readonly maxMs?: number;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function harness(workflow: Workflow, implementations: Implementations, seed = 1): Harness {
  const world = memoryWorld({ seed });
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  let next = 0;
  const scheduler = createScheduler(world, [workflow], { hash, newId: () => `e-${(next += 1)}` });
  const plans = new Map();
  const workers = new Map(workflow.agents.map((agent) => [agent.spec.name, agent]));
  const queuedAt = new WeakMap<Send, number>();

  const deliver = (send: Send): Promise<'handled' | 'give-back'> => {
    const agent = workers.get(send.agent);
    const implementation = implementations[send.agent];
    if (agent === undefined || implementation === undefined) throw new Error(`no agent ${send.agent}`);
    return handleMessage(
      world,
      plans,
      { agent, implementation },
      send.message,
      world.clock.now() + PROCESS_MS,
    );
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
      await sweepOnce(world, plans, world.clock.now());
    },
    run: async (id, options = {}) => {
      const { supervised = true, deliverable = () => true, maxMs = 3_600_000 } = options;
      const endAt = world.clock.now() + maxMs;
      for (;;) {
        for (const send of world.sent) if (!queuedAt.has(send)) queuedAt.set(send, world.clock.now());
        const due = world.sent.filter(
          (send) => (queuedAt.get(send) ?? 0) + send.delayMs <= world.clock.now(),
        );
        for (const send of due) {
          world.sent.splice(world.sent.indexOf(send), 1);
          if (deliverable(send)) void deliver(send).catch(() => undefined);
        }
        await settle();
        if (world.sent.some((send) => !queuedAt.has(send))) continue;
        const state = await self.state(id);
        if (state.execution.endedAt !== undefined && state.execution.watchAt === undefined) return state;
        const times = [
          world.clock.nextWakeAt(),
          ...world.sent.map((send) => (queuedAt.get(send) ?? 0) + send.delayMs),
          ...(supervised ? [state.execution.watchAt] : []),
        ].filter((at): at is number => at !== undefined);
        const nextAt = Math.min(...times);
        if (!Number.isFinite(nextAt) || nextAt > endAt) {
          throw new Error(`stuck: ${JSON.stringify(state, null, 1)}`);
        }
        world.clock.advanceTo(nextAt);
        await settle();
        if (supervised && (state.execution.watchAt ?? Number.POSITIVE_INFINITY) <= world.clock.now())
          await self.sweep();
      }
    },
  };
  return self;
}
