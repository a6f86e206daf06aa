/**
 * Judges the effects that an end lists as left, by the ledger and the children's own records.
 *
 * Owns: this check, independent of the rule. Does not own: whether they should have been undone (`oracle.ts`,
 * `oracle-points.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Ended, Standing } from '../../lib/core/records/ended.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Ledger } from './ledger.ts';
import { childrenOf, type Others } from './families.ts';
import { actedAs } from './oracle-order.ts';
import { isRepeatedIn } from './oracle-rounds.ts';

/** @param state as it was stored when the end was announced */
export function judgeStanding(
  plan: Plan,
  state: Snapshot,
  ended: Ended,
  ledger: Ledger,
  read: Others['read'],
): string[] {
  const { standing, status } = ended;
  if (status === 'succeeded') return judgeSuccess(plan, state, standing, ledger);
  if (standing === undefined) return [`S10 ${status}, and it is not told what is left`];
  const { stands, mayStand, first } = standing;
  const problems: string[] = [];
  if (status !== 'failed' && stands + mayStand > 0)
    problems.push(`S10 ${status}, and ${stands} effects are left`);
  if (first.length !== Math.min(20, stands + mayStand))
    problems.push(`S10 ${first.length} of ${stands} are told`);
  // Plans are small here, so that all effects are listed.
  const told = (step: string, executionId?: string): string | undefined =>
    first.find((one) => one.step === step && one.executionId === executionId)?.effect;
  for (const step of plan.steps) {
    const name = step.name;
    if (step.kind === 'agent') {
      const key = effectKeyOf(state.execution, name);
      const isLive = ledger.isLive(key);
      const { undo } = actedAs(step, state.steps[name]);
      const isToBeTold = undo !== 'none' || step.pointOfNoReturn === true;
      if (isLive && isToBeTold && told(name) === undefined)
        problems.push(`S10 '${name}' is in effect and not told`);
      if (!isLive && told(name) === 'stands' && !isVouchedFor(state, name) && !ledger.isMistaken(key))
        problems.push(`S6 '${name}' is told to be in effect, and is not`);
    }
    if (!isTold(step)) continue;
    if (isRepeatedIn(step)) {
      const done = childrenOf(state.execution, step, read).filter(
        ({ execution }) => execution.status === 'succeeded',
      ).length;
      const said = first.filter((one) => one.step === name && one.effect === 'stands').length;
      if (first.length < 20 && said !== done)
        problems.push(`S10 of '${name}' ${done} rounds have succeeded, and ${said} are told to be in effect`);
      continue;
    }
    for (const child of childrenOf(state.execution, step, read)) {
      const childId = child.execution.id;
      const said = told(name, childId);
      if (first.length < 20 && child.execution.status === 'succeeded' && said !== 'stands')
        problems.push(`S10 ${childId} has succeeded and is not told to be in effect`);
      if (['canceled', 'compensated'].includes(child.execution.status) && said !== undefined)
        problems.push(`S10 ${childId} is ${child.execution.status} and is told to be in effect`);
    }
  }
  return problems;
}

/** Checks that after a success only possible effects of tolerated failures are listed. */
function judgeSuccess(plan: Plan, state: Snapshot, standing: Standing | undefined, ledger: Ledger): string[] {
  const told = new Set(standing?.first.map(({ step }) => step));
  return plan.steps.flatMap(({ name, kind }) => {
    const isTolerated = state.steps[name]?.status === 'tolerated';
    // Steps with child executions are listed if these list effects.
    if (told.has(name) && !isTolerated && kind !== 'child' && kind !== 'map')
      return [`S10 a success lists '${name}', which did not fail`];
    const isLive = kind === 'agent' && ledger.isLive(effectKeyOf(state.execution, name));
    return isTolerated && isLive && !told.has(name) ? [`S20 '${name}' may stand, and is not told`] : [];
  });
}

/** Whether a person gave the step's output. */
const isVouchedFor = (state: Snapshot, step: string): boolean =>
  incidentsIn(state).some((one) => one.step === step && one.choice === 'give-output');

/**
 * Whether effects of the step's child executions must be listed: they would be undone with it, or can never
 * be undone.
 */
const isTold = (step: PlanStep): boolean =>
  (step.kind === 'child' && (step.undo !== 'none' || step.pointOfNoReturn === true)) ||
  (step.kind === 'map' && step.each.undo !== 'none');
