/**
 * Judges children that are points of no return, and ends without effects, independently of the rules, by the
 * children's own records and the ledger.
 *
 * Owns: these checks. Does not own: points of no return that agents perform (`oracle-operations.ts`), the
 * order of undos (`oracle.ts`, `oracle-children.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, isTerminal } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Ledger } from './ledger.ts';
import { childrenOf, type Others } from './families.ts';
import { actedAs } from './oracle-order.ts';

/**
 * S10: while a child that is a point of no return runs, and after it has passed its own point, nothing
 * outside it is undone: no step of its parent, and none of the parent's other children.
 */
export class OraclePoints {
  /** Executions that were stopped at their step's deadline while their parent went forward. */
  readonly #overTime = new Set<string>();
  readonly #others: Others;
  readonly #ledger: Ledger;

  constructor(others: Others, ledger: Ledger) {
    this.#others = others;
    this.#ledger = ledger;
  }

  judge(before: Snapshot, write: Write): string[] {
    this.#keepStop(before, write);
    if (!beginsUndo(before, write)) return [];
    const problems: string[] = [];
    let inside: string | undefined;
    let at: Snapshot | undefined = before;
    // Goes up while the parent causes the undo.
    while (at !== undefined) {
      const { id, parent }: Execution = at.execution;
      for (const step of this.#others.planOf(id)?.steps ?? [])
        if (isChildPoint(step) && step.name !== inside)
          problems.push(...problemsOf(at, step, this.#others, this.#ledger));
      inside = parent?.step;
      at = this.#undoneBy(at);
    }
    return problems;
  }

  #keepStop({ execution: before }: Snapshot, { execution: after }: Write): void {
    const { id, parent } = before;
    const isStop = after?.status === 'compensating' && before.status !== 'compensating';
    if (parent === undefined || !isStop || after.cause?.kind !== 'parent') return;
    const above = this.#others.read(parent.executionId)?.execution.status;
    // The parent may have been paused since the stopping process read it.
    if (above !== undefined && (isForward(above) || above === 'paused'))
      this.#overTime.add(`${id} ${before.startedAt}`);
    else this.#overTime.delete(`${id} ${before.startedAt}`);
  }

  /**
   * The parent that causes the undo. An execution stopped at its step's deadline undoes itself, like a failed
   * one.
   */
  #undoneBy({ execution: { id, startedAt, parent, cause } }: Snapshot): Snapshot | undefined {
    if (parent === undefined || cause?.kind !== 'parent' || this.#overTime.has(`${id} ${startedAt}`))
      return undefined;
    return this.#others.read(parent.executionId);
  }
}

const isChildPoint = (step: PlanStep): boolean => step.kind === 'child' && step.pointOfNoReturn === true;

/** Whether the write claims an undo or recalls a successful execution. */
function beginsUndo(before: Snapshot, { step, execution }: Write): boolean {
  const known = before.steps[step?.name ?? ''];
  const claims = step?.mode === 'undo' && step.leaseUntil !== undefined && step.token !== known?.token;
  // A failed item of a list is undone alone.
  const isOwn = claims && before.execution.status !== 'compensating';
  return (
    (claims && !isOwn) || (before.execution.status === 'succeeded' && execution?.status === 'compensating')
  );
}

function problemsOf(
  { execution }: Snapshot,
  step: PlanStep,
  { read, planOf }: Others,
  ledger: Ledger,
): string[] {
  return childrenOf(execution, step, read).flatMap((child) => {
    const { id } = child.execution;
    if (!isTerminal(child.execution.status) && child.execution.status !== 'following-up')
      return [`S10 undone while ${id}, a point of no return, is under way`];
    const past = pointsPast(child, planOf(id), read, ledger);
    return past.map((point) => `S10 undone although '${point}' of ${id}, a point of no return, has acted`);
  });
}

/** The points of no return with an effect in the execution and its children. */
function pointsPast(
  state: Snapshot | undefined,
  plan: Plan | undefined,
  read: Others['read'],
  ledger: Ledger,
): string[] {
  if (state === undefined) return [];
  const { execution } = state;
  return (plan?.steps ?? []).flatMap((step) => {
    if (step.pointOfNoReturn !== true) return [];
    if (step.kind !== 'child') return ledger.isLive(effectKeyOf(execution, step.name)) ? [step.name] : [];
    return childrenOf(execution, step, read).flatMap((child) => pointsPast(child, step.plan, read, ledger));
  });
}

/** Checks that a canceled or compensated execution has left no effects of any kind. */
export function judgeNothingLeft(
  plan: Plan,
  state: Snapshot,
  read: Others['read'],
  ledger: Ledger,
): string[] {
  const { execution } = state;
  const { status, cause } = execution;
  if (status !== 'canceled' && status !== 'compensated') return [];
  const said = cause?.undo === false ? [`S10 ${status}, and what has acted was left as it is`] : [];
  const live = plan.steps.filter(
    (step) =>
      step.kind === 'agent' &&
      (actedAs(step, state.steps[step.name]).undo !== 'none' || step.pointOfNoReturn === true) &&
      ledger.isLive(effectKeyOf(execution, step.name)),
  );
  const past = pointsPast(state, { ...plan, steps: plan.steps.filter(isChildPoint) }, read, ledger);
  return [
    ...said,
    ...live.map(({ name }) => `S10 ${status}, but the effect of '${name}' is in place`),
    ...past.map((name) => `S10 ${status}, but '${name}' inside of a child is past the point of no return`),
  ];
}
