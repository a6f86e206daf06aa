/**
 * Judges announcements of incidents: each opening and resolution is announced; a reminder is neither early
 * nor lost, and comes after the resolution only if an answer overtook it.
 *
 * Owns: these checks, independent of the rules; a book of writes and announcements. Does not own: reminders
 * of approvals and callbacks (`oracle-inbox.ts`), the lengths of pauses (`oracle-times.ts`), wake times for
 * reminders (`oracle-wake.ts`).
 */

import type { Plan, Stage } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { QuestionNews } from '../../lib/core/decisions/news.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';

/** How late an announcement may be, because its process may be frozen. */
const OVERTAKEN_MS = 150_000;

/** The declared interval of reminders for the incident. */
function declaredMs(plan: Plan, { kind, step }: Incident): number | undefined {
  if (kind === 'pause' || kind === 'deadline') return undefined;
  const planned = plan.steps.find(({ name }) => name === step);
  const recovery: readonly Stage[] =
    planned !== undefined && 'recovery' in planned ? (planned.recovery ?? []) : [];
  return recovery.flatMap((stage) => (stage.kind === 'askPerson' ? (stage.remindMs ?? []) : []))[0];
}

/** When the next reminder is due; undefined if none is declared, or if the deadline is earlier. */
function nextAt(plan: Plan, incident: Incident, fromAt: number): number | undefined {
  const everyMs = declaredMs(plan, incident);
  return everyMs !== undefined && fromAt + everyMs < incident.deadlineAt ? fromAt + everyMs : undefined;
}

/** Judges the first reminder time of an opened incident. */
export function judgeFirstReminder(problems: string[], plan: Plan, incident: Incident): void {
  const { number, openedAt, remindAt, reminders } = incident;
  // Only the announced one of several incidents about wrong answers in an execution has reminders.
  const expected = incident.quiet === true ? undefined : nextAt(plan, incident, openedAt);
  if (remindAt !== expected || reminders !== 0)
    problems.push(`L1 question ${number} begins with a reminder at ${remindAt} and not ${expected}`);
}

/** The execution's times, by the book of its pauses. */
interface Times {
  /** Now, in true time. */
  readonly now: number;
  readonly kinds: KindCounts;
  readonly pausedMs: (sinceAt: number) => number;
  readonly earlyMs: (sinceAt: number) => number;
  readonly lateMs: (dueAt: number) => number;
}

/** When the reminder was written, and since when none of the incident has been announced. */
interface Owed {
  readonly at: number;
  readonly sinceAt: number;
}

export class OracleReminders {
  /** Reminders owed, by incident. */
  readonly #owed = new Map<string, Owed>();
  /** Whether a reminder has ever been written, by incident and time. */
  readonly #written = new Set<string>();
  /** Written openings and resolutions that are not announced yet, and all written ones. */
  readonly #owedChanges = new Set<string>();
  readonly #changes = new Set<string>();
  /** When each incident was resolved, by incident. */
  readonly #closedAt = new Map<string, number>();

  /** Notes that an incident was opened or resolved. A quiet one is not announced. */
  change(executionId: string, incident: Incident, change: 'opened' | 'closed'): void {
    if (incident.quiet === true) return;
    const key = `${aboutOf(executionId, incident.number, incident.openedAt)} ${change}`;
    this.#owedChanges.add(key);
    this.#changes.add(key);
  }

  /** Judges a write of an incident. @param known its earlier record */
  judge(
    problems: string[],
    plan: Plan,
    { execution }: Snapshot,
    known: Incident,
    incident: Incident,
    times: Times,
  ): void {
    const { now, pausedMs, lateMs } = times;
    const about = aboutOf(execution.id, known.number, known.openedAt);
    const what = `a reminder of question ${known.number}`;
    const sinceAt = known.remindedAt ?? known.openedAt;
    const isPaused = execution.status === 'paused';
    if (known.remindAt !== undefined && !isPaused) {
      const late = lateMs(sinceAt + (declaredMs(plan, known) ?? 0) + pausedMs(sinceAt));
      if (late > 0) problems.push(`L1 ${what} is ${late} ms late`);
    }
    const owed = this.#owed.get(about);
    const unheardMs = owed === undefined || isPaused ? 0 : lateMs(owed.sinceAt);
    if (unheardMs > 0) problems.push(`L1 ${what} is not announced for ${unheardMs} ms too long`);
    if (incident.closedAt !== undefined) {
      this.#owed.delete(about);
      this.#closedAt.set(about, now);
    }
    if (incident.reminders === known.reminders) return judgeNext(problems, known, incident);
    judgeReminder(problems, plan, execution, known, incident, times);
    const { remindedAt: at = 0 } = incident;
    this.#owed.set(about, { at, sinceAt: owed?.sinceAt ?? at });
    this.#written.add(`${about} at ${at}`);
  }

