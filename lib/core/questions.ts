/**
 * The record of an incident through its life: how every question is put, and how it is closed.
 *
 * Owns: the transaction that asks, the record as it is answered, and whether an execution then waits for nobody. Does not
 * own: when to ask and what may be answered (`incidents.ts` about steps, `pause.ts`, `overtime.ts`), what an answer writes
 * beside it (`answers.ts`).
 *
 * L1 asking draws the watch near, for a question has a deadline. S10 a question is closed in the same write as what its
 * answer changes.
 */

import type { Concern, Decision } from './decision.ts';
import { type Choice, type Incident, incidentNumber, openIncidents, type Snapshot } from './state.ts';
import { executionAfter, noLater, type Stamp } from './write.ts';

/** What a question asks. */
type Question = Pick<
  Incident,
  'kind' | 'step' | 'stepVersion' | 'failure' | 'openedAt' | 'deadlineAt' | 'otherwise'
>;

/** @param watchAt when it is looked at next, if not before */
export function asking(
  state: Snapshot,
  question: Question,
  watchAt: number,
  concern: Concern,
  stamp: Stamp,
): Decision {
  const { execution } = state;
  const { step } = question;
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'ask', stamp, { watchAt: noLater(execution, watchAt) }),
      incident: {
        number: incidentNumber(state),
        life: execution.life,
        version: 1,
        writeId: stamp.writeId,
        ...question,
      },
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern },
    notes: [{ what: 'incident-opened', executionId: execution.id, ...(step === undefined ? {} : { step }) }],
  };
}

/** A question as it is once it is answered. */
export const answered = (
  incident: Incident,
  answer: { readonly choice?: Choice; readonly by: NonNullable<Incident['by']>; readonly reason?: string },
  stamp: Stamp,
): Incident => ({
  ...incident,
  version: incident.version + 1,
  writeId: stamp.writeId,
  resolvedAt: stamp.now,
  by: answer.by,
  ...(answer.choice === undefined ? {} : { choice: answer.choice }),
  ...(answer.reason === undefined ? {} : { reason: answer.reason }),
});

/** Whether the execution waits for the answer to this question, and to no other. */
export const waitsForThisAlone = (state: Snapshot, { number }: Incident): boolean =>
  state.execution.status === 'waiting' && openIncidents(state).every((other) => other.number === number);
