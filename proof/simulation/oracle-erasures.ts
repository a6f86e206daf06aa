/**
 * Judges erasures by the contents of table and bucket afterwards.
 *
 * Owns: an erased execution had correctly ended; it is completely removed, with its objects, and never
 * returns. Does not own: later acts of it (`ledger.ts`), executions that wait for it (L1).
 */

import type { Found, Removable } from '../../lib/core/supervision/audit.ts';
import { besideOf } from '../../lib/core/supervision/audit.ts';
import type { StoredValue } from '../../lib/core/ports.ts';
import { START_MS } from '../../lib/core/records/retention.ts';
import { rootOf } from '../../lib/core/values/names.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { KindCounts } from './kinds.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

interface World {
  readonly table: MemoryTable;
  readonly kinds: KindCounts;
  readonly violate: (about: string, problem: string) => void;
  /** All objects, and when each was stored. */
  readonly objects: () => readonly StoredValue[];
  readonly now: () => number;
  /** Called to judge and count an execution just before its erasure. */
  readonly goes: (id: string) => void;
  /** How long an execution's own attempts may still act, in ms. */
  readonly actsFor: (id: string) => number;
}

export class OracleErasures {
  readonly #world: World;
  /** Unfinished erasures, whose calls must be repeated. */
  readonly #underWay = new Set<string>();
  /** Lives that were judged before their erasure; children may outlast the call. */
  readonly #gone = new Set<string>();
  /** Ids that were erased: another life may have begun since. */
  readonly #ids = new Set<string>();
  /** Lives that were erased. */
  readonly lives = new Set<string>();
  /** When each life was created. */
  readonly #bornAt = new Map<string, number>();
  /** When the record of each was removed. */
  readonly #goneAt = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  remove(found: Removable): 'removed' | 'conflict' {
    const { table, kinds, violate, goes, actsFor } = this.#world;
    if (found.kind !== 'execution') return table.remove(found);
    const { id, wakeAt, writeId, life } = found.execution;
    if (table.read(id)?.execution.writeId !== writeId) return 'conflict';
    if (wakeAt !== undefined) violate(id, 'E1 it is erased while it is open');
    const leftMs = actsFor(id);
    if (leftMs > CLOCKS_DIFFER_MS) violate(id, `E1 it is erased, and may act for ${leftMs} ms`);
    // Judges descendants together with their root.
    const isRoot = found.execution.parent === undefined;
    const all = isRoot ? [...table.ids()].filter((one) => one === id || one.startsWith(`${id}.`)) : [];
    for (const one of all) if (!this.hasGone(one)) goes(one);
    for (const one of all) this.#gone.add(table.read(one)?.execution.life ?? '');
    const removed = table.remove(found);
    this.lives.add(life);
    this.#goneAt.set(life, this.#world.now());
    this.#ids.add(id);
    kinds.erased += 1;
    if (!isRoot) kinds.erasedChild += 1;
    return removed;
  }

  hasGone(id: string): boolean {
    return this.#gone.has(this.#world.table.read(id)?.execution.life ?? '');
  }

  /** Notes a request of an erasure. @returns functions to call when it is complete or refused */
  asked(id: string): { readonly over: () => void; readonly refused: () => void } {
    const { table, violate, objects } = this.#world;
    const { life: of } = table.read(id)?.execution ?? {};
    const end = (): unknown => this.#underWay.delete(id);
    this.#underWay.add(id);
    return {
      refused: end,
      over: () => {
        end();
        if (of === undefined || !this.lives.has(of)) return;
        const left = [id, ...[...table.ids()].filter((one) => one.startsWith(`${id}.`))].flatMap((one) =>
          table.recordsOf(one).filter((found) => this.#isErased(found) && !isClaim(found)),
        );
        const below = table.read(id) === undefined ? this.#below(id, of) : [];
        const kept = objects().filter((one) => this.#isKept(one, id, of));
        if (left.length + below.length + kept.length > 0)
          violate(
            id,
            `E2 it is erased, and there are left ${nameOf(left)} ${below.join()} ${kept.map(({ key }) => key).join()}`,
          );
      },
    };
  }

  /**
   * Executions below it. Those of an earlier life, whose erasure died and was not repeated before its key was
   * used again, are left to the audit (seed 50799).
   */
  #below(id: string, of: string): string[] {
    const { table } = this.#world;
    const bornAt = this.#bornAt.get(of) ?? 0;
    return [...table.ids()]
      .filter((one) => one.startsWith(`${id}.`))
      .filter((one) => (this.#bornAt.get(table.read(one)?.execution.life ?? '') ?? 0) >= bornAt);
  }

  /**
   * True if the erasure should have found the object. A young one of another life may be that of a start
   * under way (seed 51696), and a process with an older state may store one afterwards (seed 54254): the
   * audit removes both.
   */
  #isKept({ key, storedAt }: StoredValue, id: string, of: string): boolean {
    const [, executionId = '', life = ''] = key.split('/');
    const goneAt = this.#goneAt.get(life);
    if (goneAt === undefined || !(executionId === id || executionId.startsWith(`${id}.`))) return false;
    const isOfThisLife = goneAt >= (this.#bornAt.get(of) ?? 0);
    return storedAt < (isOfThisLife ? goneAt : this.#world.now() - START_MS);
  }

  #isErased(found: Found): boolean {
    if (found.kind === 'execution') return this.lives.has(found.execution.life);
    return (found.kind === 'step' || found.kind === 'question') && this.lives.has(besideOf(found).life);
  }

  created({ id, life, parent }: Execution): void {
    this.#bornAt.set(life, this.#world.now());
    if (parent === undefined && this.#ids.has(id)) this.#world.kinds.begunAgain += 1;
    if (this.lives.has(life)) this.#world.violate(id, 'E2 it is created again after its erasure');
  }

  /** Judges remains: only a claim by a process frozen in its write may exist; the audit removes it. */
  judgeEnd(): void {
    const { table, violate } = this.#world;
    for (const found of this.lives.size === 0 ? [] : table.found()) {
      const id = found.kind === 'execution' ? found.execution.id : found.executionId;
      const isBelow = found.kind === 'execution' && this.#gone.has(found.execution.life);
      if (!(isBelow || this.#isErased(found)) || this.#underWay.has(rootOf(id))) continue;
      if (!isClaim(found)) violate(nameOf([found]), 'E2 a record is of an execution that was erased');
    }
  }
}

const isClaim = (found: Found): boolean => found.kind === 'step' && found.step.version === 1;

const nameOf = (left: readonly Found[]): string =>
  left
    .map((found) => (found.kind === 'execution' ? found.execution.id : `${found.executionId} ${found.kind}`))
    .join();
