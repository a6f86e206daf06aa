/**
 * Causes the planned faults at their times, and records which occurred.
 *
 * Owns: the timers, the tally of faults that struck, every strike on a process, and the times
 * without a supervisor. Does not own: what is planned (`fault-plan.ts`), how a process is
 * killed (the local cloud's control).
 */

import type { ArmedFault, FaultHit } from '../../local/control/fault.ts';
import type { Control } from '../../local/control/control.ts';
import { OUTSIDE } from '../../local/gateway/aws-call.ts';
import type { Interval, Strike } from './detection.ts';
import {
  AGENTS,
  type Fault,
  FUNCTIONS,
  type FunctionName,
  LONG_FREEZE_MS,
  type PlannedFault,
} from './fault-plan.ts';

/** Faults that AWS has and a local cloud does not have by itself. */
export interface BlindSpots {
  /**
   * Queries of an index that were answered with the state of a few seconds ago; writes for which one had no
   * capacity.
   */
  lateIndexes: number;
  refusedIndexes: number;
  /** Processes frozen for longer than a lease whose connections were cut then. */
  cutThaws: number;
  /** Batches that were received and refused. */
  burntReceives: number;
}

export interface Tally extends BlindSpots {
  /** How many processes were killed. */
  readonly kills: Record<FunctionName, number>;
  /** How many processes were frozen. */
  freezes: number;
  storeRestarts: number;
  /** Calls that were executed and not answered. */
  ambiguous: number;
  throttled: number;
  /** The functions' transactions, refused ones included. */
  transactions: number;
}

const TRANSACTION = 'TransactWriteItems';
const POLL_EVERY_MS = 200;
/** How long a fault of the supervisor is postponed if there is no supervisor. */
const POSTPONED_MS = 13_000;

type Spoilt = Extract<Fault, { readonly calls: number }>['kind'];

/**
 * How a call is made to fail, and in which count it appears. Only a transaction's answer says which part was
 * refused.
 */
const SPOILT: Readonly<
  Record<
    Spoilt,
    {
      readonly counted: 'ambiguous' | 'throttled' | 'lateIndexes' | 'refusedIndexes';
      readonly arm: (control: Control, target: FunctionName) => ArmedFault;
    }
  >
> = {
  ambiguous: { counted: 'ambiguous', arm: (control, target) => control.ambiguous(target, { calls: 1 }) },
  throttle: { counted: 'throttled', arm: (control, target) => control.throttle(target, { calls: 1 }) },
  'late-index': { counted: 'lateIndexes', arm: (control, target) => control.late(target, { calls: 1 }) },
  'refused-index': {
    counted: 'refusedIndexes',
    arm: (control, target) => control.throttle(target, { calls: 1, operation: TRANSACTION }),
  },
};

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
    const spots = { lateIndexes: 0, refusedIndexes: 0, cutThaws: 0, burntReceives: 0 };
    this.tally = {
      kills: none,
      freezes: 0,
      storeRestarts: 0,
      ambiguous: 0,
      throttled: 0,
      transactions: 0,
      ...spots,
    };
  }

  begin(plan: readonly PlannedFault[]): void {
    for (const { atMs, fault } of plan) this.#later(atMs, () => this.#inflict(fault));
    const look = setInterval(() => this.#lookForSupervisor(), POLL_EVERY_MS);
    this.#timers.add(look);
  }

  /** Ends all faults: armed ones are withdrawn, frozen processes continue, the store is up. */
  async heal(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#control.clearFaults();
    for (const name of FUNCTIONS) this.#thaw(name);
    for (const name of AGENTS) this.#control.enableFunction(name);
    this.tally.transactions = this.#control
      .calls()
      .filter(({ caller, operation }) => caller !== OUTSIDE && operation === TRANSACTION)
      .reduce((sum, { calls }) => sum + calls, 0);
    this.tally.burntReceives = this.#control.functions().reduce((sum, { throttles }) => sum + throttles, 0);
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
    // Postponed, not kept for the next supervisor: otherwise each supervisor would be hit at its first call,
    // and none would ever work.
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
        void hit.then((what) => this.#froze(fault.target, what, fault));
        return;
      }
      case 'store-restart':
        this.#restarts = this.#control.restartDynamo(fault.downMs).then(() => {
          this.tally.storeRestarts += 1;
        });
        return;
      case 'no-concurrency':
        this.#control.disableFunction(fault.target, fault.forMs);
        return;
      default:
        this.#spoilCalls(fault);
    }
  }

  /** One fault for each call, so that each is reported when it strikes. */
  #spoilCalls({ kind, target, calls }: Extract<Fault, { readonly calls: number }>): void {
    const { counted, arm } = SPOILT[kind];
    for (let call = 0; call < calls; call += 1) {
      void arm(this.#control, target).hit.then(({ outcome }) => {
        if (outcome === 'hit') this.tally[counted] += 1;
      });
    }
  }

  #killed(target: FunctionName, hit: FaultHit): void {
    if (hit.outcome !== 'hit') return;
    this.tally.kills[target] += hit.pids.length;
    this.strikes.push(...hit.pids.map((pid) => ({ kind: 'kill', target, pid, at: hit.at }) as const));
  }

  #froze(target: FunctionName, hit: FaultHit, { forMs, cut }: Extract<Fault, { kind: 'freeze' }>): void {
    if (hit.outcome !== 'hit') return;
    this.tally.freezes += hit.pids.length;
    this.strikes.push(...hit.pids.map((pid) => ({ kind: 'freeze', target, pid, at: hit.at }) as const));
    this.#later(forMs, () => this.#thaw(target, cut === true));
  }

  /** Thaws all frozen processes of the function, so a freeze may end early with another one. */
  #thaw(target: FunctionName, cut = false): void {
    const pids = this.#control.thaw(target, { cut });
    const now = Date.now();
    for (const strike of this.strikes) {
      if (strike.kind === 'freeze' && strike.thawedAt === undefined && pids.includes(strike.pid)) {
        strike.thawedAt = now;
        if (cut && now - strike.at >= LONG_FREEZE_MS) this.tally.cutThaws += 1;
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
