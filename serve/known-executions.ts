/**
 * The store of a process that has its file alone: it remembers the executions that it works on, and reads
 * each of them once.
 *
 * Owns: which executions are remembered, and until when. Does not own: the store behind it, which makes every
 * write under its condition. Nothing relies on the memory: a decision that it misled is refused, like one
 * that came too late, and the execution is read again.
 *
 * Invariants
 * - I1 what is remembered follows from a read by writes that were answered `written`, each one version on.
 *   Where that cannot be said, nothing is remembered.
 * - I2 the memory changes before a write is answered, so that who has written reads it.
 * - I3 an execution that is over is not remembered, nor is a large one.
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
/** The size of a record without what an author or a caller gives. */
const RECORD_CHARS = 500;
/** A value takes about this many characters besides its own. */
const VALUE_CHARS = 8;

interface Known {
  readonly state: Snapshot;
  /** A lower bound: the characters of its values. */
  readonly chars: number;
}

/** A read in progress: its result may or may not contain the writes made meanwhile. */
interface Reading {
  readonly state?: never;
}

/** @param most how many executions are remembered: those that were written last */
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

/** Whether each record is the next version of the remembered one, and from the same life. */
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
