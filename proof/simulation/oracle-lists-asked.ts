/**
 * Questions about wrong answers in a list: one of them is announced as long as it is open, and the others
 * are quiet beside it, never instead of it.
 *
 * Owns: these checks across all executions of a list, and a book of which questions were announced, and when.
 * Does not own: that what is announced was written (`oracle-reminders.ts`), which answers are wrong
 * (`oracle-answers.ts`).
 */

import type { AnnouncedLists } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { listKey } from '../../lib/core/records/announced-list.ts';
import { asIncident, type Incident, questionKey } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';

/** A process that read of a question a moment ago writes that its own is quiet. */
const MOMENT_MS = 5_000;
/** The process that took the place has so long to write its question, by clocks that differ. */
const PLACE_MS = 60_000 + 4_000;

interface Announced {
  /** True time. */
  readonly closedAt?: number;
}

interface Judge {
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly read: (executionId: string) => Snapshot | undefined;
}

export class OracleListsAsked {
  readonly #judge: Judge;
  /** By list, and by execution and question. */
  readonly #announced = new Map<string, Map<string, Announced>>();
  readonly #takenAt = new Map<string, number>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** The places with a book of when each was taken. */
  behind({ read, write }: AnnouncedLists): AnnouncedLists {
    return {
      read,
      write: async (next) => {
        const result = await write(next);
        if (result === 'written') this.#takenAt.set(next.list, this.#judge.now());
        return result;
      },
    };
  }

  /** @param isLagging its process was frozen: what it has read may be old */
  judge(problems: string[], before: Snapshot, { question }: Write, isLagging: boolean): void {
    const incident = asIncident(question);
    if (incident?.wrongAnswer === undefined) return;
    const list = this.#listOf(before.execution, incident.step);
    if (list === undefined) return;
    const now = this.#judge.now();
    const known = this.#announced.get(list) ?? new Map<string, Announced>();
    this.#announced.set(list, known);
    const key = `${before.execution.id}/${incident.number}`;
    if (incident.quiet !== true) return note(known, key, incident, now);
    if (before.questions?.[questionKey(incident)] !== undefined) return;
    this.#judge.kinds.quietQuestion += 1;
    const isBeside = [...known.values()].some(({ closedAt = now }) => closedAt >= now - MOMENT_MS);
    const isTaken = (this.#takenAt.get(list) ?? Number.NEGATIVE_INFINITY) >= now - PLACE_MS;
    if (!isBeside && !isTaken && !isLagging)
      problems.push(`L1 question ${incident.number} is quiet, and none of its list is announced and open`);
  }

  /** The list that the execution is a part of, or is within an item of. */
  #listOf({ parent }: Execution, step: string | undefined): string | undefined {
    if (parent?.part === true) return listKey(parent);
    for (let above = parent; above !== undefined; ) {
      above = this.#judge.read(above.executionId)?.execution.parent;
      if (above?.part === true) return listKey(above, step);
    }
    return undefined;
  }
}

function note(known: Map<string, Announced>, key: string, { closedAt }: Incident, now: number): void {
  const before = known.get(key) ?? {};
  known.set(key, closedAt === undefined ? before : { closedAt: before.closedAt ?? now });
}
