/**
 * The state table of a world: a judge behind every write, and indexes that lag and refuse.
 *
 * Owns: what is reported of a write, which writes the store refuses, how late an index is. Does not own: the
 * records and their conditions (`lib/memory/table.ts`), what is judged (`world.ts`).
 */

import { questionKey } from '../../lib/core/records/question.ts';
import type { Due, Page, WriteResult } from '../../lib/core/ports.ts';
import { defined } from '../../lib/core/values/defined.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { THROTTLED } from './call-failed.ts';
import { IndexHistory } from './index-history.ts';
import { MemoryTable } from '../../lib/memory/table.ts';
import { refusalOf } from './oracle-store.ts';
import type { RefusedIndex } from './refused-index.ts';

export const INDEX_SHARDS = 2;

export interface WorldIndex {
  readonly now: () => number;
  /** How far an index lags behind the table. */
  readonly lagMs: () => number;
  readonly refuses: RefusedIndex;
  /** The number of items on a page. Absent: the table's own. */
  readonly page: number | undefined;
  readonly refuse: (executionId: string, why: string) => void;
  readonly created: (execution: Execution) => void;
}

export class WorldTable extends MemoryTable {
  readonly #onWrite: (executionId: string, before: Snapshot, write: Write) => void;
  readonly #index: WorldIndex;
  readonly #history = new IndexHistory();

  constructor(onWrite: (executionId: string, before: Snapshot, write: Write) => void, index: WorldIndex) {
    super(INDEX_SHARDS);
    this.#onWrite = onWrite;
    this.#index = index;
  }

  override create(execution: Execution): ReturnType<MemoryTable['create']> {
    const before = this.read(execution.id);
    this.#refuse(execution.id, before, { execution });
    const result = super.create(execution);
    if (result !== 'written') return result;
    this.#keep(execution.id, before);
    this.#index.created(execution);
    return result;
  }

  /** @throws Error like the real one: nothing is written */
  override write(write: Write): WriteResult {
    const before = this.read(write.executionId);
    const refusal = refusalOf(before, write);
    if (refusal !== undefined) {
      this.#index.refuse(write.executionId, refusal);
      throw new Error(`ValidationException: ${refusal}`);
    }
    this.#refuse(write.executionId, before, write);
    const result = super.write(write);
    if (result === 'written') this.#keep(write.executionId, before);
    const { life } = write.step ?? write.question ?? before?.execution ?? {};
    // A record beside an execution belongs to none (S6).
    const isOwn = before !== undefined && (write.execution !== undefined || life === before.execution.life);
    if (result === 'written' && isOwn && !isRepeated(before, write))
      this.#onWrite(write.executionId, before, write);
    return result;
  }

  override expire(executionId: string): void {
    const before = this.read(executionId);
    super.expire(executionId);
    this.#keep(executionId, before);
  }

  /** An index may show an older state: items that have moved on, and not yet the new ones. */
  override due(shard: number, untilAt: number, cursor?: string): Page<Due> {
    const lagMs = this.#index.lagMs();
    const then =
      lagMs === 0
        ? undefined
        : this.#asOf(lagMs).flatMap(({ execution: { id: executionId, wakeAt, fairGroup: group } }) =>
            wakeAt === undefined || this.shardOf(executionId) !== shard
              ? []
              : [{ executionId, wakeAt, ...defined({ group }) }],
          );
    const page = super.due(shard, untilAt, cursor, this.#index.page, then);
    // Items that are due at the same time come in any order.
    const { items } = page;
    if (!items.some(({ wakeAt }, at) => wakeAt === items[at + 1]?.wakeAt)) return page;
    return { ...page, items: items.toReversed().sort((a, b) => a.wakeAt - b.wakeAt) };
  }

  protected override indexed(): Iterable<Snapshot> {
    const lagMs = this.#index.lagMs();
    return lagMs === 0 ? super.indexed() : this.#asOf(lagMs);
  }

  #asOf(lagMs: number): Snapshot[] {
    return this.#history.asOf(this.#index.now() - lagMs, super.indexed());
  }

  #keep(executionId: string, before: Snapshot | undefined): void {
    this.#history.replaced(this.#index.now(), executionId, before);
  }

  /** @throws Error as a caller gets it if an index has no capacity for its write */
  #refuse(executionId: string, before: Snapshot | undefined, write: Omit<Write, 'executionId'>): void {
    const { now, refuses } = this.#index;
    if (refuses(now(), this.shardOf(executionId), before, write)) throw THROTTLED;
  }
}

const isRepeated = (before: Snapshot, { execution, step, question }: Write): boolean =>
  execution?.writeId === before.execution.writeId ||
  (question !== undefined && question.writeId === before.questions?.[questionKey(question)]?.writeId) ||
  (step !== undefined && step.writeId === before.steps[step.name]?.writeId);
