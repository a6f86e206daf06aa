/**
 * The questions for people below an execution: the open questions of executions that its steps run.
 *
 * Owns: which questions these are, and their text. Does not own: reading them (`Store.asked`). A parent's own
 * record does not have them, because no child writes to it before the child's end.
 */

import type { Bounded } from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import { keyPartOf } from '../core/values/names.ts';
import { defined } from '../core/values/defined.ts';
import { countText, timeText } from '../core/values/text.ts';
import type { Next } from './words.ts';

/** How many people's questions are open in executions that the steps of this one run, and the most urgent. */
export interface AskedBelow {
  readonly count: number;
  /** Set if there are more than `count`. */
  readonly atLeast?: true;
  /** The question with the earliest deadline for an answer. */
  readonly next: Pick<InboxKey, 'executionId' | 'kind' | 'deadlineAt'>;
}

/**
 * Counts the questions for people. Callbacks do not count, because their external party is not a person.
 * @param step counts only questions below this step of the execution
 */
export function askedBelow(
  { items, atLeast }: Bounded<InboxKey>,
  executionId: string,
  step?: string,
): AskedBelow | undefined {
  const start = `${executionId}.${step === undefined ? '' : `${keyPartOf(step)}.`}`;
  const below = items.filter((one) => one.kind !== 'callback' && one.executionId.startsWith(start));
  const [first] = below.toSorted((one, other) => one.deadlineAt - other.deadlineAt);
  if (first === undefined) return undefined;
  const { openedAt: _openedAt, ...next } = first;
  return { count: below.length, next, ...defined({ atLeast }) };
}

/** 'waits for people: 2 questions, the first until 12:00, in execution a.rooms.0'. */
export function askedText(asked: AskedBelow): string {
  const { count, next } = asked;
  const first = count === 1 ? '' : 'the first ';
  return `waits for people: ${questionsText(asked)}, ${first}until ${timeText(next.deadlineAt)}, in execution ${next.executionId}`;
}

/** '≥ 10,000 questions'. */
export const questionsText = ({ count, atLeast }: Omit<AskedBelow, 'next'>): string =>
  `${countText(count, atLeast)} ${count === 1 ? 'question' : 'questions'}`;

/** Adds a question for a person to the beginning of the text. */
export const withAsked = (because: string, asked: AskedBelow | undefined): string =>
  asked === undefined ? because : `it ${askedText(asked)}; ${because}`;

export const answerBelow = (asked: AskedBelow | undefined): Next | undefined =>
  asked && {
    what: `a person answers the question of execution ${asked.next.executionId}`,
    at: asked.next.deadlineAt,
    who: 'person',
  };
