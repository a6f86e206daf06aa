/**
 * Caches the executions that a process works on, so that it reads each of them once. The process must be the
 * only one that writes to its file.
 *
 * Owns: which executions are remembered, and until when. Does not own: the store behind it, which checks the
 * condition of every write. A stale cache entry is harmless: the write based on it is refused, and the
 * execution is read again.
 *
 * Invariants
 * - I1 an entry is a read plus writes that were answered `written`, each one version further. In any other
 *   case the entry is dropped.
 * - I2 the cache changes before a write is answered, so that the writer reads its own write.
 * - I3 ended and large executions are not cached.
 */

import { questionKey } from '../lib/core/records/question.ts';
import type { Write } from '../lib/core/decisions/decision.ts';
import type { Store } from '../lib/core/ports.ts';
import { type Snapshot, withWrite } from '../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../lib/core/records/state.ts';

/** About 30 KB each. */
const MOST_EXECUTIONS = 1_000;
/** The limit for the records of one execution, in characters. */
const MOST_CHARS = 20_000;
/** The size of a record without the data of authors and callers. */
const RECORD_CHARS = 500;
/** The overhead of a value, in characters. */
const VALUE_CHARS = 8;

interface Known {
  readonly state: Snapshot;
  /** A lower bound of its size: the characters of its values. */
  readonly chars: number;
}

/** A read in progress: its result may lack writes made meanwhile. */
interface Reading {
  readonly state?: never;
}

/** @param most the most executions in the cache; the least recently written leave first */
export function knownExecutions(store: Store, most: number = MOST_EXECUTIONS): Store {
  const known = new Map<string, Known | Reading>();
  const keep = (id: string, state: Snapshot, chars: number): void => {
    known.delete(id);
    if (chars > MOST_CHARS || state.execution.wakeAt === undefined) return;
    known.set(id, { state, chars });
    const [oldest] = known.size > most ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
  };
  const read: Store['read'] = async (id) => {
    const before = known.get(id)?.state;
    if (before !== undefined) return before;
    const reading: Reading = {};
    known.set(id, reading);
    const isStill = (): boolean => known.get(id) === reading;
    try {
      const state = await store.read(id);
      if (state !== undefined && isStill()) keep(id, state, charsIn(state));
      return state;
    } finally {
      if (isStill()) known.delete(id);
    }
  };
  const write: Store['write'] = async (changes) => {
    const id = changes.executionId;
    let isWritten = false;
    try {
      const result = await store.write(changes);
      isWritten = result === 'written';
      return result;
    } finally {
      const before = known.get(id);
      if (isWritten && before?.state !== undefined && follows(changes, before.state))
        keep(id, withWrite(before.state, changes), before.chars + charsOfWrite(changes));
      else known.delete(id);
    }
  };
  return {
    ...store,
    read,
    write,
    readExecution: async (id) => known.get(id)?.state?.execution ?? store.readExecution(id),
    readSteps: async (id, steps, withInput) =>
      known.get(id)?.state ?? store.readSteps?.(id, steps, withInput) ?? read(id),
  };
}

/** Whether each record is the next version of the cached one, in the same life. */
function follows({ execution, step, question }: Write, before: Snapshot): boolean {
  const { life } = before.execution;
  const isNext = (
    next: Pick<Execution, 'version' | 'life'> | undefined,
    last: { readonly version: number } | undefined,
  ): boolean => next === undefined || (next.life === life && next.version === (last?.version ?? 0) + 1);
  return (
    isNext(execution, before.execution) &&
    isNext(step, step && before.steps[step.name]) &&
    isNext(question, question && before.questions?.[questionKey(question)])
  );
}

const charsIn = ({ execution, steps, questions }: Snapshot): number =>
  charsOfWrite({ executionId: execution.id, execution }) +
  Object.values(steps).reduce((sum, step) => sum + charsOfStep(step), 0) +
  charsOf(questions);

const charsOfWrite = ({ execution, step, question }: Write): number =>
  (execution === undefined
    ? 0
    : RECORD_CHARS + charsOf([execution.input, execution.output, execution.tags])) +
  (step === undefined ? 0 : charsOfStep(step)) +
  charsOf(question);

const charsOfStep = ({ output, children, attempts, keyInput, givenInput }: Step): number =>
  RECORD_CHARS + charsOf([output, children, keyInput, givenInput]) + attempts.length * RECORD_CHARS;

function charsOf(value: unknown): number {
  if (typeof value === 'string') return VALUE_CHARS + value.length;
  let chars = VALUE_CHARS;
  if (typeof value !== 'object' || value === null) return chars;
  for (const name in value) chars += charsOf(value[name as keyof typeof value]);
  return chars;
}
