/**
 * Judges the times promised to people and external parties: nothing takes effect before its time, or long
 * after it.
 *
 * Owns: a book of pauses in true time; by it, the times of defaults, ends of waits, external parties' answers
 * and deadlines; a question is answered once. Does not own: wake times (`oracle-wake.ts`), which answers are
 * safe.
 *
 * The durations of pauses in the records are not trusted.
 */

import {
  type AgentStep,
  type CallbackStep,
  type ChildStep,
  hasChildren,
  type Plan,
  type PlanStep,
  type ReceiveStep,
  type Stage,
} from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { type Incident, asIncident } from '../../lib/core/records/question.ts';
import { type Snapshot, incidentIn } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, type Step } from '../../lib/core/records/state.ts';
import { horizonMs } from '../../lib/core/step/lease.ts';
import { roundAwaited, waitsSince } from './awaited-rounds.ts';
import type { KindCounts } from './kinds.ts';
import { isFollowing } from './on-failure.ts';
import { judgeAccepted } from './oracle-accepted.ts';
import { actedAs } from './oracle-order.ts';
import { judgeFirstReminder, type OracleReminders } from './oracle-reminders.ts';
import { turnOf } from './oracle-turns.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import { judgeWait } from './oracle-waits.ts';
import { judgeWithin } from './oracle-within.ts';

const DAY_MS = 86_400_000;
/** The default deadline of an incident. */
const WITHIN_MS: Readonly<Record<Incident['kind'], number>> = {
  recovery: DAY_MS,
  undo: 7 * DAY_MS,
  deadline: 7 * DAY_MS,
  pause: 3 * DAY_MS,
};
/** The allowed delay after all faults: two ticks of a supervisor and a sweep. … */
const LOOKED_AFTER_MS = 150_000;
/** The allowed delay while there may be faults. */
const LOOKED_IN_FAULTS_MS = 900_000;

interface Span {
  readonly from: number;
  until: number;
}

export interface Written {
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly write: Write;
  /** True time. */
  readonly now: number;
  /** When the faults ended; undefined while there may be some. */
  readonly healedAt: number | undefined;
  readonly kinds: KindCounts;
  readonly reminders: OracleReminders;
  /** Whether the writing process has been frozen, so that its read may be old. */
  readonly isLagging: boolean;
}

/** The age of a read, plus the tries and the duration of a write, by one clock. */
const BEGINS_WITHIN_MS = 10_000;

export class OracleTimes {
  readonly #paused = new Map<string, Span[]>();

  judge(problems: string[], written: Written): void {
    const { plan, before, write, now, kinds, isLagging } = written;
    const asked = asIncident(write.question);
    if (asked !== undefined) this.#judgeQuestion(problems, written, asked);
    const { step } = write;
    if (step !== undefined) {
      const { id } = before.execution;
      this.#judgeBegun(problems, written, step);
      const pausedMs = (sinceAt: number): number => this.#pausedMs(id, sinceAt, now);
      const earlyMs = (sinceAt: number): number => this.#earlyMs(id, sinceAt);
      judgeWithin(problems, plan, before, step, { now, pausedMs, earlyMs, kinds, isLagging });
    }
    // Accepted work is judged here, because its limits are times.
    judgeAccepted(problems, plan, before, write, { kinds, now, actedAs });
    // Judges the ends of steps that no agent performs.
    if (step?.status === 'done' || step?.status === 'failed') {
      const planned = plan.steps.find(({ name }) => name === step.name);
      if (planned !== undefined) this.#judgeStep(problems, written, planned, step);
    }
    if (write.execution !== undefined) {
      this.#judgeDeadline(problems, written, write.execution);
      this.#note(before.execution, write.execution, now);
    }
  }

