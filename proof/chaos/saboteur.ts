/**
 * Does what the plan of faults says, when it says so, and notes what really happened.
 *
 * Owns: the timers, the tally of faults that struck, every strike on a process, and the times
 * without a supervisor. Does not own: what is planned (`fault-plan.ts`), how a process is
 * killed (the local cloud's control).
 */

import type { FaultHit } from '../../local/control/fault.ts';
import type { Control } from '../../local/control/control.ts';
import type { Interval, Strike } from './detection.ts';
import { type Fault, FUNCTIONS, type FunctionName, type PlannedFault } from './fault-plan.ts';

export interface Tally {
  /** Processes killed. */
  readonly kills: Record<FunctionName, number>;
  /** Processes frozen. */
  freezes: number;
  storeRestarts: number;
  /** Calls that were executed and not answered. */
  ambiguous: number;
  throttled: number;
}

const POLL_EVERY_MS = 200;
/** A fault of the supervisor that found none. */
const POSTPONED_MS = 13_000;

export class Saboteur {
  readonly tally: Tally;
  readonly strikes: Strike[] = [];
  readonly withoutSupervisor: Interval[] = [];
  readonly #control: Control;
  readonly #timers = new Set<NodeJS.Timeout>();
  #restarts: Promise<unknown> = Promise.resolve();
  #aloneSince: number | undefined;

  constructor(control: Control) {
    this.#control = control;
    const none = Object.fromEntries(FUNCTIONS.map((name) => [name, 0])) as Tally['kills'];
    this.tally = { kills: none, freezes: 0, storeRestarts: 0, ambiguous: 0, throttled: 0 };
  }

  begin(plan: readonly PlannedFault[]): void {
    for (const { atMs, fault } of plan) this.#later(atMs, () => this.#inflict(fault));
    const look = setInterval(() => this.#lookForSupervisor(), POLL_EVERY_MS);
    this.#timers.add(look);
  }

  /** No more faults: what is armed is withdrawn, what is frozen goes on, the store is up. */
  async heal(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#control.clearFaults();
    for (const name of FUNCTIONS) this.#thaw(name);
    await this.#restarts;
    const look = setInterval(() => this.#lookForSupervisor(), POLL_EVERY_MS);
    this.#timers.add(look);
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    if (this.#aloneSince !== undefined) {
      this.withoutSupervisor.push({ from: this.#aloneSince, to: Date.now() });
    }
  }

  get totalKills(): number {
    return Object.values(this.tally.kills).reduce((sum, count) => sum + count, 0);
  }

  #later(afterMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, afterMs);
    this.#timers.add(timer);
  }

  #inflict(fault: Fault): void {
    const onProcess = fault.kind === 'kill' || fault.kind === 'freeze';
    // A fault that waited for the next supervisor would hit every one at its first
    // call, and none would ever work.
    if (onProcess && fault.target === 'supervisor' && !this.#supervisorWorks()) {
      this.#later(POSTPONED_MS, () => this.#inflict(fault));
      return;
    }
    switch (fault.kind) {
      case 'kill': {
        const { hit } = this.#control.kill(fault.target, fault.moment);
        void hit.then((what) => this.#killed(fault.target, what));
        return;
      }
      case 'freeze': {
        const { hit } = this.#control.freeze(fault.target, fault.moment);
        void hit.then((what) => this.#froze(fault.target, what, fault.forMs));
        return;
      }
      case 'store-restart':
        this.#restarts = this.#control.restartDynamo(fault.downMs).then(() => {
          this.tally.storeRestarts += 1;
        });
        return;
      case 'ambiguous':
      case 'throttle':
        this.#spoilCalls(fault);
    }
  }

  /** One fault a call, so that each is reported when it strikes. */
  #spoilCalls({ kind, target, calls }: Extract<Fault, { kind: 'ambiguous' | 'throttle' }>): void {
    for (let call = 0; call < calls; call += 1) {
      const { hit } = this.#control[kind](target, { calls: 1 });
      void hit.then(({ outcome }) => {
        if (outcome === 'hit') this.tally[kind === 'throttle' ? 'throttled' : kind] += 1;
      });
    }
  }

  #killed(target: FunctionName, hit: FaultHit): void {
    if (hit.outcome !== 'hit') return;
    this.tally.kills[target] += hit.pids.length;
    this.strikes.push(...hit.pids.map((pid) => ({ kind: 'kill', target, pid, at: hit.at }) as const));
  }

  #froze(target: FunctionName, hit: FaultHit, forMs: number): void {
    if (hit.outcome !== 'hit') return;
    this.tally.freezes += hit.pids.length;
    this.strikes.push(...hit.pids.map((pid) => ({ kind: 'freeze', target, pid, at: hit.at }) as const));
    this.#later(forMs, () => this.#thaw(target));
  }

  /** All frozen processes of the function, so that a freeze may end early by another one's end. */
  #thaw(target: FunctionName): void {
    const pids = this.#control.thaw(target);
    const now = Date.now();
    for (const strike of this.strikes) {
      if (strike.kind === 'freeze' && strike.thawedAt === undefined && pids.includes(strike.pid)) {
        strike.thawedAt = now;
      }
    }
  }

  #supervisorWorks(): boolean {
    return this.#control
      .functions()
      .filter(({ logicalId }) => logicalId.toLowerCase().includes('supervisor'))
      .some(({ processes }) => processes.some(({ state }) => state === 'busy'));
  }

  #lookForSupervisor(): void {
    if (!this.#supervisorWorks()) this.#aloneSince ??= Date.now();
    else if (this.#aloneSince !== undefined) {
      this.withoutSupervisor.push({ from: this.#aloneSince, to: Date.now() });
      this.#aloneSince = undefined;
    }
  }
}
