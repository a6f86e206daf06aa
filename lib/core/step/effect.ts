/**
 * The effect of a step at external services, and until when the step may act there.
 *
 * Owns: the one answer that work, end, notice to a parent, lane and the list for people all use. Does not
 * own: the work that follows (`ready.ts`), the list of effects (`operators/in-effect.ts`), when a process is
 * dead (`process-deadline.ts`).
 *
 * S10 every act, or possible act, is undone unless its author or a person keeps it; "stands" is certain, "may
 * stand" is not. Probes, beliefs and undos concern the attempted variant, not the next one.
 */

import { type AgentStep, type ChildStep, hasChildren, type MapStep, type PlanStep } from '../plan/plan.ts';
import type { Children } from '../records/children.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, type Step } from '../records/state.ts';
import { settlesAt } from './process-deadline.ts';
import { attemptedVariant } from './recovery.ts';
import { hasEarlierRounds, hasOpenChildren } from './turn.ts';

export interface Effect {
  /** `open`: work under way decides. `stands`: it acted. `undone`: the act was undone. */
  readonly is: 'none' | 'open' | 'may-stand' | 'stands' | 'undone';
  /** True if the effect must be undone together with the execution, or before the step goes on. */
  readonly isOwed: boolean;
  /**
   * True if a service has accepted work that cannot be stopped: only an answer, or the end of its time,
   * decides what follows.
   */
  readonly isAwaited: boolean;
  /**
   * True if the step is over and an effect stays, or may stay: its undo failed; its failure was tolerated; or
   * its wrong answer was not corrected in time, and its work has no undo. A success that its author keeps
   * does not count.
   */
  readonly isLeft: boolean;
  /** The time from which no attempt acts. Work that a service has accepted may act until an undo stops it. */
  readonly attemptsUntil: number;
  /** The time from which nothing acts: no attempt, no accepted work, no ended execution of the step. */
  readonly actsUntil: number;
  /** N1 Like `actsUntil`, but also after a success and for undone work. */
  readonly lateUntil: number;
}

const NOTHING: Effect = {
  is: 'none',
  isOwed: false,
  isAwaited: false,
  isLeft: false,
  attemptsUntil: 0,
  actsUntil: 0,
  lateUntil: 0,
};

export function effectOf(step: PlanStep, record: Step | undefined): Effect {
  if (record === undefined) return NOTHING;
  if (hasChildren(step)) return effectOfChildren(step, record);
  return step.kind === 'agent' ? effectOfAttempts(attemptedVariant(step, record), record) : NOTHING;
}

/**
 * The effect of an agent's step by status, and whether it must be undone if it is in effect. `acted`: depends
 * on whether an attempt may have acted. Work under way need not be undone yet, a fenced or tolerated step no
 * longer.
 */
const BY_STATUS: Readonly<Record<Step['status'], readonly [is: Effect['is'] | 'acted', owed: boolean]>> = {
  ready: ['acted', false],
  running: ['acted', false],
  retrying: ['acted', true],
  accepted: ['open', true],
  unknown: ['open', true],
  probing: ['open', false],
  waiting: ['acted', true],
  answered: ['acted', false],
  done: ['stands', true],
  failed: ['acted', true],
  fenced: ['acted', false],
  skipped: ['none', false],
  tolerated: ['acted', false],
  compensating: ['may-stand', true],
  compensated: ['undone', false],
  'compensation-failed': ['may-stand', true],
};

function effectOfAttempts(variant: AgentStep, record: Step): Effect {
  const { mayHaveActed } = record;
  const [said, owed] = BY_STATUS[record.status];
  const known = said === 'acted' ? soFar(record) : said;
  const is = variant.effect === 'none' ? 'none' : known;
  const deadAt = settlesAt(variant, record);
  const attemptsUntil = mayHaveActed ? deadAt : 0;
  const actsUntil = Math.max(attemptsUntil, acceptedUntil(variant, record));
  const lateUntil = wasLost(record) ? Math.max(actsUntil, deadAt) : actsUntil;
  const isOwed = owed && is !== 'none' && variant.undo !== 'none';
  const isAwaited = record.status === 'accepted' && is !== 'none' && !isOwed;
  const isLeft =
    record.status === 'compensation-failed' ||
    (record.status === 'tolerated' && is !== 'none') ||
    (record.status === 'failed' && is === 'stands' && !isOwed);
  return { is, isOwed, isAwaited, isLeft, attemptsUntil, actsUntil, lateUntil };
}

