/**
 * Judges the records' effect keys by S18, independently of the rules. The ledger judges the effects under the
 * keys (`ledger.ts`).
 */

import { agentStep, type Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { canonicalJson } from '../../lib/core/values/json.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { actedAs } from './oracle-order.ts';

const inputOf = ({ keyInput }: Step): string => (keyInput === undefined ? '' : canonicalJson(keyInput));
const isSameInput = (one: Step, other: Step): boolean =>
  one.keyInput === other.keyInput || inputOf(one) === inputOf(other);

/** @param before the stored records */
export function judgeKeys(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  { execution, step }: Write,
): void {
  const { life } = before.execution;
  if (life === '') problems.push('S18 it has no life');
  if (execution !== undefined && execution.life !== life) problems.push('S18 its life has changed');
  if (step === undefined) return;
  if (step.life !== life) problems.push(`S18 '${step.name}' is of another life`);
  // Child steps have no key: each try is an execution with its own keys.
  if (plan.steps.some(({ name, kind }) => name === step.name && kind === 'child')) return;
  const isClaim = step.leaseUntil !== undefined && step.token !== before.steps[step.name]?.token;
  const was = before.steps[step.name];
  if (isClaim && step.mode === 'execute') {
    problems.push(...judgeClaim(plan, was, step));
    return;
  }
  const same =
    was === undefined
      ? step.key === 1
      : was.key === step.key && was.keyVariant === step.keyVariant && isSameInput(was, step);
  if (!same) problems.push(`S18 the key of '${step.name}' changed without an attempt`);
  const isSpent = isClaim && step.mode === 'undo';
  if ((step.keySpent ?? false) !== (isSpent || (was?.keySpent ?? false)))
    problems.push(`S18 whether the key of '${step.name}' was undone is not said right`);
}

/**
 * Checks that the attempt is of the step's stage, and has the next key if its request differs from the last
 * one.
 */
function judgeClaim(plan: Plan, was: Step | undefined, is: Step): string[] {
  const { name, stage, key, keyVariant } = is;
  const problems: string[] = [];
  const passed = agentStep(plan, name)?.recovery.slice(0, stage) ?? [];
  const variant = passed.filter(({ kind }) => kind !== 'retry' && kind !== 'askPerson').length;
  if (keyVariant !== variant)
    problems.push(`S18 '${name}' is attempted as of stage ${keyVariant}, and is in ${variant}`);
  if (is.keySpent === true) problems.push(`S18 '${name}' is attempted under key ${key}, which was undone`);
  if (was === undefined || was.attempt === 0) return problems;
  const differs = was.keyVariant !== keyVariant || !isSameInput(was, is);
  const next = was.key + (differs || was.keySpent === true ? 1 : 0);
  if (key !== next) problems.push(`S18 '${name}' is attempted under key ${key}, not ${next}`);
  const planned = agentStep(plan, name);
  const isLeft = planned !== undefined && actedAs(planned, was).effect === 'none';
  if (key !== was.key && was.mayHaveActed && !isLeft)
    problems.push(`S18 '${name}' is attempted under key ${key} while the outcome under ${was.key} is open`);
  return problems;
}
