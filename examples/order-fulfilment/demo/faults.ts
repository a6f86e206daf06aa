/**
 * Kills and freezes the right process at the right moment, and proves it.
 *
 * Owns: the three process faults of the demo and when each is due. Does not own: how a process is killed (the
 * local cloud's control), what follows from it.
 *
 * The outside world does the work of the two orders at once and answers seconds later (`slow-reply`). In
 * between, their agent has done its work and cannot have reported. It is hit at an instant at which it is the
 * only busy process of its function, so that no other order's agent can be meant.
 */

import type { OrderEntry as Entry } from '../world.ts';
import type { Execution } from './api.ts';
import { type Freeze, FROZEN, type Kill, KILLED } from './scenarios.ts';

/** The part of the local cloud's control that is needed. */
export interface Controls {
  functions(): readonly {
    readonly logicalId: string;
    readonly processes: readonly { readonly pid: number; readonly state: 'busy' | 'idle' | 'frozen' }[];
  }[];
  kill(name: string, when: 'now'): { readonly hit: Promise<unknown> };
  freeze(name: string, when: 'now'): { readonly hit: Promise<unknown> };
  thaw(name: string): unknown;
  /** AWS calls so far; `errors` were answered with an error status. */
  calls(): readonly { readonly caller: string; readonly service: string; readonly errors: number }[];
  tick(name: string): Promise<void>;
}

/**
 * How late the external services answer the two orders: long enough for a slow machine to have its other
 * agents done meanwhile, and below the agents' own limit (20 s). Nobody waits for the answer to an agent that
 * is killed.
 */
export const REPLY_AFTER_MS = { killed: 15_000, frozen: 9_000 } as const;
/** An agent is not hit when its answer may already be under way. */
const ANSWERS_WITHIN_MS = 1_000;

export interface Sight {
  readonly entries: readonly Entry[];
  readonly reserveOfFrozen: Execution['steps'][number] | undefined;
}

export class Saboteur {
  kill: Kill | undefined;
  freeze: Freeze | undefined;
  supervisorKill: Kill | undefined;
  readonly #control: Controls;
  readonly #say: (text: string) => void;
  readonly #now: () => number;
  #frozen: { readonly at: number; readonly pid: number } | undefined;
  #thawed: { readonly at: number; readonly refusedBefore: number } | undefined;

  constructor(control: Controls, say: (text: string) => void, now: () => number = Date.now) {
    this.#control = control;
    this.#say = say;
    this.#now = now;
  }

  /** Nothing is frozen that would have to be thawed. */
  get isDone(): boolean {
    return this.#frozen === undefined || this.freeze !== undefined;
  }

  /** An idle supervisor has gone home; the next scheduled tick may be a minute away. */
  ringSupervisor(): void {
    // Resolves when the supervisor is done, a minute later; it may also be killed before.
    this.#control.tick('tick').catch(() => {});
  }

  /** Called every few milliseconds: does what is due now. */
  act(sight: Sight): void {
    if (this.kill === undefined) this.#killChargeAgent(sight.entries);
    if (this.#frozen === undefined) this.#freezeReserveAgent(sight.entries);
    if (this.kill !== undefined && this.#frozen !== undefined) this.#killSupervisor();
    if (this.#frozen !== undefined && this.freeze === undefined)
      this.#thaw(this.#frozen, sight.reserveOfFrozen);
  }

  #killChargeAgent(entries: readonly Entry[]): void {
    const pid = this.#lonelyWorker('charge-card', 'charge', KILLED.orderId, entries, REPLY_AFTER_MS.killed);
    if (pid === undefined) return;
    this.kill = { at: this.#now() };
    void this.#control.kill('charge-card', 'now');
    this.#say(`SIGKILL for the charge agent of ${KILLED.orderId}: the card is charged, nothing is reported.`);
  }

  #freezeReserveAgent(entries: readonly Entry[]): void {
    const pid = this.#lonelyWorker(
      'reserve-stock',
      'reservation',
      FROZEN.orderId,
      entries,
      REPLY_AFTER_MS.frozen,
    );
    if (pid === undefined) return;
    this.#frozen = { at: this.#now(), pid };
    void this.#control.freeze('reserve-stock', 'now');
    this.#say(
      `SIGSTOP for the reserve agent of ${FROZEN.orderId}: the stock is reserved, nothing is reported.`,
    );
  }

  /** Before it can have noticed the other two: their leases have just been renewed. */
  #killSupervisor(): void {
    if (this.supervisorKill !== undefined || busyOf(this.#control, 'supervisor').length === 0) return;
    this.supervisorKill = { at: this.#now() };
    const { hit } = this.#control.kill('supervisor', 'now');
    this.#say('SIGKILL for the supervisor. Its next tick would come within a minute; here it comes at once.');
    void hit.then(() => this.ringSupervisor());
  }

  #thaw(frozen: { readonly at: number; readonly pid: number }, reserve: Sight['reserveOfFrozen']): void {
    if (this.#thawed === undefined) {
      const takenOver = reserve?.attempts.some(({ number, outcome }) => number === 2 && outcome === 'done');
      if (takenOver !== true) return;
      this.#thawed = { at: this.#now(), refusedBefore: refusedWrites(this.#control) };
      this.#control.thaw('reserve-stock');
      this.#say(
        `SIGCONT for the frozen agent of ${FROZEN.orderId}: another attempt has taken over meanwhile.`,
      );
      return;
    }
    const { at, refusedBefore } = this.#thawed;
    if (busyOf(this.#control, 'reserve-stock').includes(frozen.pid)) return;
    this.freeze = { at: frozen.at, thawedAt: at, refused: refusedWrites(this.#control) - refusedBefore };
    this.#say(`The thawed agent tried to write ${this.freeze.refused} times, and was refused.`);
  }

  /** The process that works for this order, if it has done its work and no other process could be meant. */
  #lonelyWorker(
    agent: string,
    kind: Entry['kind'],
    orderId: string,
    entries: readonly Entry[],
    replyAfterMs: number,
  ): number | undefined {
    const done = entries.find((entry) => entry.kind === kind && entry.orderId === orderId);
    if (done === undefined || this.#now() - done.at > replyAfterMs - ANSWERS_WITHIN_MS) return undefined;
    const busy = busyOf(this.#control, agent);
    return busy.length === 1 ? busy[0] : undefined;
  }
}

const plain = (name: string): string => name.toLowerCase().replaceAll('-', '');

function busyOf(control: Controls, name: string): number[] {
  const states = control.functions().filter(({ logicalId }) => plain(logicalId).includes(plain(name)));
  return states.flatMap(({ processes }) =>
    processes.filter(({ state }) => state === 'busy').map(({ pid }) => pid),
  );
}

/** Writes of the reserve agent that the state store refused so far. */
function refusedWrites(control: Controls): number {
  return control
    .calls()
    .filter(({ caller, service }) => plain(caller).includes('reservestock') && service === 'dynamodb')
    .reduce((sum, { errors }) => sum + errors, 0);
}
