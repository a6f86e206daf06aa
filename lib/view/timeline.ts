/**
 * The timeline of an execution: for each step the times in queue, at work and waiting, and those still to
 * come.
 *
 * Owns: the stretches and their names, for the page and for `why`, and their sums as text. Does not own: the
 * drawing and the scale (the console's `timeline.tsx`, `time-scale.ts`).
 *
 * No record has the time when a step became ready; it is computed as the end of its last predecessor.
 */

import {
  type AttemptView,
  type ExecutionView,
  type IncidentView,
  isAfterLeftOut,
  type StepView,
} from '../api/answers.ts';
import { leftOutText, stateText } from './waiting-steps.ts';
import { durationText, table } from './text.ts';

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * `queue`: ready, not yet taken. `run`, `undo`, `probe`: an attempt. `lost`: an attempt that ended with an
 * unknown outcome. `lease`: how long the current attempt may still send no heartbeat. `backoff`: the pause
 * between two attempts. `wait`: for a time, an answer, its executions, or its turn to be undone. `paused`:
 * its execution was paused while it would have been in queue or backoff. `asked`: a person is asked.
 * `left-out`: attempts that are not kept, and the time between them.
 */
export type StretchKind =
  | 'queue'
  | 'run'
  | 'undo'
  | 'probe'
  | 'lost'
  | 'lease'
  | 'backoff'
  | 'wait'
  | 'paused'
  | 'asked'
  | 'left-out';

export interface Stretch extends Span {
  readonly kind: StretchKind;
  readonly note: string;
  readonly failed?: true;
  /** True if a service does the work from here on. */
  readonly isAccepted?: true;
  /** True if the stretch is still to come. */
  readonly ahead?: true;
}

export interface Row {
  readonly step: string;
  readonly status: string;
  readonly stretches: readonly Stretch[];
}

export function rowsOf(view: ExecutionView, now: number): readonly Row[] {
  return view.steps.map((step) => ({
    step: step.name,
    status: stateText(step, view),
    stretches: apart(ofStep(step, view, now), asked(step, view, now), pausesOf(view, now)).filter(
      ({ from, to }) => to > from,
    ),
  }));
}

/** Removes from queue and backoff the times in which a person was asked or the execution was paused. */
function apart(all: readonly Stretch[], asked: readonly Stretch[], pauses: readonly Stretch[]): Stretch[] {
  const isIdle = ({ kind, ahead }: Stretch): boolean =>
    ahead !== true && (kind === 'queue' || kind === 'backoff' || kind === 'left-out');
  const idle = all.filter(isIdle);
  const paused = pauses.flatMap((pause) => idle.map((one) => common(pause, one)));
  return [
    ...all.filter((one) => !isIdle(one)),
    ...asked.reduce(without, pauses.reduce(without, idle)),
    ...asked.reduce(without, paused),
    ...asked,
  ].toSorted((one, other) => one.from - other.from);
}

const common = (one: Stretch, { from, to }: Span): Stretch => ({
  ...one,
  from: Math.max(one.from, from),
  to: Math.min(one.to, to),
});

/** Returns what remains of each stretch before and after a span. */
const without = (all: readonly Stretch[], { from, to }: Span): Stretch[] =>
  all
    .flatMap((one) =>
      from >= one.to || to <= one.from
        ? [one]
        : [
            { ...one, to: Math.min(one.to, from) },
            { ...one, from: Math.max(one.from, to) },
          ],
    )
    .filter((one) => one.to > one.from);

const pausesOf = ({ pauses = [], endedAt }: ExecutionView, now: number): Stretch[] =>
  pauses.map(({ at, endedAt: until = endedAt ?? now, reason }) => ({
    kind: 'paused',
    from: at,
    to: until,
    note: `paused: ${reason}`,
  }));

/** True if a stretch is work, which is drawn to scale. */
export const isWork = ({ kind, ahead }: Stretch): boolean =>
  ahead !== true && (kind === 'run' || kind === 'undo' || kind === 'probe' || kind === 'lost');

const COLUMNS: readonly (readonly [StretchKind, string])[] = [
  ['queue', 'QUEUED'],
  ['run', 'RAN'],
  ['lost', 'UNKNOWN'],
  ['probe', 'PROBED'],
  ['backoff', 'BACKOFF'],
  ['wait', 'WAITED'],
  ['paused', 'PAUSED'],
  ['asked', 'ASKED'],
  ['left-out', 'LEFT OUT'],
  ['undo', 'UNDONE'],
];

