/**
 * Runs one execution in a quiet system: it starts at a given moment between two ticks, and its agent dies at
 * once. Owns: the run with the production roles, and when the death was noticed. Does not own: the
 * expectations.
 */

import type { Agent, Implementation } from '../../../lib/core/plan/agent.ts';
import type { Note, Send } from '../../../lib/core/decisions/decision.ts';
import { retry, workflow } from '../../../lib/author/builder/workflow.ts';
import { handleMessage } from '../../../lib/agent/message.ts';
import { takeOver, tickStay } from '../../../lib/supervisor/stay.ts';
import { createScheduler, start } from '../../../lib/scheduler/start.ts';
import { SWEEP_EVERY_MS, tick } from '../../../lib/supervisor/sweep.ts';
import { memoryBreakers, memoryPresences, memoryRates } from '../../../lib/memory/side-records.ts';
import { memoryLanes } from '../../../lib/memory/lanes.ts';
import { MemoryTable } from '../../../lib/memory/table.ts';
import { seededSource, seededRandom } from '../../../lib/memory/world.ts';
import { EventQueue } from '../../../proof/simulation/events.ts';
import { choiceOf } from '../../../proof/simulation/plans.ts';
import { type Host, newProcess, portsOf } from '../../../proof/simulation/process.ts';
import { anAgent, anyObject } from '../../engine/harness.ts';
import { calmHost } from './calm.ts';

export const LEASE_MS = 3_000;
const TICK_MS = 60_000;
const LIFE_MS = 57_000;
const PARTS = 2;
const FOR_MS = 5 * TICK_MS;

/** What happens to calls of a supervisor. */
export type Calls = 'arrive' | 'arrive-twice' | 'get-lost' | 'are-refused';

export interface Quiet {
  /** How long after the start of the dead attempt its death was noticed. */
  readonly noticedMs: number | undefined;
  readonly status: string | undefined;
  readonly calls: number;
  /** The number of supervisors that were called and stayed. */
  readonly stayed: number;
  readonly notes: readonly Note[];
}

export async function runQuiet(seed: number, calls: Calls): Promise<Quiet> {
  const agent = anAgent('worker', { timeout: '30s', lease: '3s', claimWithin: '3s' });
  const choice = choiceOf(seededRandom(seed));
  const events = new EventQueue(1_700_000_000_000);
  const table = new MemoryTable(4);
  const notes: Note[] = [];
  let noticedAt: number | undefined;
  let claimedAt: number | undefined;
  const count = { called: 0, stayed: 0 };
  const host = calmHost(events, choice, {
    table,
    breakers: memoryBreakers(),
    rates: memoryRates(),
    presences: memoryPresences(),
    lanes: memoryLanes(),
    wake: (presence) => {
      count.called += 1;
      if (calls === 'are-refused') throw new Error('no such bus');
      const copies = { arrive: 1, 'arrive-twice': 2, 'get-lost': 0 }[calls];
      for (let copy = 0; copy < copies; copy += 1)
        events.plan(choice.between(100, 1_500), () => void begin(presence));
    },
    send: (sends) => {
      for (const send of sends) events.plan(send.delayMs + choice.between(5, 50), () => deliver(send));
    },
    announce: () => undefined,
    random: seededSource(seed),
    note: (note) => {
      notes.push(note);
      if (note.what === 'claimed') claimedAt ??= events.now;
      if (note.what === 'lease-ended') noticedAt ??= events.now;
    },
  });
  const begin = async (presence: Parameters<Host['external']['wake']>[0]): Promise<void> => {
    const ports = portsOf(host, newProcess(host, TICK_MS));
    const limits = { untilAt: events.now + LIFE_MS, sweepEveryMs: SWEEP_EVERY_MS };
    const stay = await takeOver(ports.wakeUps, ports, presence, limits);
    if (stay === undefined) return;
    count.stayed += 1;
    await tick(ports, host.plans, { ...limits, stay });
  };
  let attempts = 0;
  const deliver = (send: Send): void => {
    const process = newProcess(host, TICK_MS);
    attempts += 1;
    const isFirst = attempts === 1;
    const execute = async () => {
      process.dead = isFirst;
      return {};
    };
    const worker = { agent: agent as Agent, implementation: { execute } as Implementation<unknown, unknown> };
    void handleMessage(
      portsOf(host, process),
      host.plans,
      worker,
      send.message,
      () => process.processDeadlineAt,
    );
  };
  const everyTick = (): void => {
    for (let part = 0; part < PARTS; part += 1) {
      const ports = portsOf(host, newProcess(host, TICK_MS));
      const untilAt = events.now + LIFE_MS;
      const stay = tickStay(ports.wakeUps, ports, untilAt);
      const limits = { untilAt, sweepEveryMs: SWEEP_EVERY_MS, stay, part: { part, of: PARTS } };
      void tick(ports, host.plans, limits);
    }
    events.plan(TICK_MS, everyTick);
  };
  everyTick();
  const flow = workflow('quiet', { input: anyObject, within: '1h' }, (w) => {
    w.step('work', agent, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '1s' })], undo: 'none' });
  });
  const ports = portsOf(host, newProcess(host, Number.POSITIVE_INFINITY));
  const scheduler = createScheduler(ports, [flow], { hash: (text) => text.slice(0, 40), newId: () => 'e-1' });
  events.plan(choice.between(0, TICK_MS - 1), () => {
    void start(scheduler, { workflow: 'quiet', input: {} });
  });
  const endAt = events.now + FOR_MS;
  while (events.now < endAt && events.step()) {
    while (events.nextAt() === events.now) events.step();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const noticedMs = noticedAt === undefined || claimedAt === undefined ? undefined : noticedAt - claimedAt;
  return {
    noticedMs,
    status: table.read('e-1')?.execution.status,
    calls: count.called,
    stayed: count.stayed,
    notes,
  };
}
