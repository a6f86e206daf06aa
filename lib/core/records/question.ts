/**
 * The record of a question to a person or an external party: an incident, an approval or a callback.
 *
 * Owns: the shapes, the possible choices, when a question's deadline applies. Does not own: its life
 * (`questions/life.ts`), opening an incident (`questions/incident.ts`) and the writes of a resolution
 * (`operators/incidents.ts`), both for approvals and callbacks (`questions/callback.ts`).
 *
 * An incident is identified by its number. An approval or a callback is identified by its step: a retry of
 * the execution opens it again.
 */

import type { Caller } from '../values/caller.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import type { Json } from '../values/json.ts';
import type { Root } from './children.ts';
import { type Execution } from './state.ts';

/** A person's possible decisions about an incident. */
export const CHOICES = [
  'retry',
  'retry-with-input',
  'give-output',
  'skip',
  'resume',
  'undo-all',
  'continue',
  'keep',
] as const;
export type Choice = (typeof CHOICES)[number];

/** The changes of a question; each is announced on the event bus. */
export type QuestionChange = 'opened' | 'reminded' | 'closed';

/** Fields copied from the execution, so that an inbox need not read it. */
export interface QuestionSubject {
  readonly workflow: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** For a workflow that a step runs: the topmost execution, which was started from outside. */
  readonly root?: Root;
}

export const subjectOf = ({ workflow, tags, parent }: Execution): QuestionSubject => ({
  workflow,
  ...defined({ tags, root: parent?.root }),
});

interface Asked extends QuestionSubject {
  /** The life of its execution, as in a step. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  readonly openedAt: number;
  /** When the time for an answer is over. A missing heartbeat may end a callback's time sooner. */
  readonly deadlineAt: number;
  /** Reminders so far, since it was opened. */
  readonly reminders: number;
  readonly remindedAt?: number;
  /** When the next reminder is due; absent if none is declared, or none comes before the deadline. */
  readonly remindAt?: number;
  /** The changes not announced yet, in order; absent if there are none. */
  readonly unannounced?: readonly QuestionChange[];
  readonly closedAt?: number;
  /** `deadline`: no answer came in time. `moot`: the execution went another way. */
  readonly closedBy?: 'answer' | 'deadline' | 'moot';
}

/** A question to a person about what went wrong, with the answers that are safe now. */
export interface Incident extends Asked {
  readonly number: number;
  /**
   * `recovery`: no automatic try is left. `undo`: an effect could not be undone. `pause`: no operator has
   * ended a pause within its time; it concerns no step. `deadline`: the execution's time is over, and it
   * cannot be undone.
   */
  readonly kind: 'recovery' | 'undo' | 'pause' | 'deadline';
  /** For `deadline`: a step that is not over and has no attempt under way, if there is one. */
  readonly step?: string;
  /**
   * The step's version when the incident was opened: if a later version needs a person, that is another
   * incident. For kind `pause`: the pause's number.
   */
  readonly stepVersion: number;
  readonly failure: Failure;
  /**
   * Only for `recovery`: the agent's answer, as text cut at 4 KB, if the work is done but this is not a valid
   * output.
   */
  readonly wrongAnswer?: string;
  /** The choice that applies when the time is over. */
  readonly otherwise: Choice;
  /** The latest pause whose time was added to the deadline, by its number. */
  readonly movedFor?: number;
  /**
   * Set if the incident is not announced, because the same question about another item of the execution was.
   * It is still asked and answered separately.
   */
  readonly quiet?: true;
  readonly choice?: Choice;
  /** The person, if the gateway names one. */
  readonly caller?: Caller;
  readonly reason?: string;
  /**
   * The id of the bulk command that answered the question, if one did; a repetition of the command is
   * recognised by it.
   */
  readonly commandId?: string;
}

/** An approval or a callback whose turn has come. */
export interface CallbackQuestion extends Asked {
  readonly kind: 'approval' | 'callback';
  readonly step: string;
  /** The answer that applies at the deadline. */
  readonly otherwise: 'approve' | 'reject' | 'fail';
  /** The values, by name, that an approval showed when it was opened; absent if none. */
  readonly shown?: Readonly<Record<string, Json>>;
  /** Absent while it is open, and if it is moot. */
  readonly outcome?: 'done' | 'failed';
}

export type Question = Incident | CallbackQuestion;

/** An open question with the fields that the index has. */
export interface InboxKey {
  readonly executionId: string;
  readonly kind: Question['kind'];
  readonly openedAt: number;
  readonly deadlineAt: number;
}

export const isIncident = (question: Question): question is Incident => 'number' in question;

export const asIncident = (question: Question | undefined): Incident | undefined =>
  question !== undefined && isIncident(question) ? question : undefined;

export const asCallback = (question: Question | undefined): CallbackQuestion | undefined =>
  question === undefined || isIncident(question) ? undefined : question;

/** The key of a question in a snapshot: the number of an incident, otherwise the name of the step. */
export const questionKey = (question: Question): string =>
  isIncident(question) ? String(question.number) : question.step;

export const isOpen = ({ closedAt }: Pick<Question, 'closedAt'>): boolean => closedAt === undefined;

/**
 * True if the incident's deadline applies now: during a pause only that of the incident about the pause does.
 */
export const holdsNow = (execution: Execution, { kind }: Incident): boolean =>
  kind === 'pause' || execution.status !== 'paused';
