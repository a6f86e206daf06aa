/**
 * An account in memory, in which agents take new leases as long as they are on, and
 * which may break down at any call.
 *
 * Owns: what is on, what is leased, what is kept; and the promises of the order, checked at each call.
 */

import type { Account, Former, Kind, Leases, Part, Role, Value } from '../../../cli/quiesce/account.ts';
import type { Clock } from '../../../cli/io.ts';

export interface Given {
  readonly role: Role;
  readonly kind: Kind;
  readonly state: Value;
}

export class Crash extends Error {}

const OFF: Value = 'off';
const ALLOWANCE_MS = 10_000;

export class MemoryAccount implements Account, Clock {
  /** What each part is now; a former state, or 'off'. */
  readonly states = new Map<string, Value>();
  readonly kept: Former[] = [];
  readonly broken: string[] = [];
  readonly events: string[] = [];
  #parts: readonly (Part & { readonly state: Value })[];
  /** Calls until it breaks down; before the effect of the last or after it. */
  crash: { left: number; readonly after: boolean } | undefined;
  openCount = 0;
  #now = 1_700_000_000_000;
  /** When each process is dead for certain. */
  #deadlines: number[] = [];
  /** Stopped, and still stopping for so many reads. */
  readonly #stopping = new Map<string, number>();

  constructor(given: readonly Given[]) {
    this.#parts = given.map((each, at) => ({ ...each, id: `${each.role}-${at}`, tailMs: at * 1_000 }));
    for (const { id, state } of this.#parts) this.states.set(id, state);
    this.#work();
  }

  /** A deployment: turns on what there was, and adds a part. */
  deploy(on: readonly string[], added: Given): void {
    for (const id of on) this.states.set(id, this.#parts.find((part) => part.id === id)?.state ?? OFF);
    const id = `${added.role}-${this.#parts.length}`;
    this.#parts = [...this.#parts, { ...added, id, tailMs: 0 }];
    this.states.set(id, added.state);
  }

  now(): number {
    return this.#now;
  }

  async sleep(ms: number): Promise<void> {
    this.#now += ms;
    this.#work();
    if (this.#isOn('work') && this.openCount > 0) this.openCount -= 1;
  }

  async find(): Promise<readonly Part[]> {
    return this.#parts.map(({ role, kind, id, tailMs }) => ({ role, kind, id, tailMs }));
  }

  async state({ id }: Former | Part): Promise<Value | undefined> {
    return this.states.get(id);
  }

  stop(part: Former): Promise<boolean> {
    return this.#change(`stop ${part.id}`, () => {
      const former = this.kept.find(({ id }) => id === part.id);
      const original = this.#parts.find(({ id }) => id === part.id)?.state;
      if (JSON.stringify(former?.state) !== JSON.stringify(original)) this.broken.push(`Q1: ${part.id}`);
      if (part.role === 'work' && this.#isOn('start')) this.broken.push(`agents before starts: ${part.id}`);
      if (part.role === 'supervision' && (this.#isOn('work') || this.#leased().length > 0))
        this.broken.push(`supervision before the last lease: ${part.id}`);
      if (this.states.get(part.id) !== OFF) this.#stopping.set(part.id, 2);
      this.states.set(part.id, OFF);
      return true;
    });
  }

  restore(part: Former): Promise<boolean> {
    return this.#change(`restore ${part.id}`, () => {
      if (part.role === 'start' && this.#offNow('work').length > 0)
        this.broken.push(`starts before agents: ${part.id}`);
      this.states.set(part.id, part.state);
      return true;
    });
  }

  async isStopped({ id }: Former | Part): Promise<boolean> {
    return this.states.get(id) === OFF;
  }

  async runs({ id }: Former): Promise<boolean> {
    const left = this.#stopping.get(id) ?? 0;
    this.#stopping.set(id, left - 1);
    return left > 0;
  }

  async leases(at: number): Promise<Leases> {
    const live = this.#deadlines.filter((deadline) => deadline > at);
    return { count: live.length, lastAt: Math.max(0, ...live) };
  }

  async open(): Promise<number> {
    return this.openCount;
  }

  async load(): Promise<readonly Former[]> {
    return structuredClone(this.kept);
  }

  save(formers: readonly Former[]): Promise<void> {
    return this.#change('save', () => {
      for (const former of formers) {
        if (this.kept.some(({ id }) => id === former.id)) this.broken.push(`Q1: kept twice: ${former.id}`);
        this.kept.push(structuredClone(former));
      }
    });
  }

  forget(): Promise<void> {
    return this.#change('forget', () => {
      for (const { id, state } of this.kept)
        if (JSON.stringify(this.states.get(id)) !== JSON.stringify(state)) this.broken.push(`Q2: ${id}`);
      this.kept.length = 0;
    });
  }

  get leasedNow(): number {
    return this.#leased().length;
  }

  async #change<Result>(event: string, effect: () => Result): Promise<Result> {
    const crash = this.crash;
    if (crash !== undefined) crash.left -= 1;
    const isLast = crash?.left === 0;
    if (isLast && !crash?.after) throw new Crash(event);
    this.events.push(event);
    const result = effect();
    if (isLast) throw new Crash(event);
    return result;
  }

  #isOn(role: Role): boolean {
    return this.#parts.some((part) => part.role === role && this.states.get(part.id) !== OFF);
  }

  #offNow(role: Role): readonly Part[] {
    return this.#parts.filter(
      (part) => part.role === role && this.states.get(part.id) === OFF && part.state !== OFF,
    );
  }

  #leased(): readonly number[] {
    return this.#deadlines.filter((deadline) => deadline > this.#now - ALLOWANCE_MS);
  }

  /** One agent that is on begins something, and its process may be alive for a minute. */
  #work(): void {
    if (this.#isOn('work')) this.#deadlines.push(this.#now + 60_000);
  }
}