  /** @param now true time. @returns the violation, if there is one */
  announce(
    { executionId, incident = 0, openedAt, at, change }: QuestionNews,
    now: number,
  ): string | undefined {
    const about = aboutOf(executionId, incident, openedAt);
    if (change !== 'reminded') {
      this.#owedChanges.delete(`${about} ${change}`);
      if (this.#changes.has(`${about} ${change}`)) return undefined;
      return `L1 it is announced that question ${incident} is ${change}, and it is not`;
    }
    if (this.#owed.get(about)?.at === at) this.#owed.delete(about);
    if (!this.#written.has(`${about} at ${at}`))
      return `L1 a reminder of question ${incident} is announced, and there was none`;
    const closedAt = this.#closedAt.get(about) ?? Number.POSITIVE_INFINITY;
    return now > closedAt + OVERTAKEN_MS
      ? `L1 a reminder of question ${incident} is announced ${now - closedAt} ms after its resolution`
      : undefined;
  }

  /** Judges when everything is over. */
  judgeEnd(): string[] {
    const reminders = [...this.#owed].map(
      ([about, { at }]) => `L1 the reminder of ${about} at ${at} was never announced`,
    );
    return [...reminders, ...[...this.#owedChanges].map((key) => `L1 ${key} was never announced`)];
  }
}

const aboutOf = (executionId: string, number: number, openedAt: number): string =>
  `${executionId}/${number} of ${openedAt}`;

/** Checks that other writes move the next reminder with the deadline, and drop it at the resolution. */
function judgeNext(problems: string[], known: Incident, { deadlineAt, remindAt, closedAt }: Incident): void {
  const movedMs = deadlineAt - known.deadlineAt;
  const isKept = known.remindAt !== undefined && closedAt === undefined;
  const expected = isKept ? known.remindAt + movedMs : undefined;
  if (remindAt !== expected)
    problems.push(`L1 the next reminder of question ${known.number} is at ${remindAt} and not ${expected}`);
}

function judgeReminder(
  problems: string[],
  plan: Plan,
  { status }: Execution,
  known: Incident,
  incident: Incident,
  { now, kinds, pausedMs, earlyMs }: Times,
): void {
  const what = `a reminder of question ${known.number}`;
  const { reminders, remindAt, remindedAt = 0 } = incident;
  const everyMs = declaredMs(plan, known);
  if (everyMs === undefined) return void problems.push(`L1 ${what} that was not declared`);
  if (known.closedAt !== undefined) problems.push(`L1 ${what} after its resolution`);
  if (status === 'paused') problems.push(`L1 ${what} while ${status}`);
  if (reminders !== known.reminders + 1) problems.push(`L1 ${what} counts ${reminders}`);
  const sinceAt = known.remindedAt ?? known.openedAt;
  // A pause does not extend times of an execution that is being undone.
  const givenBackMs = status === 'compensating' ? 0 : pausedMs(sinceAt);
  const sinceMs = now - sinceAt - givenBackMs;
  if (sinceMs < everyMs - earlyMs(sinceAt)) problems.push(`L1 ${what} after ${sinceMs} ms`);
  const expected = nextAt(plan, incident, remindedAt);
  if (remindAt !== expected) problems.push(`L1 after ${what} the next is at ${remindAt} and not ${expected}`);
  kinds.remindedOfIncident += 1;
  if (givenBackMs > 0) kinds.remindedAfterPause += 1;
}
