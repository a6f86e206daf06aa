/**
 * Kills and freezes given processes at given moments, and records the proof.
 *
 * Owns: the three process faults of the demo, and when each is due. Does not own: how a process is killed
 * (the local cloud's control), the consequences.
 *
 * The outside world does the work of the two orders at once and answers seconds later (`slow-reply`). In
 * between, their agent has done its work and cannot have reported. The fault hits the process that serves the
 * message of the order's execution.
 */

import type { OrderEntry as Entry } from '../world.ts';
import type { Execution } from './api.ts';
import { type Freeze, FROZEN, type Kill, KILLED } from './scenarios.ts';

type When = 'now' | { readonly holding: string };
interface Hit {
  readonly outcome: string;
  readonly pids: readonly number[];
}

/** The part of the local cloud's control that this file needs. */
export interface Controls {
  functions(): readonly {
    readonly logicalId: string;
    readonly processes: readonly { readonly pid: number; readonly state: 'busy' | 'idle' | 'frozen' }[];
  }[];
  kill(name: string, when: When): { readonly hit: Promise<Hit> };
  freeze(name: string, when: When): { readonly hit: Promise<Hit> };
  thaw(name: string): unknown;
  /** How many reports of a process were refused so far. */
  refusedReports(pid: number): number;
  tick(name: string): Promise<void>;
}

/** How late the external services answer for the two orders. */
export const REPLY_AFTER_MS = 8_000;
/** The latest time of a hit; later, the service's answer may already be in transit. */
const LATEST_HIT_MS = 7_000;
const NEXT_TICK_MS = 3_000;
/** How long the last lines of a process may take to arrive. */
const LINES_WITHIN_MS = 2_000;

export interface Sight {
  readonly entries: readonly Entry[];
  readonly reserveOfFrozen: Execution['steps'][number] | undefined;
  /** The executions of the two orders. */
  readonly killedId: string;
  readonly frozenId: string;
}

interface Frozen {
  readonly at: number;
  readonly pid: number;
}

export class Saboteur {
  kill: Kill | undefined;
  freeze: Freeze | undefined;
  supervisorKill: Kill | undefined;
  readonly #control: Controls;
  readonly #say: (text: string) => void;
  readonly #now: () => number;
  #hasRung = false;
  /** Agents with a fault in progress. */
  readonly #asked = new Set<string>();
  #frozen: Frozen | undefined;
  #thawed: { readonly at: number; readonly refusedBefore: number; endedAt?: number } | undefined;

  constructor(control: Controls, say: (text: string) => void, now: () => number = Date.now) {
    this.#control = control;
    this.#say = say;
    this.#now = now;
  }

  /** Whether no process is still frozen. */
  get isDone(): boolean {
    return this.#frozen === undefined || this.freeze !== undefined;
  }

  /** An idle supervisor has exited; the next scheduled tick may be a minute away. */
  ringSupervisor(): void {
    // Resolves when the supervisor is done, a minute later; the supervisor may also be killed before.
    this.#control.tick('tick').catch(() => {});
  }

  /** Called every few milliseconds: performs the faults that are due. */
  act(sight: Sight): void {
    if (this.kill === undefined) this.#killChargeAgent(sight);
    if (this.#frozen === undefined) this.#freezeReserveAgent(sight);
    if (this.kill !== undefined && this.#frozen !== undefined) this.#killSupervisor();
    this.#ringNext();
    if (this.#frozen !== undefined && this.freeze === undefined)
      this.#thaw(this.#frozen, sight.reserveOfFrozen);
  }

  #killChargeAgent({ entries, killedId }: Sight): void {
    if (!this.#hasJustDone('charge', KILLED.orderId, entries)) return;
    this.#hit('kill', 'charge-card', killedId, () => {
      this.kill = { at: this.#now() };
      this.#say(
        `SIGKILL for the charge agent of ${KILLED.orderId}: the card is charged, nothing is reported.`,
      );
    });
  }

  #freezeReserveAgent({ entries, frozenId }: Sight): void {
    if (!this.#hasJustDone('reservation', FROZEN.orderId, entries)) return;
    this.#hit('freeze', 'reserve-stock', frozenId, (pid) => {
      this.#frozen = { at: this.#now(), pid };
      this.#say(
        `SIGSTOP for the reserve agent of ${FROZEN.orderId}: the stock is reserved, nothing is reported.`,
      );
    });
  }

  /** Hits the process that serves a message of the execution; searches again later if there is none. */
  #hit(how: 'kill' | 'freeze', agent: string, executionId: string, then: (pid: number) => void): void {
    if (this.#asked.has(agent)) return;
    this.#asked.add(agent);
    void this.#control[how](agent, { holding: executionId }).hit.then(({ outcome, pids: [pid] }) => {
      this.#asked.delete(agent);
      if (outcome === 'hit' && pid !== undefined) then(pid);
    });
  }

  /**
   * Kills the supervisor before it can notice the other two faults, because those leases were just renewed.
   */
  #killSupervisor(): void {
    if (this.supervisorKill !== undefined || !isSweeping(this.#control)) return;
    this.supervisorKill = { at: this.#now() };
    this.#control.kill('supervisor', 'now');
    this.#say('SIGKILL for the supervisor. Its next tick would come within a minute; here it comes in 3 s.');
  }

  /**
   * A supervisor that began within 2 s of the dead one would take itself for a duplicate of the same tick.
   */
  #ringNext(): void {
    const { at } = this.supervisorKill ?? {};
    if (at === undefined || this.#hasRung || this.#now() - at < NEXT_TICK_MS) return;
    this.#hasRung = true;
    this.ringSupervisor();
  }

  #thaw({ at: frozenAt, pid }: Frozen, reserve: Sight['reserveOfFrozen']): void {
    if (this.#thawed === undefined) {
      const takenOver = reserve?.attempts.some(({ number, outcome }) => number === 2 && outcome === 'done');
      if (takenOver !== true) return;
      this.#thawed = { at: this.#now(), refusedBefore: this.#control.refusedReports(pid) };
      this.#control.thaw('reserve-stock');
      this.#say(
        `SIGCONT for the frozen agent of ${FROZEN.orderId}: another attempt has taken over meanwhile.`,
      );
      return;
    }
    const { at, refusedBefore } = this.#thawed;
    if (isBusy(this.#control, pid)) return;
    const endedAt = (this.#thawed.endedAt ??= this.#now());
    const refused = this.#control.refusedReports(pid) - refusedBefore;
    if (refused === 0 && this.#now() - endedAt < LINES_WITHIN_MS) return;
    this.freeze = { at: frozenAt, thawedAt: at, refused };
    this.#say(
      refused > 0
        ? 'The thawed agent reported, and its report was refused.'
        : 'No report of the thawed agent was refused.',
    );
  }

  /** Whether the external service has done the order's work but not yet answered. */
  #hasJustDone(kind: Entry['kind'], orderId: string, entries: readonly Entry[]): boolean {
    const done = entries.find((entry) => entry.kind === kind && entry.orderId === orderId);
    return done !== undefined && this.#now() - done.at <= LATEST_HIT_MS;
  }
}

/** Whether a supervisor is at work. */
const isSweeping = (control: Controls): boolean =>
  control
    .functions()
    .some(
      ({ logicalId, processes }) =>
        logicalId.includes('Supervisor') && processes.some(({ state }) => state === 'busy'),
    );

/** Whether the process is at work, whichever function it serves: several agents may share one. */
const isBusy = (control: Controls, pid: number): boolean =>
  control
    .functions()
    .some(({ processes }) => processes.some((one) => one.pid === pid && one.state === 'busy'));