  /** F1: a never-frozen process begins a step in a pause only soon after its beginning. */
  #judgeBegun(problems: string[], { plan, before, write, kinds, now, isLagging }: Written, step: Step): void {
    const { name, token, leaseUntil } = step;
    const { id, status } = before.execution;
    const { wakeAt = Number.POSITIVE_INFINITY } = write.execution ?? before.execution;
    const isClaim = leaseUntil !== undefined && token !== before.steps[name]?.token;
    if (!isClaim || status !== 'paused') return;
    kinds.begunInPause += 1;
    const { from = Number.NEGATIVE_INFINITY } = this.#paused.get(id)?.at(-1) ?? {};
    if (isLagging) return;
    // A sweep that read the state before a slow claim finds the lease a horizon after its own read.
    const noticedAt = Math.max(leaseUntil, now + horizonMs(plan, before));
    if (wakeAt > noticedAt + CLOCKS_DIFFER_MS) problems.push(`S12 nobody waits for the lease of '${name}'`);
    if (now - from > BEGINS_WITHIN_MS)
      problems.push(`F1 '${name}' was claimed ${now - from} ms after a pause`);
  }

  /** Notes the beginnings and ends of pauses; an execution may be born paused. */
  #note({ id, status, startedAt }: Execution, after: Execution, now: number): void {
    const [was, is] = [status === 'paused', after.status === 'paused'];
    if (was === is) return;
    const spans = this.#paused.get(id) ?? [];
    const last = spans.at(-1);
    if (is) spans.push({ from: now, until: Number.POSITIVE_INFINITY });
    else if (last === undefined) spans.push({ from: startedAt, until: now });
    else last.until = now;
    this.#paused.set(id, spans);
  }

  /** How long the execution has been paused since a time, in ms. */
  #pausedMs(executionId: string, sinceAt: number, now: number): number {
    let ms = 0;
    for (const { from, until } of this.#paused.get(executionId) ?? [])
      ms += Math.max(0, Math.min(until, now) - Math.max(from, sinceAt));
    return ms;
  }

  /** How early an act may be: two clocks bound its time, and two more each pause. */
  #earlyMs(executionId: string, sinceAt: number): number {
    const pauses = this.#paused.get(executionId)?.filter(({ until }) => until > sinceAt).length ?? 0;
    return CLOCKS_DIFFER_MS * (1 + pauses);
  }

  /** How late a write is, in ms. @param dueAt when it was due */
  #lateMs({ before, now, healedAt }: Written, dueAt: number): number {
    const pausedUntil = this.#paused.get(before.execution.id)?.at(-1)?.until ?? 0;
    const from = Math.max(dueAt, pausedUntil);
    const late =
      healedAt === undefined
        ? now - from - LOOKED_IN_FAULTS_MS
        : now - Math.max(from, healedAt) - LOOKED_AFTER_MS;
    return late - CLOCKS_DIFFER_MS;
  }

  #judgeQuestion(problems: string[], written: Written, incident: Incident): void {
    const { plan, before, now } = written;
    const { number, kind, deadlineAt, closedBy: by } = incident;
    const known = incidentIn(before, number);
    const what = `question ${number} (${kind})`;
    const { id } = before.execution;
    if (known === undefined) {
      written.reminders.change(id, incident, 'opened');
      return judgeTerms(problems, plan, before, incident);
    }
    // Skips a write that only records an announcement.
    if (known.closedAt !== undefined && isAnnounced(known, incident)) return;
    if (incident.closedAt !== undefined) written.reminders.change(id, incident, 'closed');
    written.reminders.judge(problems, plan, before, known, incident, {
      now,
      kinds: written.kinds,
      pausedMs: (sinceAt) => this.#pausedMs(id, sinceAt, now),
      earlyMs: (sinceAt) => this.#earlyMs(id, sinceAt),
      lateMs: (dueAt) => this.#lateMs(written, dueAt),
    });
    if (known.closedAt !== undefined) problems.push(`L1 ${what} was answered before`);
    if (
      deadlineAt !== known.deadlineAt &&
      (incident.closedAt !== undefined || incident.movedFor === known.movedFor)
    )
      problems.push(`L1 the time of ${what} was moved, and not for a pause`);
    if (incident.closedAt === undefined || by === 'moot') return;
    const isPaused = before.execution.status === 'paused';
    const lateMs = isPaused && kind !== 'pause' ? 0 : this.#lateMs(written, known.deadlineAt);
    if (lateMs > 0) problems.push(`L1 ${what} was answered ${lateMs} ms too late, by ${by}`);
    if (by !== 'deadline') return;
    if (isPaused && kind !== 'pause') problems.push(`L1 the default of ${what} held during a pause`);
    const pausedMs = kind === 'pause' ? 0 : this.#pausedMs(before.execution.id, known.openedAt, now);
    const earlyMs = this.#earlyMs(before.execution.id, known.openedAt);
    const waitedMs = now - known.openedAt - pausedMs + earlyMs;
    // Half of the remaining time, by the recorded deadline, which was judged at the opening.
    const isOver =
      now + CLOCKS_DIFFER_MS >=
      (known.otherwise === 'continue'
        ? known.deadlineAt
        : kind === 'recovery'
          ? before.execution.deadlineAt
          : Number.POSITIVE_INFINITY);
    if (waitedMs < withinOf(plan, known) && !isOver)
      problems.push(`L1 the default of ${what} held after ${waitedMs} of ${withinOf(plan, known)} ms`);
    const { choice, otherwise } = incident;
    const isClosed = plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true);
    const isStopped = otherwise === 'continue' && before.execution.status === 'compensating';
    if (choice !== otherwise && !((isClosed || isStopped) && choice === 'keep'))
      problems.push(`L1 without an answer ${what} was answered '${choice}' and not '${otherwise}'`);
  }

  #judgeStep(problems: string[], written: Written, planned: PlanStep, step: Step): void {
    if (planned.kind === 'child') return this.#judgeRound(problems, written, planned, step);
    if (planned.kind === 'agent' || planned.kind === 'lane' || hasChildren(planned)) return;
    const { before, write, now } = written;
    const was = before.steps[step.name]?.status ?? 'ready';
    const sinceAt = turnOf(planned, before);
    // A failure becomes tolerated by a rule, not by the step's deadline.
    if (sinceAt === undefined || was === step.status || step.status === 'tolerated') return;
    if (planned.kind === 'wait') {
      return judgeWait(problems, planned, before.execution, step, {
        now,
        sinceAt,
        pausedMs: this.#pausedMs(before.execution.id, sinceAt, now),
        earlyMs: this.#earlyMs(before.execution.id, sinceAt),
        lateMs: (dueAt) => this.#lateMs(written, dueAt),
        kinds: written.kinds,
      });
    }
    // A message in time is taken even if it is noticed late.
    if (was === 'answered' || step.received !== undefined) return;
    const dueAt = this.#expiresAt(written, planned, sinceAt);
    const lateMs = this.#lateMs(written, dueAt);
    if (lateMs > 0) problems.push(`L1 '${step.name}' was ${step.status} ${lateMs} ms after its time`);
    const isMessage = planned.kind === 'receive';
    const isDefault = isMessage || write.question?.closedBy === 'deadline';
    const byDefault = step.status === 'done' ? isDefault : isSilence(step);
    if (byDefault && now + this.#earlyMs(before.execution.id, sinceAt) < dueAt)
      problems.push(`L1 '${step.name}' was given up ${dueAt - now} ms before its time`);
    if (isMessage) return;
    if (byDefault && planned.otherwise !== undefined) written.kinds.otherwise += 1;
    if (byDefault && defaultOf(step) !== (planned.otherwise ?? 'fail'))
      problems.push(`L1 without an answer '${step.name}' counts as ${defaultOf(step)}`);
  }

  /** Judges a round that begins or fails without its message. */
  #judgeRound(problems: string[], written: Written, planned: ChildStep, step: Step): void {
    const { before, now } = written;
    const { id } = before.execution;
    const { awaits } = before.steps[step.name]?.children?.rounds ?? {};
    const { rounds } = step.children ?? {};
    const isWithout = rounds?.awaits === undefined && rounds?.received === undefined;
    if (roundAwaited(planned, before) === undefined || awaits === undefined) return;
    if (step.failure?.code !== 'no-message' && !(step.status === 'running' && isWithout)) return;
    const sinceAt = waitsSince(step.name, before);
    const dueAt = sinceAt + awaits.withinMs + this.#pausedMs(id, sinceAt, now);
    const lateMs = this.#lateMs(written, dueAt);
    if (lateMs > 0) problems.push(`L1 a round of '${step.name}' waited ${lateMs} ms beyond its time`);
    if (now + this.#earlyMs(id, sinceAt) < dueAt)
      problems.push(`L1 a round of '${step.name}' was given up ${dueAt - now} ms before its time`);
  }

  /** When the step's wait expires; never while its execution is paused. */
  #expiresAt({ before, now }: Written, step: CallbackStep | ReceiveStep, sinceAt: number): number {
    const { name, withinMs } = step;
    const heartbeatMs = step.kind === 'receive' ? undefined : step.heartbeatMs;
    const aliveAt = Math.max(sinceAt, before.steps[name]?.progressAt ?? 0);
    const { id } = before.execution;
    return Math.min(
      sinceAt + withinMs + this.#pausedMs(id, sinceAt, now),
      aliveAt + (heartbeatMs ?? Number.POSITIVE_INFINITY) + this.#pausedMs(id, aliveAt, now),
    );
  }

  /**
   * Judges the deadline of an execution without a parent that can be undone: the plan's time plus the pauses.
   */
  #judgeDeadline(problems: string[], written: Written, after: Execution): void {
    const { plan, before, now } = written;
    const { execution } = before;
    const stops =
      isForward(execution.status) && after.status === 'compensating' && after.cause?.kind === 'deadline';
    const isClosed = plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true);
    if (!stops || isClosed || execution.parent !== undefined) return;
    // In a lane, the time begins with the place; before that, the time for waiting is added.
    const lane = plan.steps.find((step) => step.kind === 'lane');
    const { status, epoch, changedAt } = before.steps[lane?.name ?? ''] ?? {};
    const placedAt = status === 'done' && epoch === execution.epoch ? changedAt : undefined;
    const fromAt = Math.max(execution.startedAt, execution.retries?.at(-1)?.at ?? 0, placedAt ?? 0);
    const waitMs = placedAt === undefined ? (lane?.withinMs ?? 0) : 0;
    const dueAt = fromAt + waitMs + plan.withinMs + this.#pausedMs(execution.id, fromAt, now);
    if (now + this.#earlyMs(execution.id, fromAt) < dueAt)
      problems.push(`L1 it was stopped ${dueAt - now} ms before its deadline`);
    const lateMs = this.#lateMs(written, dueAt);
    if (lateMs > 0) problems.push(`L1 it was stopped ${lateMs} ms after its deadline`);
  }
}

