/**
 * The recovery: what is tried next after a failure, and when.
 *
 * Owns: the order of stages, the step's variant on a stage, exponential backoff with full jitter, the retries
 * of probes and undos. Does not own: which variant has which effect key (`effect-key.ts`), the random source
 * (its number is an argument), the write that follows.
 */

import { MAX_DURATION_MS } from '../values/duration.ts';
import type { StepChanges } from '../decisions/change.ts';
import { MAX_ASK_AFTER_MS } from '../plan/answers.ts';
import type { AgentStep, Stage, StepLimits, Tries } from '../plan/plan.ts';
import type { Step } from '../records/state.ts';

/** An agent's step, or a child with its tries. */
interface Recovered {
  readonly recovery: readonly Stage[];
}

/** Undecided probes before the outcome is given up. */
export const MAX_PROBES = 20;
const PROBE_BACKOFF: Tries = { attempts: MAX_PROBES, firstMs: 1_000, maxMs: 60_000 };

/**
 * Full jitter: a random part of min(max, first · 2^(n-1)), for the n-th retry (n from 1).
 * @param random in [0, 1)
 * @returns whole ms in [0, maxMs]
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(tries: Tries, n: number, random: number): number {
  // 2^50 ms is past every allowed maximum; the clamp keeps the product finite for any n.
  const ceilingMs = Math.min(tries.maxMs, tries.firstMs * 2 ** Math.min(Math.max(n - 1, 0), 50));
  return Math.floor(ceilingMs * Math.min(Math.max(random, 0), 1));
}

const variants = new WeakMap<AgentStep, AgentStep[]>();

/** The step on a stage, with the input and agent of the latest stage so far that changed one. */
export const variantOf = (step: AgentStep, stage: number): AgentStep =>
  stage === 0 ? step : (knownVariants(step)[Math.min(stage, step.recovery.length)] as AgentStep);

/** The number of a stage's variant; a stage that changes nothing has the one before. */
export const variantNumber = (step: Recovered, stage: number): number =>
  step.recovery.slice(0, stage).filter(changes).length;

/** Returns the step in the variant with this number. */
export function variantAt(step: AgentStep, number: number): AgentStep {
  if (number === 0) return step;
  const all = knownVariants(step);
  const last = step.recovery.findIndex((_, at) => variantNumber(step, at + 1) === number);
  return (all[last + 1] ?? all.at(-1)) as AgentStep;
}

/** The variant to probe, undo or adopt late: that of the latest attempt to execute, not that of the next. */
export const attemptedVariant = (step: AgentStep, record: Step | undefined): AgentStep =>
  variantAt(step, record?.keyVariant ?? 0);

const changes = ({ kind }: Stage): boolean => kind === 'withInput' || kind === 'useAgent';

/** Computed once, because every evaluation needs the variants of every step, and a plan never changes. */
function knownVariants(step: AgentStep): AgentStep[] {
  let known = variants.get(step);
  if (known === undefined) {
    known = variantsOf(step);
    variants.set(step, known);
  }
  return known;
}

/** The variant of the first attempt, then of every stage. */
function variantsOf(step: AgentStep): AgentStep[] {
  let variant = step;
  const all = [variant];
  for (const passed of step.recovery) {
    if (passed.kind === 'withInput') variant = { ...variant, input: passed.input };
    if (passed.kind === 'useAgent') {
      const { kind: _kind, attempts: _attempts, firstMs: _first, maxMs: _max, ...agent } = passed;
      const { maxNoProgressMs: _progress, acceptsMs: _accepts, ...rest } = variant;
      variant = { ...rest, ...agent };
    }
    all.push(variant);
  }
  return all;
}

/** True if its next attempt to execute makes another request than the one that may have acted. */
export const isLeaving = (step: AgentStep, record: Step): boolean =>
  record.attempt > 0 &&
  (record.givenInput !== undefined || variantNumber(step, record.stage) !== record.keyVariant);

