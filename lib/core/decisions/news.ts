/**
 * What is announced on the event bus: ends, questions, breakers, agents that are missing, executions at risk.
 *
 * Owns: the shapes, and which write of an execution is news. Does not own: who announces it,
 * and when (`engine/commit.ts`, `agent/breaker.ts`, `supervisor/receipts.ts`), how it is
 * put on the bus (`aws/event-bus.ts`).
 *
 * Ends and questions are announced at least once: their records say what is not announced yet. The rest is
 * announced once and not again: nothing rests on it, and the table and the API have it.
 */

import type { Caller } from '../values/caller.ts';
import type { Ended } from '../records/ended.ts';
import { given } from '../values/given.ts';
import type { EntryNews } from '../records/entry.ts';
import type { Incident, IncidentChange } from '../records/incident.ts';
import type { Execution } from '../records/state.ts';

export interface IncidentNews
  extends Pick<
    Incident,
    'kind' | 'step' | 'openedAt' | 'deadlineAt' | 'otherwise' | 'choice' | 'by' | 'caller' | 'tags'
  > {
  readonly about: 'incident';
  /** Each is announced at least once. */
  readonly change: IncidentChange;
  readonly executionId: string;
  readonly workflow: string;
  readonly incident: number;
  readonly at: number;
  /** So many so far; of a reminder its own number. */
  readonly reminders: number;
  /** The code of the failure that it is about; its message may hold a payload. */
  readonly code: string;
  /** Where all of it is shown: a path of the API. */
  readonly view: string;
}

export interface BreakerNews {
  readonly about: 'breaker';
  /** `paused`, `resumed`: by an operator. */
  readonly change: 'opened' | 'closed' | 'paused' | 'resumed';
  readonly agent: string;
  readonly at: number;
  /** Since when it was open, or paused; of its end. */
  readonly since?: number;
  readonly by?: Caller;
  readonly view: string;
}

/**
 * Executions under way need an agent that is not deployed. Once for each time that it is found missing anew.
 */
export interface MissingNews {
  readonly about: 'missing';
  readonly change: 'missing';
  readonly agent: string;
  readonly at: number;
  readonly view: string;
}

/** An open execution may not end well or in time without help. Once for each time that it gets there. */
export interface RiskNews {
  readonly about: 'risk';
  readonly change: 'at-risk';
  readonly executionId: string;
  readonly workflow: string;
  readonly at: number;
  readonly startedAt: number;
  readonly deadlineAt: number;
  /** Says why, and what comes next. */
  readonly view: string;
}

/** What is announced of a question to a person or an external party. */
export type QuestionNews = EntryNews | IncidentNews;

/** What no record says that it is owed: announced once, and never again. */
export type PassingNews = BreakerNews | MissingNews | RiskNews;

/** What its record says that it is owed: announced at least once. */
export type OwedNews = Ended | QuestionNews;

export type News = OwedNews | PassingNews;

/** What a write of an execution announces: that it is at risk, where it was not. */
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

/** What is announced of a change of an incident. */
export function incidentNews(
  { id, workflow }: Pick<Execution, 'id' | 'workflow'>,
  incident: Incident,
  change: IncidentChange,
): IncidentNews {
  const { number, kind, openedAt, deadlineAt, otherwise, failure, reminders = 0 } = incident;
  const { step, choice, by, caller, tags, remindedAt = openedAt, resolvedAt = openedAt } = incident;
  return {
    about: 'incident',
    change,
    executionId: id,
    workflow,
    incident: number,
    kind,
    ...given({ step }),
    at: { opened: openedAt, reminded: remindedAt, resolved: resolvedAt }[change],
    openedAt,
    deadlineAt,
    otherwise,
    reminders,
    code: failure.code,
    ...given({ tags }),
    ...(change === 'resolved' ? given({ choice, by, caller }) : {}),
    view: `/executions/${id}`,
  };
}