/** Whether the step failed because no answer or message came in time. */
export const isSilence = ({ failure }: Step): boolean =>
  failure?.code === 'no-answer' ||
  failure?.code === 'no-message' ||
  failure?.message.startsWith('it was not answered in time') === true;

/** The default that took effect, by the end of the step. */
function defaultOf({ status, failure }: Step): 'approve' | 'reject' | 'fail' {
  if (status === 'done') return 'approve';
  return failure?.code === 'rejected' ? 'reject' : 'fail';
}

const humanOf = (plan: Plan, incident: Incident) =>
  incident.kind === 'recovery' || isOfTolerated(incident)
    ? recoveryOf(plan.steps.find(({ name }) => name === incident.step)).find(
        ({ kind }) => kind === 'askPerson',
      )
    : undefined;

const recoveryOf = (step: PlanStep | undefined): readonly Stage[] =>
  (step?.kind === 'agent' || step?.kind === 'child' ? step.recovery : undefined) ?? [];

const withinOf = (plan: Plan, incident: Incident): number => {
  const human = humanOf(plan, incident);
  if (human?.kind === 'askPerson') return human.withinMs;
  // A failed undo of a step that may fail has a day, like the question about its failure.
  return WITHIN_MS[isOfTolerated(incident) ? 'recovery' : incident.kind];
};

