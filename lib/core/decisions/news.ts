/**
 * News for the event bus: ends, questions, breakers, missing agents, executions at risk.
 *
 * Owns: the shapes, and which write of an execution is news. Does not own: who announces it, and when
 * (`engine/commit.ts`, `agent/breaker.ts`, `supervisor/receipts.ts`), how it is put on the bus
 * (`aws/event-bus.ts`).
 *
 * Ends and questions are announced at least once: their records say what is not announced yet. Other news is
 * announced once and not repeated: nothing depends on it, and the table and the API show it, too.
 */

import type { Caller } from '../values/caller.ts';
import type { Root } from '../records/children.ts';
import type { Ended } from '../records/ended.ts';
import { defined } from '../values/defined.ts';
import {
  type CallbackQuestion,
  type Incident,
  isIncident,
  type Question,
  type QuestionChange,
} from '../records/question.ts';
import type { Execution } from '../records/state.ts';
import { rootOf } from '../values/names.ts';

/**
 * A change of a question. It contains no token and no comment, and of the outputs only those that the author
 * shows. A failure's message may contain a payload, so only its code is here.
 */
export interface QuestionNews
  extends Pick<Question, 'kind' | 'step' | 'openedAt' | 'deadlineAt' | 'otherwise' | 'reminders' | 'tags'>,
    Pick<Partial<Incident>, 'choice' | 'caller'>,
    Pick<CallbackQuestion, 'shown' | 'outcome'> {
  readonly about: 'question';
  readonly change: QuestionChange;
  readonly executionId: string;
  readonly workflow: string;
  /** The number of an incident; absent for an approval and a callback. */
  readonly incident?: number;
  /** The topmost execution, by which listeners can group news. Absent if it is the one that asks. */
  readonly root?: Root & { readonly executionId: string };
  /** When the change was written. */
  readonly at: number;
  /** The execution's `life`, set only if it was started with a `callbackUrl`. */
  readonly notify?: string;
  /** The code of the failure that an incident is about. */
  readonly code?: string;
  readonly closedBy?: Question['closedBy'];
  /** The API's path of the full view. */
  readonly view: string;
}

export interface BreakerNews {
  readonly about: 'breaker';
  /** `paused` and `resumed` come from operators. */
  readonly change: 'opened' | 'closed' | 'paused' | 'resumed';
  readonly agent: string;
  readonly at: number;
  /** Only for `closed` and `resumed`: when it was opened or paused. */
  readonly since?: number;
  readonly by?: Caller;
  readonly view: string;
}

/**
 * News that executions under way need an agent that is not deployed. Sent each time the agent is newly found
 * missing.
 */
export interface MissingNews {
  readonly about: 'missing';
  readonly change: 'missing';
  readonly agent: string;
  readonly at: number;
  readonly view: string;
}

/**
 * News that an open execution may not end well or in time without help. Sent each time it becomes at risk.
 */
export interface RiskNews {
  readonly about: 'risk';
  readonly change: 'at-risk';
  readonly executionId: string;
  readonly workflow: string;
  readonly at: number;
  readonly startedAt: number;
  readonly deadlineAt: number;
  /** The path that shows why, and what comes next. */
  readonly view: string;
}

/** News that is not recorded: announced once. */
export type PassingNews = BreakerNews | MissingNews | RiskNews;

/** News that is recorded until it is announced: announced at least once. */
export type OwedNews = Ended | QuestionNews;

export type News = OwedNews | PassingNews;

/** Returns news if this write puts the execution at risk and it was not at risk before. */
export function riskNews(
  before: Pick<Execution, 'riskSince'>,
  execution: Execution | undefined,
): RiskNews | undefined {
  if (execution?.riskSince === undefined || before.riskSince !== undefined) return undefined;
  const { id, workflow, riskSince, startedAt, deadlineAt } = execution;
  return {
    about: 'risk',
    change: 'at-risk',
    executionId: id,
    workflow,
    at: riskSince,
    startedAt,
    deadlineAt,
    view: `/executions/${id}/why`,
  };
}

/**
 * Marks news of an execution that was started with a `callbackUrl`. The mark is the execution's `life`; by it
 * the sender finds the record with the URL. The URL may be a secret, so it stays in that record.
 */
export const notifying = ({
  callbackUrl,
  life,
}: Pick<Execution, 'callbackUrl' | 'life'>): { readonly notify?: string } =>
  callbackUrl === undefined ? {} : { notify: life };

export function questionNews(
  execution: Pick<Execution, 'id' | 'workflow' | 'callbackUrl' | 'life'>,
  question: Question,
  change: QuestionChange,
): QuestionNews {
  const { id, workflow } = execution;
  const { kind, step, openedAt, deadlineAt, otherwise, reminders, tags, closedBy } = question;
  const { remindedAt = openedAt, closedAt = openedAt } = question;
  const [asked, answered] = isIncident(question)
    ? [
        { incident: question.number, code: question.failure.code },
        { choice: question.choice, caller: question.caller },
      ]
    : [{ shown: question.shown }, { outcome: question.outcome }];
  return {
    about: 'question',
    change,
    executionId: id,
    workflow,
    ...notifying(execution),
    kind,
    at: { opened: openedAt, reminded: remindedAt, closed: closedAt }[change],
    openedAt,
    deadlineAt,
    otherwise,
    reminders,
    ...defined({ step, tags, root: rootAbove(id, question), ...asked }),
    ...(change === 'closed' ? defined({ closedBy, ...answered }) : {}),
    view: `/executions/${id}`,
  };
}

/** If the question is of a part of the root's own list, its workflow and tags are already the root's. */
function rootAbove(id: string, { workflow, tags, root }: Question): QuestionNews['root'] {
  const executionId = rootOf(id);
  return executionId === id ? undefined : { executionId, ...(root ?? { workflow, ...defined({ tags }) }) };
}
