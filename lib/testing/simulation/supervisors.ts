/**
 * The simulated schedule of the supervisor: up to three at once tick once a minute, sweep at their own pace, and now and
 * then one is away.
 */

import { tick } from '../../roles/supervisor.ts';
import { type Host, newProcess, portsOf } from './process.ts';

const TICK_MS = 60_000;
/** Supervisors that a tick starts for different shards; a third one doubles the first. */
const PARTS = 2;

export function startSupervisors(host: Host): void {
  const { choice, crowded, events, faults, plans } = host;
  const supervisors = choice.between(1, 3);
  const everyTick = (): void => {
    for (let at = 0; at < supervisors; at += 1) {
      if (faults.strikes('noSupervisor')) continue;
      const ports = portsOf(host, newProcess(host, TICK_MS));
      const untilAt = ports.clock.now() + TICK_MS - 3_000;
      const sweepEveryMs = choice.pick([5_000, 10_000, 30_000]);
      const part = { part: at % PARTS, of: Math.min(PARTS, supervisors) };
      // A world holds few executions: what is free must be fewer still.
      const limits = crowded ? { freeSends: choice.between(0, 1) } : {};
      events.plan(choice.between(0, 2_000), () => {
        void tick(ports, plans, { untilAt, sweepEveryMs, part, ...limits }).catch(() => undefined);
      });
    }
    if (!host.over()) events.plan(TICK_MS, everyTick);
  };
  events.plan(choice.between(0, TICK_MS), everyTick);
}