/**
 * True if the two stages make different requests: it must then be certain that the earlier one did not act.
 */
export const changesBetween = (step: Recovered, stage: number, later: number): boolean =>
  step.recovery.slice(stage, later).some(changes);

/** True if an attempt with an unknown outcome may be repeated unchanged. */
export const isRepeatable = ({ effect }: StepLimits): boolean => effect === 'idempotent' || effect === 'none';

export type NextTry =
  | { readonly kind: 'attempt'; readonly stage: number; readonly retryAt: number }
  | { readonly kind: 'person' }
  | { readonly kind: 'end' };

export interface Failed {
  readonly stage: number;
  /** How many attempts were claimed on that stage. */
  readonly stageAttempt: number;
  /** True if another attempt with the same request cannot help. */
  readonly permanent?: boolean;
  /** How long the service asks to wait, in ms from now. */
  readonly retryAfterMs?: number;
  /** True if that is longer than the remaining time, so that a repetition is useless. */
  readonly isTooLate?: boolean;
}

/** What follows a failed attempt. */
export function nextTry(step: Recovered, failed: Failed, now: number, random: number): NextTry {
  const { stage, stageAttempt, isTooLate = false } = failed;
  const permanent = failed.permanent === true || isTooLate;
  const retryAfterMs = isTooLate ? 0 : (failed.retryAfterMs ?? 0);
  const attemptOn = (at: number, tries: Tries, n: number): NextTry => {
    const waitMs = Math.min(Math.max(backoffMs(tries, n, random), retryAfterMs), MAX_DURATION_MS);
    return { kind: 'attempt', stage: at, retryAt: now + waitMs };
  };
  const current = step.recovery[stage - 1];
  if (
    current !== undefined &&
    current.kind !== 'askPerson' &&
    !permanent &&
    stageAttempt < current.attempts
  ) {
    return attemptOn(stage, current, stageAttempt + 1);
  }
  for (let at = stage; at < step.recovery.length; at += 1) {
    const next = step.recovery[at] as Stage;
    if (next.kind === 'askPerson') return { kind: 'person' };
    if (next.attempts > 0 && !(permanent && next.kind === 'retry')) return attemptOn(at + 1, next, 1);
  }
  return { kind: 'end' };
}

/** The next try after an outcome that stays unknown: only a person may decide to go on. */
export function nextWithoutVerdict(step: Recovered): NextTry {
  return step.recovery.some((stage) => stage.kind === 'askPerson') ? { kind: 'person' } : { kind: 'end' };
}

/**
 * The time of the next attempt to undo; undefined if there is none. @param undoAttempt how many were claimed
 * so far
 */
export function nextUndoAt(
  step: AgentStep,
  undoAttempt: number,
  now: number,
  random: number,
): number | undefined {
  if (step.undo === 'none' || undoAttempt > step.undo.attempts) return undefined;
  return now + backoffMs(step.undo, undoAttempt, random);
}

/**
 * When to probe again after `probes` undecided probes.
 * @param wishMs the pause that the service asks for
 */
export const nextProbeAt = (probes: number, now: number, random: number, wishMs?: number): number =>
  Math.max(now + backoffMs(PROBE_BACKOFF, probes, random), wishEndsAt(now, wishMs));

/** The end of the pause that a service asks for before a probe or an undo, which no time limit shortens. */
export const wishEndsAt = (now: number, wishMs = 0): number => now + Math.min(wishMs, MAX_ASK_AFTER_MS);

/**
 * The changes on entering a stage. If it changes the request, an input that a person gave no longer counts.
 */
export const onStage = (step: AgentStep, record: Step, stage: number): StepChanges => ({
  stage,
  stageAttempt: stage === record.stage ? record.stageAttempt : 0,
  ...(changesBetween(step, record.stage, stage) ? { givenInput: undefined } : {}),
});