/** Sums the past time for which each step was queued, at work and waiting; '' if there was none. */
export function timesText(rows: readonly Row[]): string {
  const sumOf = ({ stretches }: Row, kind: StretchKind): number =>
    stretches
      .filter((one) => one.kind === kind && one.ahead !== true)
      .reduce((sum, { from, to }) => sum + to - from, 0);
  const shown = COLUMNS.filter(([kind]) => rows.some((row) => sumOf(row, kind) > 0));
  const lines = rows
    .map((row) => ({ step: row.step, sums: shown.map(([kind]) => sumOf(row, kind)) }))
    .filter(({ sums }) => sums.some((sum) => sum > 0))
    .map(({ step, sums }) => [step, ...sums.map((sum) => (sum === 0 ? '' : durationText(sum)))]);
  return lines.length === 0 ? '' : table(['STEP', ...shown.map(([, head]) => head)], lines);
}

const doneAt = (step: StepView | undefined): number | undefined =>
  step?.attempts.findLast(({ mode, outcome }) => mode !== 'undo' && outcome === 'done')?.endedAt ??
  step?.changedAt;

function readyAt(step: StepView, view: ExecutionView): number | undefined {
  if (step.status === 'pending') return undefined;
  const before = step.after.map((name) => doneAt(view.steps.find((one) => one.name === name)));
  const from = step.onFailure === true ? (view.end?.at ?? view.cause?.at ?? view.startedAt) : view.startedAt;
  return Math.max(from, ...before.filter((at): at is number => at !== undefined));
}

function ofStep(step: StepView, view: ExecutionView, now: number): Stretch[] {
  const ready = readyAt(step, view);
  if (ready === undefined || UNBEGUN.has(step.status)) return [];
  if (step.kind !== 'agent') return waited(step, ready, view, now);
  const worked = [...step.attempts.map(ofAttempt), ...underWay(step, now)];
  return [
    ...beforeFirst(step, ready, worked[0]?.from, view.endedAt ?? now),
    ...worked.flatMap((one, at) => [
      ...(leftOutBefore(step, worked, at) ?? between(worked[at - 1], one, view)),
      one,
    ]),
    ...toCome(step, worked.at(-1), view, now),
  ];
}

const QUEUED = 'in its queue';

/**
 * Returns the time before the first attempt; none if the first attempts are not shown, because the end of the
 * queue is then unknown. A deferred step is in no queue.
 */
function beforeFirst(step: StepView, ready: number, first: number | undefined, now: number): Stretch[] {
  const { omitted = [], attempts, deferred, status } = step;
  if (omitted.includes('attempts') || (attempts[0]?.number ?? 1) > 1) return [];
  if (first === undefined && status !== 'ready' && status !== 'retrying') return [];
  const to = first ?? now;
  const heldFrom = first !== undefined || deferred === undefined ? to : (deferred.since ?? deferred.at);
  const from = Math.min(ready, to);
  return [
    { kind: 'queue', from, to: Math.max(from, heldFrom), note: QUEUED },
    { kind: 'backoff', from: Math.max(from, heldFrom), to, note: deferralText(deferred) },
  ];
}

const deferralText = (deferred: StepView['deferred']): string =>
  deferred === undefined ? 'backoff' : `deferred: ${deferred.why}`;

/** Statuses of steps that were never attempted, and so took no time. */
const UNBEGUN: ReadonlySet<string> = new Set(['pending', 'skipped']);

const KIND_OF = { execute: 'run', undo: 'undo', probe: 'probe' } as const;

function ofAttempt(attempt: AttemptView): Stretch {
  const { mode, outcome, number, claimedAt, endedAt, failure } = attempt;
  const deed = mode === 'execute' ? 'attempt' : mode;
  const failed = outcome === 'failed' ? ({ failed: true } as const) : {};
  const taken = outcome === 'accepted' ? ({ isAccepted: true } as const) : {};
  return {
    kind: outcome === 'unknown' ? 'lost' : KIND_OF[mode],
    from: claimedAt,
    to: endedAt,
    note: `${deed} ${number}: ${outcome}${failure === undefined ? '' : ` (${failure.code})`}`,
    ...failed,
    ...taken,
  };
}

function underWay({ claimedAt, leaseUntil, status, attempt }: StepView, now: number): Stretch[] {
  if (leaseUntil === undefined || claimedAt === undefined) return [];
  const kind = status === 'compensating' ? 'undo' : status === 'probing' ? 'probe' : 'run';
  return [
    { kind, from: claimedAt, to: now, note: `attempt ${attempt ?? 1}, under way` },
    {
      kind: 'lease',
      from: now,
      to: leaseUntil,
      note: 'its lease; no report or heartbeat is needed before it ends',
      ahead: true,
    },
  ];
}

/** Returns the stretch in place of attempts that are not kept; the time between them is unknown. */
function leftOutBefore(step: StepView, worked: readonly Stretch[], at: number): Stretch[] | undefined {
  const { attempts, attemptsLeftOut: left } = step;
  const [before, after] = [worked[at - 1], worked[at]];
  if (left === undefined || before === undefined || after === undefined) return undefined;
  if (!isAfterLeftOut(attempts, at)) return undefined;
  return [{ kind: 'left-out', from: before.to, to: after.from, note: leftOutText(left) }];
}