/** Returns the effect if the step's status does not decide it. After a wrong answer the work is done. */
function soFar(record: Step): Effect['is'] {
  if (isLeased(record)) return 'open';
  if (!record.mayHaveActed) return 'none';
  return record.wrongAnswer === undefined ? 'may-stand' : 'stands';
}

/**
 * Returns until when work may act that a service has accepted, or may have accepted before its attempt died.
 * Work without a lasting effect does not count.
 */
function acceptedUntil(variant: AgentStep, record: Step): number {
  const { effect, acceptsMs } = variant;
  const isOver = record.status === 'done' || record.status === 'compensated';
  if (effect === 'none' || isOver || !record.mayHaveActed) return 0;
  if (record.accepted !== undefined) return record.accepted.untilAt;
  return acceptsMs === undefined ? 0 : settlesAt(variant, record) + acceptsMs;
}

/** True if a process of the step was lost, so that it is unknown what its request did, or still does. */
const wasLost = ({ attempts, leftOut, mayHaveActed }: Step): boolean =>
  mayHaveActed || leftOut !== undefined || attempts.some(({ outcome }) => outcome === 'unknown');

function effectOfChildren(step: ChildStep | MapStep, record: Step): Effect {
  const { status, children } = record;
  if (children === undefined) return NOTHING;
  const is = status === 'compensated' ? 'undone' : inChildren(children);
  const isKnown = is === 'none' || is === 'undone' || (is !== 'open' && hasNoUndo(step));
  return {
    ...NOTHING,
    is,
    isOwed: status !== 'tolerated' && !isKnown,
    isLeft: isLeftInChildren(status, children),
    actsUntil: Math.max(0, ...Object.values(children.ended).map((end) => end.actsUntil ?? 0)),
    ...triesActUntil(children),
  };
}

/** N1 Until when the step's executions, earlier tries included, may act: the record of the next has it. */
export function triesActUntil(children: Children | undefined): { readonly lateUntil?: number } {
  const { ended = {}, lateUntil = 0 } = children ?? {};
  const ends = Object.values(ended).flatMap((end) => [end.actsUntil ?? 0, end.lateUntil ?? 0]);
  const until = Math.max(lateUntil, ...ends);
  return until === 0 ? {} : { lateUntil: until };
}

function isLeftInChildren(status: Step['status'], { ended, rounds }: Children): boolean {
  if (status !== 'done' && status !== 'tolerated') return status === 'compensation-failed';
  const ends = Object.values(ended);
  if (rounds?.left === true || ends.some(({ left }) => left === true)) return true;
  // Successful rounds stay only if they need no undo.
  return (
    status === 'tolerated' &&
    ends.some(({ clean, status: end }) => !clean && (rounds === undefined || end !== 'succeeded'))
  );
}

function inChildren(children: Children): Effect['is'] {
  if (hasOpenChildren(children)) return 'open';
  const left = Object.values(children.ended).filter(({ clean }) => !clean);
  if (hasEarlierRounds(children) || left.some(({ status }) => status === 'succeeded')) return 'stands';
  return left.length > 0 ? 'may-stand' : 'none';
}

/** True if the effects of the child executions stay when the parent is undone. */
export const hasNoUndo = (step: ChildStep | MapStep): boolean =>
  (step.kind === 'map' ? step.each.undo : step.undo) === 'none';

/**
 * True if nothing in the execution is undone, because a person decided so or a point of no return was passed.
 */
export const undoesNothing = ({ execution }: Pick<Snapshot, 'execution'>): boolean =>
  execution.cause?.undo === false;

/** True if the execution is ending with its effects in place. */
export const endsAsItIs = (snapshot: Pick<Snapshot, 'execution'>): boolean =>
  snapshot.execution.status === 'compensating' && undoesNothing(snapshot);
