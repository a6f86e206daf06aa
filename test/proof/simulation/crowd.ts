/**
 * Runs many executions of one step at once, without faults, with the production roles in simulated time and a
 * supervisor that sweeps continuously.
 */

import { memoryBreakers, memoryPresences, memoryRates } from '../../../lib/memory/side-records.ts';
import { memoryLanes } from '../../../lib/memory/lanes.ts';
import type { Agent, AttemptContext, Implementation } from '../../../lib/core/plan/agent.ts';
import type { Note, Send } from '../../../lib/core/decisions/decision.ts';
import { retry, workflow } from '../../../lib/author/builder/workflow.ts';
import { handleMessage } from '../../../lib/agent/message.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { SWEEP_EVERY_MS, tick } from '../../../lib/supervisor/sweep.ts';
import { MemoryTable } from '../../../lib/memory/table.ts';
import { seededSource, seededRandom } from '../../../lib/memory/world.ts';
import { EventQueue } from '../../../proof/simulation/events.ts';
import { choiceOf } from '../../../proof/simulation/plans.ts';
import { clockOf, type Host, newProcess, portsOf } from '../../../proof/simulation/process.ts';
import { anAgent, anyObject } from '../../engine/harness.ts';
import { calmHost } from './calm.ts';

export interface Crowd {
  readonly executions: number;
  readonly timeout: `${number}m`;
  readonly progressWithin: `${number}s`;
  /** The work of every agent. */
  readonly execute: (ctx: AttemptContext, sleep: (ms: number) => Promise<void>) => Promise<unknown>;
  /** How long the crowd is observed. */
  readonly forMs: number;
}

export interface Seen {
  readonly at: number;
  readonly note: Note;
}

export interface CrowdResult {
  /** By execution: when its agent began, and the notes of other roles' acts on it. */
  readonly beganAt: ReadonlyMap<string, number>;
  readonly touched: readonly Seen[];
  /** Heartbeats written by all agents. */
  readonly heartbeats: number;
  readonly succeeded: number;
}

const STARTS_WITHIN_MS = 10_000;
/** Notes of a supervisor's acts on an execution. */
const TOUCHES = ['lease-ended', 'dispatched'];

class CountingTable extends MemoryTable {
  heartbeats = 0;

  override write(write: Parameters<MemoryTable['write']>[0]): ReturnType<MemoryTable['write']> {
    const result = super.write(write);
    if (result === 'written' && (write.step?.heartbeat ?? 0) > 0 && write.step?.status === 'running')
      this.heartbeats += 1;
    return result;
  }
}

export async function runCrowd(crowd: Crowd): Promise<CrowdResult> {
  const { executions, timeout, progressWithin, forMs } = crowd;
  const agent = anAgent('worker', {
    timeout,
    progressWithin: progressWithin,
    lease: '30s',
    claimWithin: '30s',
  });
  const touched: Seen[] = [];
  const table = new CountingTable(4);
  const choice = choiceOf(seededRandom(1));
  const events = new EventQueue(1_700_000_000_000);
  const host = calmHost(events, choice, {
    table,
    breakers: memoryBreakers(),
    rates: memoryRates(),
    presences: memoryPresences(),
    lanes: memoryLanes(),
    wake: () => undefined,
    send: (sends) => {
      for (const send of sends) events.plan(send.delayMs + choice.between(5, 50), () => deliver(send));
    },
    announce: () => undefined,
    random: seededSource(1),
    note: (note) => {
      if (TOUCHES.includes(note.what)) touched.push({ at: events.now, note });
    },
  });
  const beganAt = new Map<string, number>();
  const deliver = (send: Send): void => {
    const process = newProcess(host, forMs);
    const clock = clockOf(host, process);
    const implementation: Implementation<unknown, unknown> = {
      execute: (ctx) => {
        if (!beganAt.has(ctx.executionId)) beganAt.set(ctx.executionId, events.now);
        return crowd.execute(ctx, (ms) => clock.sleep(ms));
      },
    };
    const worker = { agent: agent as Agent, implementation };
    void handleMessage(
      portsOf(host, process),
      host.plans,
      worker,
      send.message,
      () => process.processDeadlineAt,
    );
  };
  startAll(host, agent, executions);
  const supervisor = portsOf(host, newProcess(host, Number.POSITIVE_INFINITY));
  const untilAt = events.now + forMs;
  events.plan(STARTS_WITHIN_MS / 2, () => {
    void tick(supervisor, host.plans, { untilAt, sweepEveryMs: SWEEP_EVERY_MS });
  });
  while (events.now < untilAt && events.step()) {
    // Events of the same millisecond share a turn.
    while (events.nextAt() === events.now) events.step();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const succeeded = [...table.ids()].filter((id) => table.read(id)?.execution.status === 'succeeded').length;
  return { beganAt, touched, heartbeats: table.heartbeats, succeeded };
}

function startAll(host: Host, agent: ReturnType<typeof anAgent>, executions: number): void {
  const crowded = workflow('crowded', { input: anyObject, within: '6h' }, (w) => {
    w.step('work', agent, {}, { recovery: [retry(1, { delay: '1s', maxDelay: '1s' })], undo: 'none' });
  });
  const ports = portsOf(host, newProcess(host, Number.POSITIVE_INFINITY));
  const hash = (text: string): string => text.replace(/[^a-z0-9]/g, '-').slice(-60);
  const scheduler = createScheduler(ports, [crowded], { hash, newId: () => 'none' });
  for (let at = 0; at < executions; at += 1) {
    host.events.plan(host.choice.between(0, STARTS_WITHIN_MS), () => {
      void start(scheduler, { workflow: 'crowded', input: {}, idempotencyKey: `k${at}` });
    });
  }
}
