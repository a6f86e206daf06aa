/**
 * Runs many executions whose service is slow, or down for a while, with the production roles in virtual time:
 * warm agent processes with one message each, and a supervisor that sweeps every two seconds.
 */

import { declareAgent } from '../../../lib/core/plan/agent.ts';
import type { Send } from '../../../lib/core/decisions/decision.ts';
import { TransientError } from '../../../lib/core/values/errors.ts';
import type { Clock, Ports } from '../../../lib/core/ports.ts';
import { retry, workflow } from '../../../lib/author/builder/workflow.ts';
import { handleMessage } from '../../../lib/agent/message.ts';
import { ProcessBreaker } from '../../../lib/agent/breaker.ts';
import { Grace } from '../../../lib/supervisor/outage.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { SWEEP_EVERY_MS, sweepOnce } from '../../../lib/supervisor/sweep.ts';
import { memoryBreakers } from '../../../lib/memory/side-records.ts';
import { MemoryStore, seededSource } from '../../../lib/memory/world.ts';
import { EventQueue } from '../../../proof/simulation/events.ts';
import { passThrough } from '../../../proof/simulation/service.ts';

const START_AT = 1_700_000_000_000;
const LATENCY_MS = 200;
/** How long a refused connection takes. */
const REFUSAL_MS = 50;
const PROCESS_MS = 900_000;

const carrier = declareAgent('carrier', { input: passThrough, output: passThrough, effect: 'idempotent' });
const shipping = workflow('shipping', { input: passThrough, within: '4h' }, (w) => {
  w.step('ship', carrier, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '10s' })] });
  return {};
});

export interface CrowdOptions {
  readonly executions: number;
  /** All are started within this time. */
  readonly arrivalMs: number;
  readonly processes: number;
  readonly deadFromMs: number;
  readonly deadForMs: number;
}

export interface Crowd {
  readonly ends: Readonly<Record<string, number>>;
  readonly callsWhileDead: number;
  readonly trials: number;
  readonly deferred: number;
  /** The number of messages that the supervisor sent. */
  readonly dispatched: number;
  /** The number of the supervisor's evaluations. */
  readonly looks: number;
  /** The most messages that waited for a process at one time. */
  readonly longestQueue: number;
  /** The number of attempts that used up a try although the service was down. */
  readonly charged: number;
  readonly mostSendsInASweep: number;
  readonly mostCallsInASecond: number;
  /** The time from the service's return to the end of the last execution. */
  readonly drainedAfterMs: number;
  readonly writesWhileDead: number;
}

const codeReturned = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function runCrowd(options: CrowdOptions): Promise<Crowd> {
  const events = new EventQueue(START_AT);
  const backAt = START_AT + options.deadFromMs + options.deadForMs;
  const isDead = (): boolean => events.now >= START_AT + options.deadFromMs && events.now < backAt;
  const count = { calls: 0, trials: 0, deferred: 0, writes: 0, ended: 0, endedAt: 0 };
  const repeated = { all: 0, inThisSweep: 0, most: 0 };
  let longestQueue = 0;
  let looks = 0;
  const callsBySecond = new Map<number, number>();
  const store = new MemoryStore(4);
  const waiting: Send[] = [];
  const clock: Clock = {
    now: () => events.now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        signal?.addEventListener('abort', resolve);
        events.plan(ms, resolve);
      }),
  };
  const ports: Ports = {
    store: Object.assign(Object.create(store) as MemoryStore, {
      write: (write: Parameters<MemoryStore['write']>[0]) => {
        if (isDead()) count.writes += 1;
        return store.write(write);
      },
    }),
    queue: {
      send: async (sends) => {
        for (const send of sends) events.plan(send.delayMs + 20, () => arrive(send));
      },
      depths: async () => ({ carrier: { waiting: waiting.length, underWork: 0, delayed: 0 } }),
    },
    breakers: memoryBreakers(),
    announcer: {
      announce: async ({ about }) => {
        if (about !== 'end') return;
        count.ended += 1;
        count.endedAt = events.now;
      },
    },
    clock,
    random: seededSource(7),
    log: {
      note: ({ what }) => {
        if (what === 'breaker-trial') count.trials += 1;
        if (what === 'deferred') count.deferred += 1;
        if (what !== 'dispatched') return;
        repeated.inThisSweep += 1;
        repeated.all += 1;
      },
    },
  };
  const execute = async (): Promise<object> => {
    const second = Math.floor(events.now / 1_000);
    callsBySecond.set(second, (callsBySecond.get(second) ?? 0) + 1);
    if (!isDead()) {
      await clock.sleep(LATENCY_MS);
      if (!isDead()) return {};
    } else {
      count.calls += 1;
      await clock.sleep(REFUSAL_MS);
    }
    throw new TransientError('503');
  };
  const plans = new Map();
  const idle = Array.from({ length: options.processes }, () => ({
    agent: carrier,
    implementation: { execute, undo: async () => undefined },
    breaker: new ProcessBreaker('carrier'),
  }));
  const arrive = (send: Send): void => {
    waiting.push(send);
    longestQueue = Math.max(longestQueue, waiting.length);
    work();
  };
  const work = (): void => {
    const [send] = waiting;
    const worker = idle.shift();
    if (send === undefined || worker === undefined) {
      if (worker !== undefined) idle.unshift(worker);
      return;
    }
    waiting.shift();
    const endAt = events.now + PROCESS_MS;
    void handleMessage(ports, plans, worker, send.message, () => endAt).finally(() => {
      // The next message finds the processes in turn, as a busy queue would.
      idle.push(worker);
      work();
    });
  };
  const grace = new Grace();
  const sweep = (): void => {
    repeated.inThisSweep = 0;
    void sweepOnce(ports, plans, events.now, grace).then(({ due }) => {
      looks += due;
      repeated.most = Math.max(repeated.most, repeated.inThisSweep);
    });
    if (count.ended < options.executions) events.plan(SWEEP_EVERY_MS, sweep);
  };
  let next = 0;
  const scheduler = createScheduler(ports, [shipping], {
    hash: () => 'shipping',
    newId: () => `e-${(next += 1)}`,
  });
  for (let at = 0; at < options.executions; at += 1) {
    const afterMs = Math.floor((at * options.arrivalMs) / options.executions);
    events.plan(afterMs, () => void start(scheduler, { workflow: 'shipping', input: {} }));
  }
  events.plan(0, sweep);
  while (count.ended < options.executions && events.now < backAt + 7_200_000 && events.step())
    await codeReturned();
  return { ...(await verdict(store, options.executions)), ...summary() };

  function summary() {
    return {
      callsWhileDead: count.calls,
      trials: count.trials,
      deferred: count.deferred,
      dispatched: repeated.all,
      longestQueue,
      looks,
      mostSendsInASweep: repeated.most,
      mostCallsInASecond: Math.max(...callsBySecond.values()),
      drainedAfterMs: count.endedAt - backAt,
      writesWhileDead: count.writes,
    };
  }
}

async function verdict(store: MemoryStore, executions: number): Promise<Pick<Crowd, 'ends' | 'charged'>> {
  const ends: Record<string, number> = {};
  let charged = 0;
  for (let at = 1; at <= executions; at += 1) {
    const state = await store.read(`e-${at}`);
    const status = state?.execution.status ?? 'missing';
    ends[status] = (ends[status] ?? 0) + 1;
    charged += state?.steps['ship']?.stage ?? 0;
  }
  return { ends, charged };
}
