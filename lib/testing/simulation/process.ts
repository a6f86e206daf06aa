/**
 * A simulated process: one invocation of a function, with the ports as it sees them.
 *
 * Owns: every await of a role: it takes time, may fail, may be answered ambiguously, may be the last thing the process
 * does. A dead process's promises are never settled. Does not own: what the roles do.
 */

import type { Clock, Ports } from '../../core/ports.ts';
import type { Choice } from './plans.ts';
import type { Faults } from './faults.ts';
import type { EventQueue } from './events.ts';

export interface Process {
  /** True time at which the platform kills it; never, once its invocation has returned: then it is only frozen. */
  hardEndAt: number;
  /** What its clock shows more than true time. */
  readonly skewMs: number;
  dead: boolean;
  /** Stopped, not dead: nothing of it runs before then. */
  frozenUntil: number;
}

export interface Host {
  readonly events: EventQueue;
  readonly choice: Choice;
  readonly faults: Faults;
  /** The true ports, which answer at once. */
  readonly world: Omit<Ports, 'clock'>;
  readonly counts: { calls: number };
}

/** What a call to AWS rejects with. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

const isGone = (host: Host, process: Process): boolean =>
  process.dead || host.events.now >= process.hardEndAt;

/** Runs `resume` in the process: not while it is frozen, never when it is dead. */
function inProcess(host: Host, process: Process, resume: () => void): void {
  if (isGone(host, process)) return;
  if (process.frozenUntil > host.events.now) {
    host.events.plan(process.frozenUntil - host.events.now, () => inProcess(host, process, resume));
  } else {
    resume();
  }
}

/** One call to AWS. A request that has left is executed even if its sender dies meanwhile. */
export function call<Answer>(host: Host, process: Process, execute: () => Promise<Answer>): Promise<Answer> {
  const { events, choice, faults } = host;
  host.counts.calls += 1;
  return new Promise((resolve, reject) => {
    if (isGone(host, process)) return;
    if (faults.strikes('crashBefore')) {
      process.dead = true;
      return;
    }
    if (faults.strikes('frozenAgent')) process.frozenUntil = events.now + choice.between(1_000, 60_000);
    const throttled = faults.strikes('throttled');
    const ambiguous = !throttled && faults.strikes('ambiguous');
    const dies = !throttled && faults.strikes('crashAfter');
    const latencyMs = choice.between(1, 20);
    events.plan(latencyMs, () => {
      if (throttled) return inProcess(host, process, () => reject(new CallFailed('throttled')));
      void execute().then(
        (answer) => {
          if (dies) process.dead = true;
          inProcess(host, process, () => (ambiguous ? reject(new CallFailed('no answer')) : resolve(answer)));
        },
        (error: unknown) => inProcess(host, process, () => reject(error as Error)),
      );
    });
  });
}

export function clockOf(host: Host, process: Process): Clock {
  const { events } = host;
  return {
    now: () => events.now + process.skewMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        let over = false;
        const wake = (): void => {
          if (over) return;
          over = true;
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        signal?.addEventListener('abort', wake);
        events.plan(ms, () => {
          if (!over) inProcess(host, process, wake);
        });
      }),
  };
}

/** The ports as this process sees them. */
export function portsOf(host: Host, process: Process): Ports {
  const { store, queue, announcer, dice, log } = host.world;
  const through = <Answer>(execute: () => Promise<Answer>): Promise<Answer> => call(host, process, execute);
  return {
    store: {
      shards: store.shards,
      writePlan: (hash, plan) => through(() => store.writePlan(hash, plan)),
      readPlan: (hash) => through(() => store.readPlan(hash)),
      create: (execution) => through(() => store.create(execution)),
      read: (id) => through(() => store.read(id)),
      readExecution: (id) => through(() => store.readExecution(id)),
      write: (write) => through(() => store.write(write)),
      due: (shard, untilAt, cursor) => through(() => store.due(shard, untilAt, cursor)),
      list: (query) => through(() => store.list(query)),
      openIncidents: (limit, cursor) => through(() => store.openIncidents(limit, cursor)),
    },
    queue: { send: (sends) => through(() => queue.send(sends)) },
    announcer: { announce: (ended) => through(() => announcer.announce(ended)) },
    clock: clockOf(host, process),
    dice,
    log,
  };
}
