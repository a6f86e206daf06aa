/**
 * All records of an execution, as found in one read.
 *
 * Owns: the shape, and what an execution's questions to people say about it. Does not own: the records.
 */

import {
  asCallback,
  asIncident,
  type CallbackQuestion,
  type Incident,
  isIncident,
  isOpen,
  type Question,
  questionKey,
} from './question.ts';
import { defined } from '../values/defined.ts';
import type { KnownMailbox } from './mailbox.ts';
import type { Pause } from './pauses.ts';
import type { Execution, Step } from './state.ts';

/** One strongly consistent read of an execution's partition. */
export interface Snapshot {
  readonly execution: Execution;
  readonly steps: Readonly<Record<string, Step>>;
  /** By incident number, or by step of an approval or callback; absent if there never was one. */
  readonly questions?: Readonly<Record<string, Question>>;
  /**
   * Values stored outside the table that the reading process has loaded; absent if there is no such store.
   */
  readonly values?: KnownValues;
  /** The mailbox, read after these records and valid for no later ones; absent if it was not read. */
  readonly mailbox?: KnownMailbox;
  /** Set if it has records of some steps only, and no questions. */
  readonly isReadInPart?: true;
}

/** A process's knowledge of values that are stored outside the table. */
export interface KnownValues {
  /** The keys of values that can no longer be read. */
  readonly lost: ReadonlySet<string>;
}

type Questions = Pick<Snapshot, 'questions'>;

const questionsIn = ({ questions }: Questions): Question[] =>
  questions === undefined ? [] : Object.values(questions);

/** All incidents, by number. */
export const incidentsIn = (snapshot: Questions): Incident[] => questionsIn(snapshot).filter(isIncident);

export const openIncidents = (snapshot: Questions): Incident[] => incidentsIn(snapshot).filter(isOpen);

export const openQuestions = (snapshot: Questions): Question[] => questionsIn(snapshot).filter(isOpen);

export const incidentIn = ({ questions }: Questions, number: number): Incident | undefined =>
  asIncident(questions?.[number]);

/** The question of an approval or callback step, open or closed. */
export const callbackOf = ({ questions }: Questions, step: string): CallbackQuestion | undefined =>
  asCallback(questions?.[step]);

export const withQuestion = (snapshot: Questions, question: Question | undefined): Questions =>
  question === undefined
    ? snapshot
    : { questions: { ...snapshot.questions, [questionKey(question)]: question } };

/** The state after our own write, without a read. The mailbox is unknown then. */
export function withWrite(state: Snapshot, write: Written | undefined): Snapshot {
  if (write === undefined) return state;
  const { step, execution = state.execution } = write;
  const steps = step === undefined ? state.steps : { ...state.steps, [step.name]: step };
  const { questions } = withQuestion(state, write.question);
  const { values, isReadInPart } = state;
  return { execution, steps, ...defined({ questions, values, isReadInPart }) };
}

interface Written {
  readonly execution?: Execution;
  readonly step?: Step;
  readonly question?: Question;
}

/** True if a change of a question is not announced yet. */
export const hasUnannounced = (snapshot: Questions): boolean =>
  questionsIn(snapshot).some(({ unannounced }) => unannounced !== undefined);

/** True if a person is asked about something that went wrong. */
export const needsPerson = (snapshot: Questions): boolean => openIncidents(snapshot).length > 0;

/** True if a person or an external party is asked. */
export const isAsking = (snapshot: Questions): boolean => openQuestions(snapshot).length > 0;

/**
 * True if a person is asked, so that the execution waits. A callback asks an external party, not a person.
 */
export const isPersonAsked = (snapshot: Questions): boolean =>
  openQuestions(snapshot).some(({ kind }) => kind !== 'callback');

/** The number of the next incident. */
export const incidentNumber = (snapshot: Questions): number =>
  (incidentsIn(snapshot).at(-1)?.number ?? 0) + 1;

/** The incident about this pause, open or closed. */
export const askedAboutPause = (state: Questions, pause: Pause): Incident | undefined =>
  incidentsIn(state).find(({ kind, stepVersion }) => kind === 'pause' && stepVersion === pause.number);