const toleratedStep = (plan: Plan, { step }: Incident): AgentStep | ChildStep | undefined =>
  plan.steps.find(
    (one): one is AgentStep | ChildStep =>
      (one.kind === 'agent' || one.kind === 'child') && one.name === step && one.tolerate === true,
  );

/**
 * Whether the incident is about a tolerated step, and not about one that is undone with its execution (its
 * default is 'keep').
 */
const isOfTolerated = (incident: Incident): boolean =>
  incident.kind === 'undo' && incident.otherwise === 'continue';

/** Whether the step may have acted, cannot be undone, and another step's condition depends on its end. */
const restsOn = (plan: Plan, step: AgentStep | ChildStep, record: Step | undefined): boolean =>
  (step.kind === 'child'
    ? Object.values(record?.children?.ended ?? {}).some(({ clean }) => !clean)
    : record?.mayHaveActed === true && canStay(actedAs(step, record))) &&
  plan.steps.some(({ when }) => JSON.stringify(when ?? null).includes(`"outcome:${step.name}"`));

/** Whether the step has an effect that cannot be undone. */
const canStay = ({ undo, effect }: Pick<AgentStep, 'undo' | 'effect'>): boolean =>
  undo === 'none' && effect !== 'none';

/** Whether the write only records that a change was announced. */
const isAnnounced = (known: Incident, { unannounced = [], ...incident }: Incident): boolean =>
  unannounced.length < (known.unannounced?.length ?? 0) &&
  incident.closedAt === known.closedAt &&
  incident.choice === known.choice;