/**
 * Returns the stretch between two attempts. After a refusal it is a backoff, which ends when an agent takes
 * the step, because only the latest due time is recorded. Once the execution is stopped, it is an undo's wait
 * for its turn; before that, a done step is in no queue.
 */
function between(
  before: Stretch | undefined,
  after: Stretch,
  { cause, retries = [] }: ExecutionView,
): Stretch[] {
  if (before === undefined || after.kind === 'lease') return [];
  const { from: to } = after;
  const from = before.to;
  if (after.kind === 'undo' && before.kind !== 'undo')
    return [{ kind: 'wait', from: Math.max(from, cause?.at ?? 0), to, note: 'before its undo' }];
  if (before.kind === 'lost' && after.kind === 'probe')
    return [{ kind: 'wait', from, to, note: 'its outcome was unknown until a probe began' }];
  if (before.isAccepted === true)
    return [{ kind: 'wait', from, to, note: 'its service had accepted the work and was at it' }];
  const retriedAt = retries.findLast(({ at }) => at >= from && at <= to)?.at;
  if (retriedAt === undefined) return [{ kind: 'backoff', from, to, note: 'backoff until an agent took it' }];
  return [
    { kind: 'wait', from, to: retriedAt, note: 'failed, until it was retried' },
    { kind: 'queue', from: retriedAt, to, note: QUEUED },
  ];
}

/** What comes next in each of these statuses: an attempt, a probe or an undo. */
const NEXT_OF: Readonly<Partial<Record<StepView['status'], 'run' | 'probe' | 'undo'>>> = {
  ready: 'run',
  retrying: 'run',
  accepted: 'probe',
  unknown: 'probe',
  compensating: 'undo',
};

/**
 * Returns the stretches after the latest attempt: the time until which the step is deferred, and the time
 * since which it has been in its queue again.
 */
function toCome(step: StepView, last: Stretch | undefined, view: ExecutionView, now: number): Stretch[] {
  const { retryAt, deferred, status } = step;
  const kind = NEXT_OF[status];
  if (last === undefined || last.kind === 'lease' || kind === undefined || view.endedAt !== undefined)
    return [];
  const isTriedAgain = (view.retries ?? []).some(({ at }) => at >= last.to);
  const dueAt = retryAt ?? (isTriedAgain || kind !== 'run' ? now : last.to);
  const from = Math.min(now, Math.max(last.to, dueAt));
  const held = between(last, { kind, from, to: from, note: '' }, view);
  const note = `${deferralText(deferred)}, until then`;
  return [
    ...held.map((one) => (one.kind === 'backoff' ? { ...one, note: deferralText(deferred) } : one)),
    { kind: 'queue', from, to: now, note: QUEUED },
    ...(dueAt > now ? [{ kind: 'backoff', from: now, to: dueAt, note, ahead: true } as const] : []),
  ];
}

/**
 * Returns the stretch of one round, or of one try of a failed round; the next begins as soon as it has ended.
 */
const ofRound = ({ number, outcome, claimedAt, endedAt, failure, message }: AttemptView): Stretch => ({
  kind: 'wait',
  from: claimedAt,
  to: endedAt,
  note: `execution ${number}${message === undefined ? '' : ` with message ${message}`}: ${outcome}${failure === undefined ? '' : ` (${failure.code})`}`,
  ...(outcome === 'failed' ? ({ failed: true } as const) : {}),
});

const OVER: ReadonlySet<string> = new Set([
  'done',
  'failed',
  'tolerated',
  'fenced',
  'compensated',
  'compensation-failed',
]);

function waited(step: StepView, ready: number, view: ExecutionView, now: number): Stretch[] {
  const end = OVER.has(step.status) ? (step.changedAt ?? ready) : (view.endedAt ?? now);
  const note =
    step.children === undefined ? `${step.kind}: ${step.status}` : `its executions: ${step.status}`;
  const tried = step.children?.rounds === undefined ? [] : step.attempts.map(ofRound);
  const from = Math.min(tried.at(-1)?.to ?? ready, end);
  const past: Stretch[] = [...tried, { kind: 'wait', from, to: end, note }];
  if (step.waitsUntil === undefined || step.waitsUntil <= now) return past;
  return [
    ...past,
    { kind: 'wait', from: now, to: step.waitsUntil, note: 'until then at the latest', ahead: true },
  ];
}

const asked = ({ name }: StepView, { incidents, endedAt }: ExecutionView, now: number): Stretch[] =>
  incidents
    .filter(({ step }: IncidentView) => step === name)
    .map((incident) => ({
      kind: 'asked',
      from: incident.openedAt,
      to: incident.closedAt ?? endedAt ?? now,
      note: `incident ${incident.number}: a person was asked`,
    }));
