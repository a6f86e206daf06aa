/**
 * Judges wake times: in an open execution nothing is due before its wake time, up to the allowed difference
 * of clocks.
 *
 * Owns: S12, by `decide`: what would a supervisor do just before the wake time, if nothing else happened?
 * Does not own: evaluation at the wake time (L1, at a world's end), acts before their time
 * (`oracle-times.ts`), wake times that are too far (`oracle.ts`).
 */

import { decide } from '../../lib/core/decide.ts';
import type { Decision, Write } from '../../lib/core/decisions/decision.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { isTerminal } from '../../lib/core/records/state.ts';
import { isLostFailure } from '../../lib/core/step/left-out.ts';
import { planSeen } from './on-failure.ts';

/** The largest difference of two clocks, each wrong by the allowed maximum (docs/ALARMS.md). */
export const CLOCKS_DIFFER_MS = 4_000;
/** The time that one call takes. */
const CALL_MS = 100;
export const LONGEST_GAP_MS = 900_000;
const IDLE_HORIZON_MS = 60_000;

export interface Looked {
  /** Whether the writing process may have died before its evaluation. */
  readonly mayDie: boolean;
  /** The latest write, and the state before it. */
  readonly write?: Write;
  readonly before?: Snapshot;
}

interface WakeContext extends Looked {
  /** True time. */
  readonly now: number;
  /** How long overdue work may be deferred because of a full queue or a trial of its service. */
  readonly putOffMs: number;
  /** When a supervisor last noticed the end of an outage, which extends older leases. */
  readonly graceFrom: number;
  /** The keys of the values that no process can load any more; the table still has these values. */
  readonly lost: ReadonlySet<string>;
}

/** @param whole the plan as it is stored, as `state` is */
export function judgeWake(whole: Plan, state: Snapshot | undefined, context: WakeContext): readonly string[] {
  if (state === undefined || isTerminal(state.execution.status)) return [];
  const { status, wakeAt } = state.execution;
  if (wakeAt === undefined) return ['S12 an open execution has no wake time'];
  const { now, mayDie, putOffMs, graceFrom, write, lost } = context;
  const horizon = horizonMs(planSeen(whole, state.execution));
  const at = wakeAt - CLOCKS_DIFFER_MS - CALL_MS;
  if (at <= (mayDie && !isSupervised(context) ? now + horizon : now)) return [];
  // A step written in a pause by a process with an older read is evaluated after the pause.
  if (status === 'paused' && write?.execution === undefined) return [];
  const due = dueAt(whole, state, at, graceFrom);
  if (due.length === 0) return [];
  // A process that knows of a lost value does not evaluate a condition that reads it (seed 20975).
  const knowing = dueAt(whole, { ...state, values: { lost } }, at, graceFrom).map(({ what }) => what);
  return due.flatMap(({ what, step }) => {
    if (!knowing.includes(what)) return [];
    const { deferred, failure, changedAt = 0 } = state.steps[step ?? ''] ?? {};
    // A lost value is still in the table, but a process cannot read it.
    if (isLostFailure(failure)) return [];
    // The process that deferred the work evaluates the execution; if it dies, another process does so within
    // the horizon.
    if (deferred !== undefined && at <= Math.max(changedAt, deferred.at) + horizon) return [];
    const wasDue = dueAt(whole, state, now + CLOCKS_DIFFER_MS, graceFrom).some((one) => one.what === what);
    if (wasDue && at <= now + Math.max(putOffMs, horizon)) return [];
    return [`S12 ${at - now} ms from now, before the wake time, is due: ${what}`];
  });
}

/** Whether a supervisor's evaluation made the write, so that nothing may be due before its wake time. */
const isSupervised = ({ write, before }: WakeContext): boolean =>
  write?.step === undefined &&
  write?.question === undefined &&
  write?.execution !== undefined &&
  write.execution.status === before?.execution.status &&
  write.execution.dispatches !== before.execution.dispatches;

interface Due {
  readonly what: string;
  readonly step?: string;
}

/** A supervisor's acts at that time, if nothing happens before. */
function dueAt(whole: Plan, state: Snapshot, now: number, graceFrom: number): readonly Due[] {
  // No messages arrive until then.
  const decision = decide(
    whole,
    { mailbox: { messages: {} }, ...state },
    {
      type: 'evaluate',
      by: 'supervisor',
      // Only overdue messages are sent again.
      affected: [''],
      fresh: true,
      readAt: now,
      now,
      writeId: 'asked',
      random: 0,
      graceFrom,
    },
  );
  return decision.sends.length > 0
    ? decision.sends.map(({ message: { step, mode } }) => ({ what: `${mode} of '${step}' is sent`, step }))
    : writes(decision);
}

/** The due acts of a decision. Deferring work is not one, because it is the supervisor's choice. */
function writes({ write, next, notes }: Decision): readonly Due[] {
  const isIdle = next.kind === 'idle' && write?.step === undefined && write?.question === undefined;
  const names = notes.map(({ what }) => what);
  if (names.includes('deferred') || (isIdle && names.length === 0)) return [];
  const { name: step } = write?.step ?? {};
  const what = [next.kind, ...names].join(' ');
  return [step === undefined ? { what } : { what: `${what} of '${step}'`, step }];
}

const horizons = new WeakMap<Plan, number>();

/**
 * The time within which a write is evaluated: for each step the shorter of lease and pickup time, and of
 * these the longest.
 */
function horizonMs(plan: Plan): number {
  const known = horizons.get(plan);
  if (known !== undefined) return known;
  const spans = plan.steps.flatMap((step) =>
    step.kind === 'agent' ? [Math.min(step.leaseMs, step.pickupMs)] : [],
  );
  const found = spans.length === 0 ? IDLE_HORIZON_MS : Math.max(...spans);
  horizons.set(plan, found);
  return found;
}
