/**
 * One process's share of its agent's rate: the slots that it took and has not used yet.
 *
 * Owns: when the record is written (one conditional write for as many slots as the process has used recently,
 * a share of a second at most), lost races, how long a claim waits for its slot, giving slots to the waiting
 * groups (`fairBy`) in turn. Does not own: the rules (`core/records/slots.ts`), the consequences for the step
 * (`core/step/defer.ts`).
 *
 * If the record cannot be read, nothing may begin: the service counts every call.
 */

import type { Ports, Rates } from '../core/ports.ts';
import { type AgentRate, shareOf, type Slots, type SlotsAsked, withSlots } from '../core/records/slots.ts';

/** A slot is lost if no claim uses it within this time after its end. */
const LATE_MS = 100;
/** How many races may be lost in a row. */
const MAX_LAPS = 12;
/** The longest pause after a lost race; it is multiplied by the number of races lost so far. */
const GAP_MS = 10;
/** A process that asks again within this time may take more than one slot at once. */
const BUSY_MS = 1_000;

/** The claim may be written until `untilAt`; or must wait for its turn; or the record cannot be read. */
export type Slot =
  | { readonly untilAt: number; readonly giveBack?: () => void }
  | { readonly turnAt: number }
  | 'unread';

interface Waiting {
  readonly round: number;
  readonly use: (slot: Slots) => void;
}

/** One per process. Any number of messages may ask at once. */
export class ProcessRate {
  readonly #agent: string;
  readonly #perSecond: number;
  #slots: Slots | undefined;
  #known: AgentRate | undefined;
  #wanted = 1;
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting: Waiting[] = [];
  /** By group, the round of its latest claim; and the current round. */
  readonly #rounds = new Map<string | undefined, number>();
  #round = 0;

  constructor(agent: string, perSecond: number) {
    this.#agent = agent;
    this.#perSecond = perSecond;
  }

  /** Resolves when the slot begins; never rejects. @param hasTurn and group as in `withSlots` */
  async slot(ports: Ports, hasTurn: boolean, group?: string): Promise<Slot> {
    const { rates } = ports;
    if (rates === undefined) return { untilAt: Number.POSITIVE_INFINITY };
    // One after the other: attempts of one process share the slots that it takes, and do not race for them.
    const taken = this.#last.then(() => this.#take(ports, rates, { hasTurn, group }));
    this.#last = taken;
    const own = await taken;
    if (own === 'unread' || 'turnAt' in own) return own;
    const slot = await this.#inTurn(ports, own, group);
    return { untilAt: slot.untilAt + LATE_MS, giveBack: () => this.#giveBack(slot) };
  }

  /** Waits for a slot. Each slot that begins goes to the group whose turn it is. */
  async #inTurn({ clock }: Ports, own: Slots, group: string | undefined): Promise<Slots> {
    const waitMs = own.fromAt - clock.now();
    if (waitMs <= 0 && this.#waiting.length === 0) return own;
    const round = Math.max(this.#round, (this.#rounds.get(group) ?? 0) + 1);
    this.#rounds.set(group, round);
    const given = new Promise<Slots>((use) => this.#waiting.push({ round, use }));
    if (waitMs <= 0) this.#give(own);
    else void clock.sleep(Math.ceil(waitMs)).then(() => this.#give(own));
    return await given;
  }

  #give(slot: Slots): void {
    const first = this.#waiting.reduce((one, other) => (other.round < one.round ? other : one));
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    this.#round = first.round;
    if (this.#waiting.length === 0) this.#rounds.clear();
    first.use(slot);
  }

  /**
   * Returns a slot that the claim did not need: another message of this process may use it while it lasts,
   * but not together with slots of a later time.
   */
  #giveBack({ untilAt }: Slots): void {
    if (this.#slots?.untilAt === untilAt) this.#slots = { ...this.#slots, count: this.#slots.count + 1 };
  }

  async #take(
    ports: Ports,
    rates: Rates,
    asking: Pick<SlotsAsked, 'hasTurn' | 'group'>,
  ): Promise<Slots | { readonly turnAt: number } | 'unread'> {
    const before = this.#slots;
    if (before !== undefined && before.count > 0 && ports.clock.now() <= before.untilAt)
      return this.#use(before);
    const isBusy = before?.count === 0 && ports.clock.now() - before.untilAt < BUSY_MS;
    this.#wanted = isBusy ? Math.min(this.#wanted * 2, shareOf(this.#perSecond)) : 1;
    try {
      for (let lap = 0; lap < MAX_LAPS; lap += 1) {
        // The record that this process wrote last may still be the latest: try without reading it.
        if (lap > 0) {
          await ports.clock.sleep(Math.floor(ports.random.number() * GAP_MS * lap));
          this.#known = await rates.read(this.#agent);
        }
        const asked = { ...asking, wanted: this.#wanted };
        const now = { now: ports.clock.now(), writeId: ports.random.id() };
        const given = withSlots(this.#known, this.#agent, this.#perSecond, asked, now);
        if ((await rates.write(given.record)) === 'conflict') continue;
        this.#known = given.record;
        return 'turnAt' in given ? { turnAt: given.turnAt } : this.#use(given.slots);
      }
    } catch {
      ports.log.note({ what: 'rate-unread', agent: this.#agent });
    }
    this.#known = undefined;
    return 'unread';
  }

  #use(slots: Slots): Slots {
    this.#slots = { ...slots, count: slots.count - 1 };
    return slots;
  }
}
