/**
 * What listeners on the event bus are told beside ends and entries: of incidents, of breakers, of agents that are missing, of
 * executions that are at risk.
 *
 * Owns: the shapes, and which write of an incident or of an execution is news. Does not own: who tells it, and when (`engine/commit.ts`,
 * `agent/breaker.ts`, `supervisor/receipts.ts`), how it is put on the bus (`aws/event-bus.ts`).
 *
 * Told once and not again, but for a reminder of an incident, which is announced as entries are: nothing rests on it. What is open is
 * in the table, and in the API.
 */

import type { Caller } from './caller.ts';
import { given } from './given.ts';
import type { Incident } from './incident.ts';
import type { Execution } from './state.ts';

export interface IncidentNews
  extends Pick<
    Incident,
    'kind' | 'step' | 'openedAt' | 'deadlineAt' | 'otherwise' | 'choice' | 'by' | 'caller' | 'tags'
  > {
  readonly about: 'incident';
  /** `reminded`: at least once each, as of an entry. */
  readonly change: 'opened' | 'reminded' | 'resolved';
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

/** Executions under way need an agent that is not deployed. Once for each time that it is found missing anew. */
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

export type News = IncidentNews | BreakerNews | MissingNews | RiskNews;

/** What a write of an execution tells: that it is at risk, where it was not. */
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
 * What a write of an incident tells: that it was opened or is resolved; nothing of one whose time is moved, of a quiet one, nor of a
 * reminder, which is announced before the next write.
 */
export function incidentNews(
  executionId: string,
  workflow: string,
  incident: Incident | undefined,
): IncidentNews | undefined {
  if (incident === undefined || incident.quiet === true) return undefined;
  const { version, openedAt, resolvedAt } = incident;
  if (resolvedAt !== undefined) return newsOf(executionId, workflow, incident, 'resolved', resolvedAt);
  return version > 1 ? undefined : newsOf(executionId, workflow, incident, 'opened', openedAt);
}

/** What is announced of the latest reminder of an incident. */
export const reminderNews = (executionId: string, workflow: string, incident: Incident): IncidentNews =>
  newsOf(executionId, workflow, incident, 'reminded', incident.remindedAt ?? incident.openedAt);

function newsOf(
  executionId: string,
  workflow: string,
  incident: Incident,
  change: IncidentNews['change'],
  at: number,
): IncidentNews {
  const { number, kind, openedAt, deadlineAt, otherwise, failure, reminders = 0 } = incident;
  const { step, choice, by, caller, tags } = incident;
  return {
    about: 'incident',
    change,
    executionId,
    workflow,
    incident: number,
    kind,
    ...given({ step }),
    at,
    openedAt,
    deadlineAt,
    otherwise,
    reminders,
    code: failure.code,
    ...given({ tags, choice, by, caller }),
    view: `/executions/${executionId}`,
  };
}
