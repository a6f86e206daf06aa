/**
 * The simulated schedule of the supervisor: up to three at once tick once a minute, sweep at their own pace,
 * and sometimes one is away. And called supervisors: a call is lost, late or duplicated, like any message.
 */

import type { Presence } from '../../lib/core/supervision/presence.ts';
import { takeOver, tickStay } from '../../lib/supervisor/stay.ts';
import { tick } from '../../lib/supervisor/sweep.ts';
import { type Host, newProcess, portsOf } from './process.ts';

const TICK_MS = 60_000;
const RESERVE_MS = 3_000;
/** How many supervisors a tick starts for different shards; a third one duplicates the first. */
const PARTS = 2;

/** A world has few executions: free sends must be fewer still. */
const limitsOf = ({ choice, crowded }: Host) => (crowded ? { freeSends: choice.between(0, 1) } : {});

export function startSupervisors(host: Host): void {
  const { choice, events, faults, plans } = host;
  const supervisors = choice.between(1, 3);
  const everyTick = (): void => {
    for (let at = 0; at < supervisors; at += 1) {
      if (faults.injects('noSupervisor')) continue;
      const ports = portsOf(host, newProcess(host, TICK_MS));
      const untilAt = ports.clock.now() + TICK_MS - RESERVE_MS;
      const sweepEveryMs = choice.pick([5_000, 10_000, 30_000]);
      const part = { part: at % PARTS, of: Math.min(PARTS, supervisors) };
      const limits = limitsOf(host);
      const stay = tickStay(ports.wakeUps, ports, untilAt);
      events.plan(choice.between(0, 2_000), () => {
        void tick(ports, plans, { untilAt, sweepEveryMs, part, stay, ...limits }).catch(() => undefined);
      });
    }
    events.plan(TICK_MS, everyTick);
  };
  events.plan(choice.between(0, TICK_MS), everyTick);
}

/** @param longestDelayMs of a call that is late */
export function wakeSupervisor(host: Host, presence: Presence, longestDelayMs: number): void {
  const { choice, events, faults } = host;
  if (faults.injects('lostMessage')) return;
  const copies = faults.injects('duplicatedMessage') ? 2 : 1;
  for (let copy = 0; copy < copies; copy += 1) {
    const lateMs = faults.injects('delayedMessage') ? choice.between(100, longestDelayMs) : 0;
    events.plan(choice.between(50, 1_000) + lateMs, () => void begin(host, presence).catch(() => undefined));
  }
}

async function begin(host: Host, presence: Presence): Promise<void> {
  const ports = portsOf(host, newProcess(host, TICK_MS));
  const untilAt = ports.clock.now() + TICK_MS - RESERVE_MS;
  const sweepEveryMs = host.choice.pick([2_000, 5_000, 10_000]);
  const stay = await takeOver(ports.wakeUps, ports, presence, { untilAt, sweepEveryMs });
  if (stay !== undefined) await tick(ports, host.plans, { untilAt, sweepEveryMs, stay, ...limitsOf(host) });
}
