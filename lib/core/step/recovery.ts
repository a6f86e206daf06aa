/**
 * The ladder: what is tried next after a failure, and when.
 *
 * Owns: the order of rungs, what a step is on a rung (its stage), exponential backoff with full jitter, the retries of
 * probes and undos. Does not own: which stage has which effect key (`effect-key.ts`), the dice (the random number is an argument) or the write that follows.
 */

import { MAX_DURATION_MS } from '../plan/duration.ts';
import type { AgentStep, Rung, Tries } from '../plan/plan.ts';
import type { Step } from '../records/state.ts';

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

const stages = new WeakMap<AgentStep, AgentStep[]>();

/** The step as it is on a rung: with the input and the agent of the last rung up to there that changed one. */
export const stageOf = (step: AgentStep, rung: number): AgentStep =>
  rung === 0 ? step : (knownStages(step)[Math.min(rung, step.ladder.length)] as AgentStep);

/** The number of the stage that a rung is on: a rung that changes nothing is on the one before it. */
export const stageNumber = (step: AgentStep, rung: number): number =>
  step.ladder.slice(0, rung).filter(changes).length;

/** The step as it is in the stage with the number. */
export function stageAt(step: AgentStep, number: number): AgentStep {
  if (number === 0) return step;
  const all = knownStages(step);
  const last = step.ladder.findIndex((_, at) => stageNumber(step, at + 1) === number);
  return (all[last + 1] ?? all.at(-1)) as AgentStep;
}

/** What is to be asked for, taken back or believed late: the stage of the latest attempt to execute, not that of the next. */
export const attemptedStage = (step: AgentStep, record: Step | undefined): AgentStep =>
  stageAt(step, record?.keyStage ?? 0);

const changes = ({ kind }: Rung): boolean => kind === 'withInput' || kind === 'useAgent';

/** A plan never changes, and every look asks for the stage of every step. */
function knownStages(step: AgentStep): AgentStep[] {
  let known = stages.get(step);
  if (known === undefined) {
    known = stagesOf(step);
    stages.set(step, known);
  }
  return known;
}

/** The stage of every rung, the first attempt's before them. */
function stagesOf(step: AgentStep): AgentStep[] {
  let stage = step;
  const all = [stage];
  for (const passed of step.ladder) {
    if (passed.kind === 'withInput') stage = { ...stage, input: passed.input };
    if (passed.kind === 'useAgent') {
      const { kind: _kind, attempts: _attempts, firstMs: _first, maxMs: _max, ...agent } = passed;
      const { maxNoProgressMs: _progress, ...rest } = stage;
      stage = { ...rest, ...agent };
    }
    all.push(stage);
  }
  return all;
}

/** Whether a step is another one on the later of two rungs: then it must be certain that the earlier did not act. */
export const changesBetween = (step: AgentStep, rung: number, later: number): boolean =>
  step.ladder.slice(rung, later).some(changes);

export type NextTry =
  | { readonly kind: 'attempt'; readonly rung: number; readonly retryAt: number }
  | { readonly kind: 'person' }
  | { readonly kind: 'end' };

export interface Failed {
  readonly rung: number;
  /** Attempts claimed on that rung. */
  readonly rungAttempt: number;
  /** The same again cannot help. */
  readonly permanent?: boolean;
  /** The service's own wish, in ms from now. */
  readonly retryAfterMs?: number;
}

/** What comes after a failed attempt. */
export function nextTry(step: AgentStep, failed: Failed, now: number, random: number): NextTry {
  const { rung, rungAttempt, permanent = false, retryAfterMs = 0 } = failed;
  const attemptOn = (at: number, tries: Tries, n: number): NextTry => {
    const waitMs = Math.min(Math.max(backoffMs(tries, n, random), retryAfterMs), MAX_DURATION_MS);
    return { kind: 'attempt', rung: at, retryAt: now + waitMs };
  };
  const current = step.ladder[rung - 1];
  if (current !== undefined && current.kind !== 'human' && !permanent && rungAttempt < current.attempts) {
    return attemptOn(rung, current, rungAttempt + 1);
  }
  for (let at = rung; at < step.ladder.length; at += 1) {
    const next = step.ladder[at] as Rung;
    if (next.kind === 'human') return { kind: 'person' };
    if (next.attempts > 0 && !(permanent && next.kind === 'retry')) return attemptOn(at + 1, next, 1);
  }
  return { kind: 'end' };
}

/** What comes when the outcome cannot be settled: only a person may go on. */
export function nextUnsettled(step: AgentStep): NextTry {
  return step.ladder.some((rung) => rung.kind === 'human') ? { kind: 'person' } : { kind: 'end' };
}

/** When the next attempt to undo may start, or nothing. @param undoAttempt attempts to undo claimed so far */
export function nextUndoAt(
  step: AgentStep,
  undoAttempt: number,
  now: number,
  random: number,
): number | undefined {
  if (step.undo === 'none' || undoAttempt > step.undo.attempts) return undefined;
  return now + backoffMs(step.undo, undoAttempt, random);
}

/** When to probe again after `probes` probes without a verdict. */
export const nextProbeAt = (probes: number, now: number, random: number): number =>
  now + backoffMs(PROBE_BACKOFF, probes, random);