/** Checks that a question has the declared deadline and default. */
function judgeTerms(
  problems: string[],
  plan: Plan,
  { execution, steps }: Snapshot,
  incident: Incident,
): void {
  const { number, kind, openedAt, deadlineAt, otherwise } = incident;
  judgeFirstReminder(problems, plan, incident);
  const isClosed = plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true);
  const withinMs = withinOf(plan, incident);
  const expected = isFollowing(plan)
    ? openedAt + withinMs
    : otherwise === 'continue'
      ? openedAt + Math.min(withinMs, Math.floor(Math.max(0, execution.deadlineAt - openedAt) / 2))
      : kind === 'recovery'
        ? Math.min(openedAt + withinMs, execution.deadlineAt)
        : openedAt + withinMs;
  // The deadline may be later, because of an undo that may still act.
  const isLater = otherwise === 'continue' && kind === 'undo' && deadlineAt > expected;
  if (deadlineAt !== expected && !isClosed && !isLater)
    problems.push(
      `L1 question ${number} (${kind}) has ${deadlineAt - openedAt} ms and not ${expected - openedAt}`,
    );
  const human = humanOf(plan, incident);
  const usual = human?.kind === 'askPerson' && human.otherwise === 'keep' ? 'keep' : 'undo-all';
  const tolerated = kind === 'recovery' ? toleratedStep(plan, incident) : undefined;
  const declared =
    tolerated !== undefined && usual !== 'keep' && !restsOn(plan, tolerated, steps[tolerated.name])
      ? 'continue'
      : usual;
  if (
    (human !== undefined || tolerated !== undefined) &&
    kind === 'recovery' &&
    !isClosed &&
    otherwise !== declared
  )
    problems.push(`L1 without an answer to question ${number} '${otherwise}' holds and not '${declared}'`);
}
