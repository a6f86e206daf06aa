/**
 * What the timeline of an execution is made of: of each step when it was queued, worked on, waiting, and what is still to come.
 *
 * Owns: the stretches and their names, for the page and for `why`. Does not own: how they are drawn, and how time is compressed (the
 * console's `timeline.tsx`, `time-scale.ts`).
 *
 * No record says when a step became ready: it is when the last of its predecessors was done.
 */

import type { AttemptView, ExecutionView, IncidentView, StepView } from '../api/answers.ts';
import { durationText, table } from './text.ts';

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * `queue`: ready, and not taken. `run`, `undo`, `probe`: an attempt. `lost`: an attempt whose outcome was not known at its end.
 * `lease`: until then the attempt under way may stay silent. `backoff`: between two attempts. `wait`: for a time, an answer,
 * executions of its own, or its turn to be undone. `asked`: a person is asked.
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
  | 'asked';

export interface Stretch extends Span {
  readonly kind: StretchKind;
  readonly note: string;
  readonly failed?: true;
  /** It is still to come. */
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
    status: step.status,
    stretches: [...ofStep(step, view, now), ...asked(step, view, now)].filter(({ from, to }) => to > from),
  }));
}

/** Of work that is drawn as long as it was. */
export const isWork = ({ kind, ahead }: Stretch): boolean =>
  ahead !== true && (kind === 'run' || kind === 'undo' || kind === 'probe' || kind === 'lost');

const HEADS: Readonly<Partial<Record<StretchKind, string>>> = {
  queue: 'QUEUED',
  run: 'RAN',
  lost: 'UNKNOWN',
  probe: 'PROBED',
  backoff: 'BACKOFF',
  wait: 'WAITED',
  asked: 'ASKED',
  undo: 'UNDONE',
};

/** Of each step how long it was queued, worked on, waiting: sums of what is past; nothing where nothing has taken time. */
export function timesText(rows: readonly Row[]): string {
  const kinds = Object.keys(HEADS) as StretchKind[];
  const sums = rows.map(({ step, stretches }) => ({
    step,
    of: (kind: StretchKind) =>
      stretches
        .filter((one) => one.kind === kind && one.ahead !== true)
        .reduce((sum, { from, to }) => sum + to - from, 0),
  }));
  const shown = kinds.filter((kind) => sums.some(({ of }) => of(kind) > 0));
  const lines = sums
    .filter(({ of }) => shown.some((kind) => of(kind) > 0))
    .map(({ step, of }) => [step, ...shown.map((kind) => (of(kind) === 0 ? '' : durationText(of(kind))))]);
  return lines.length === 0 ? '' : table(['STEP', ...shown.map((kind) => HEADS[kind] ?? kind)], lines);
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
  const attempts = step.attempts.map(ofAttempt);
  const running = underWay(step, now);
  const worked = [...attempts, ...running];
  const first = worked[0];
  if (first === undefined)
    return step.status === 'ready'
      ? [{ kind: 'queue', from: ready, to: view.endedAt ?? now, note: 'in its queue' }]
      : [];
  const queued: Stretch = {
    kind: 'queue',
    from: Math.min(ready, first.from),
    to: first.from,
    note: 'in its queue',
  };
  return [
    queued,
    ...worked.flatMap((one, at) => [...between(worked[at - 1], one, view.cause?.at), one]),
    ...toCome(step, worked, now),
  ];
}

/** Closed without an attempt: nothing of it took time. */
const UNBEGUN: ReadonlySet<string> = new Set(['pending', 'skipped']);

const KIND_OF = { execute: 'run', undo: 'undo', probe: 'probe' } as const;

function ofAttempt(attempt: AttemptView): Stretch {
  const { mode, outcome, number, claimedAt, endedAt, failure } = attempt;
  const deed = mode === 'execute' ? 'attempt' : mode;
  const failed = outcome === 'failed' ? ({ failed: true } as const) : {};
  return {
    kind: outcome === 'unknown' ? 'lost' : KIND_OF[mode],
    from: claimedAt,
    to: endedAt,
    note: `${deed} ${number}: ${outcome}${failure === undefined ? '' : ` (${failure.code})`}`,
    ...failed,
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
      note: 'its lease: until then it may stay silent',
      ahead: true,
    },
  ];
}

/**
 * A stretch after a refusal is its backoff; it ends when an agent takes it. An undo waits for its turn once the execution is stopped;
 * what was done is in nobody's queue before that.
 */
function between(before: Stretch | undefined, after: Stretch, stoppedAt = 0): Stretch[] {
  if (before === undefined || after.kind === 'lease') return [];
  if (after.kind !== 'undo' || before.kind === 'undo')
    return [{ kind: 'backoff', from: before.to, to: after.from, note: 'backoff, until it was taken' }];
  return [{ kind: 'wait', from: Math.max(before.to, stoppedAt), to: after.from, note: 'before its undo' }];
}

function toCome({ retryAt, deferred, status }: StepView, worked: readonly Stretch[], now: number): Stretch[] {
  const last = worked.at(-1);
  if (retryAt === undefined || last === undefined || status === 'done') return [];
  const note = deferred === undefined ? 'backoff' : `deferred: ${deferred.why}`;
  return [
    { kind: 'backoff', from: last.to, to: Math.min(now, retryAt), note },
    { kind: 'backoff', from: now, to: retryAt, note: `${note}, until then`, ahead: true },
  ];
}

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
  const past: Stretch = { kind: 'wait', from: Math.min(ready, end), to: end, note };
  if (step.waitsUntil === undefined || step.waitsUntil <= now) return [past];
  return [
    past,
    { kind: 'wait', from: now, to: step.waitsUntil, note: 'until then at the latest', ahead: true },
  ];
}

const asked = ({ name }: StepView, { incidents, endedAt }: ExecutionView, now: number): Stretch[] =>
  incidents
    .filter(({ step }: IncidentView) => step === name)
    .map((incident) => ({
      kind: 'asked',
      from: incident.openedAt,
      to: incident.resolvedAt ?? endedAt ?? now,
      note: `incident ${incident.number}: a person was asked`,
    }));
