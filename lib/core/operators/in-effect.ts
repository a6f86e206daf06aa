/**
 * The effects of an execution at external services: those that are in place, and those that may be.
 *
 * Owns: the list, and its short form for answers, events and refusals. Does not own: the effect of a step
 * (`step/effect.ts`), how it is printed (`cli/`).
 *
 * A step whose `undo` is 'none' is not listed, because its author says that it needs no undo. Listed are: a
 * point of no return, which cannot be undone; a tolerated failure that may have acted; a wrong answer about
 * work without an undo. So an execution that ended as canceled or compensated lists nothing (S10). A child or
 * a part of a list is listed by its execution's id; that execution has its own list. S17 names and ids alone,
 * never a payload.
 */

import {
  type ChildStep,
  hasChildren,
  isBefore,
  isRepeated,
  type MapStep,
  type Plan,
  type PlanStep,
} from '../plan/plan.ts';
import type { Standing, StandingEffect } from '../records/ended.ts';
import type { Incident } from '../records/question.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution, Step } from '../records/state.ts';
import { effectOf, hasNoUndo } from '../step/effect.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { hasEarlierRounds } from '../step/turn.ts';
import { childIds, idsOfTries } from '../waiting/child.ts';
import { tryOf } from '../waiting/child-tries.ts';
import { earlierRounds } from '../waiting/rounds.ts';
import { defined } from '../values/defined.ts';

/** The most effects that are shown; the whole execution shows all. */
const MAX_SHOWN = 20;

type Effect = StandingEffect['effect'];

/** @param only selects the steps; all if it is absent */
export function standingOf(
  plan: Plan,
  state: Snapshot,
  only: (step: PlanStep) => boolean = () => true,
): Standing {
  return standing(
    state,
    plan.steps.filter(only).flatMap((step) => effectsOf(step, state)),
  );
}

/**
 * Lists the effects that tolerated failures may have left; those of a child or a list are in its executions.
 */
function leftBy(step: PlanStep, state: Snapshot): StandingEffect[] {
  const record = state.steps[step.name];
  if (record === undefined || !effectOf(step, record).isLeft) return [];
  if (!hasChildren(step) || record.status === 'tolerated') return effectsOf(step, state);
  // The records do not say in which round.
  if (record.children?.rounds?.left === true) return [{ step: step.name, effect: 'may-stand' }];
  return childIds(state.execution, record).flatMap((executionId, index): StandingEffect[] =>
    record.children?.ended[index]?.left === true
      ? [{ step: step.name, effect: 'may-stand', executionId }]
      : [],
  );
}

function standing({ execution }: Snapshot, all: readonly StandingEffect[]): Standing {
  const stands = all.filter(({ effect }) => effect === 'stands').length;
  return {
    stands,
    mayStand: all.length - stands,
    first: all.slice(0, MAX_SHOWN),
    view: `/executions/${execution.id}`,
  };
}

/**
 * The effects that an execution reports. After a success these are only those that tolerated failures may
 * have left.
 */
export function standingAtEnd(plan: Plan, state: Snapshot): Standing | undefined {
  if (state.execution.status !== 'succeeded') return standingOf(plan, state);
  const left = plan.steps.flatMap((step) => leftBy(step, state));
  return left.length === 0 ? undefined : standing(state, left);
}

/** The effects that stay if a person resolves the incident with 'keep'. */
export function leftByFailing(plan: Plan, state: Snapshot, { kind }: Incident): Standing {
  // An execution that is not being undone ends as it is.
  if (kind !== 'undo' || state.execution.status !== 'compensating') return standingOf(plan, state);
  // A step whose undo failed stays in effect with all its predecessors; the rest is undone.
  const stuck = plan.steps.filter(({ name }) => state.steps[name]?.status === 'compensation-failed');
  return standingOf(plan, state, (step) =>
    stuck.some(({ name }) => name === step.name || isBefore(plan, step.name, name)),
  );
}

/** A text for people: `'a', 'b' and 3 more stand; 'c' may stand`. */
export function standingText({ stands, mayStand, first }: Standing): string {
  const part = (effect: Effect, count: number, verb: string): string[] => {
    const names = first.filter((one) => one.effect === effect).map(nameOf);
    const more = count > names.length ? [`${count - names.length} more`] : [];
    return count === 0 ? [] : [`${[...names, ...more].join(', ')} ${verb}`];
  };
  const parts = [...part('stands', stands, 'in effect'), ...part('may-stand', mayStand, 'maybe in effect')];
  return parts.join('; ') || 'nothing in effect';
}

const nameOf = ({ step, executionId }: StandingEffect): string =>
  executionId === undefined ? `'${step}'` : `'${step}' (${executionId})`;

function effectsOf(step: PlanStep, { execution, steps }: Snapshot): StandingEffect[] {
  const record = steps[step.name];
  if (record === undefined) return [];
  if (hasChildren(step)) return ofChildren(step, record, execution);
  const { is, isLeft } = effectOf(step, record);
  // A tolerated failure shows every effect, even one that cannot be undone.
  const isShown =
    isLeft ||
    (step.kind === 'agent' &&
      (step.pointOfNoReturn === true || attemptedVariant(step, record).undo !== 'none'));
  if (is === 'none' || is === 'undone' || !isShown) return [];
  return [{ step: step.name, effect: is === 'stands' ? 'stands' : 'may-stand' }];
}

function ofChildren(step: ChildStep | MapStep, record: Step, execution: Execution): StandingEffect[] {
  const { children } = record;
  const isTold = record.status === 'tolerated' || !hasNoUndo(step) || step.pointOfNoReturn === true;
  if (children === undefined || !isTold) return [];
  const areKept = isRepeated(step) && hasNoUndo(step);
  const latest = childIds(execution, record).flatMap((executionId, index): StandingEffect[] => {
    const end = children.ended[index];
    if (end?.clean === true || (end === undefined && index >= children.started)) return [];
    const effect = end?.status === 'succeeded' ? 'stands' : 'may-stand';
    // Successful rounds need no undo, according to their author.
    return areKept && effect === 'stands' ? [] : [{ step: step.name, effect, executionId }];
  });
  return areKept ? latest : [...ofEarlierRounds(step, record, execution), ...latest];
}

/**
 * The successful rounds before the current one, by their ids, unless too many tries have failed to tell
 * rounds and tries apart.
 */
function ofEarlierRounds(step: PlanStep, record: Step, execution: Execution): StandingEffect[] {
  const { children } = record;
  if (children === undefined || !hasEarlierRounds(children)) return [];
  const ids = idsOfTries(execution, record);
  const effect = { step: step.name, effect: 'stands' } as const;
  const numbers = earlierRounds(children);
  if (numbers !== undefined)
    return numbers.map((number) => ({ ...effect, ...defined({ executionId: ids[number - 1] }) }));
  const count = Math.min(children.rounds?.done ?? 0, tryOf(children) - 1);
  return Array.from({ length: count }, () => effect);
}
