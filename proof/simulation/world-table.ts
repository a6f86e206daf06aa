/**
 * The state table of a world: a judge behind every write, and an index that lags.
 *
 * Owns: what is reported of a write, what the store refuses, what the index shows late. Does not own: the
 * records and their conditions (`lib/testing/memory-table.ts`), what is judged (`world.ts`).
 */

import { questionKey } from '../../lib/core/records/question.ts';
import type { Due, Page, WriteResult } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { MemoryTable } from '../../lib/testing/memory-table.ts';
import { refusalOf } from './oracle-store.ts';

const SHARDS = 2;

export interface WorldIndex {
  readonly lagMs: () => number;
  /** Items to a page; absent: as the table has them. */
  readonly page: number | undefined;
  readonly refuse: (executionId: string, why: string) => void;
  readonly created: (execution: Execution) => void;
}

export class WorldTable extends MemoryTable {
  readonly #onWrite: (executionId: string, before: Snapshot, write: Write) => void;
  readonly #index: WorldIndex;

  constructor(onWrite: (executionId: string, before: Snapshot, write: Write) => void, index: WorldIndex) {
    super(SHARDS);
    this.#onWrite = onWrite;
    this.#index = index;
  }

  override create(execution: Execution): ReturnType<MemoryTable['create']> {
    const result = super.create(execution);
    if (result === 'written') this.#index.created(execution);
    return result;
  }

  /** @throws Error as the real one does: nothing is written */
  override write(write: Write): WriteResult {
    const before = this.read(write.executionId);
    const refusal = refusalOf(before, write);
    if (refusal !== undefined) {
      this.#index.refuse(write.executionId, refusal);
      throw new Error(`ValidationException: ${refusal}`);
    }
    const result = super.write(write);
    if (result === 'written' && before !== undefined && !isRepeated(before, write))
      this.#onWrite(write.executionId, before, write);
    return result;
  }

  /** The index may show what was a while ago: items that have moved on, and not yet those that came. */
  override due(shard: number, untilAt: number, cursor?: string): Page<Due> {
    const page = super.due(shard, untilAt - this.#index.lagMs(), cursor, this.#index.page);
    // What is due at the same time comes in any order.
    const { items } = page;
    if (!items.some(({ wakeAt }, at) => wakeAt === items[at + 1]?.wakeAt)) return page;
    return { ...page, items: items.toReversed().sort((a, b) => a.wakeAt - b.wakeAt) };
  }
}

const isRepeated = (before: Snapshot, { execution, step, question }: Write): boolean =>
  execution?.writeId === before.execution.writeId ||
  (question !== undefined && question.writeId === before.questions?.[questionKey(question)]?.writeId) ||
  (step !== undefined && step.writeId === before.steps[step.name]?.writeId);
