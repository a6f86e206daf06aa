/**
 * Judges on-failure steps, by the text of docs/ARCHITECTURE.md and the services' acts.
 *
 * Owns: S21 in every write, every announcement and at the end. Does not own: notices to parents
 * (`oracle-groups.ts`), repeated effects of a key (`ledger.ts`), the tries of an on-failure step (the other
 * oracles, by the plan of `on-failure.ts`).
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Ended } from '../../lib/core/records/ended.ts';
import { openIncidents, type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { type Execution, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { KindCounts } from './kinds.ts';
import type { Ledger } from './ledger.ts';

const OVER: ReadonlySet<Step['status'] | undefined> = new Set(['done', 'skipped', 'tolerated']);
const OPEN: ReadonlySet<Step['status']> = new Set([
  'running',
  'probing',
  'retrying',
  'accepted',
  'waiting',
  'answered',
  'unknown',
  'compensating',
]);

const isOnFailure = ({ onFailure = [] }: Plan, name: string): boolean =>
  onFailure.some((step) => step.name === name);

/** Counts the events of a write. @param before as it is stored */
export function countFollowed(
  kinds: KindCounts,
  plan: Plan,
  before: Snapshot,
  { step, execution }: Write,
): void {
  if (execution?.end?.again === true && before.execution.end?.again !== true) kinds.goesOnLater += 1;
  if (step === undefined || !isOnFailure(plan, step.name)) return;
  const known = before.steps[step.name];
  if (known !== undefined && known.epoch < step.epoch) kinds.followedUpAgain += 1;
  if (known?.status === step.status) return;
  if (step.status === 'done') kinds.followedUp += 1;
  if (step.status === 'tolerated') kinds[step.mayHaveActed ? 'mayHaveFollowedUp' : 'followedUpInVain'] += 1;
}

/** Judges one write. @param plan as it is stored */
export function judgeOnFailure(problems: string[], plan: Plan, before: Snapshot, write: Write): void {
  const { execution, step } = write;
  if (step !== undefined) judgeStep(problems, plan, before.execution, step);
  if (execution !== undefined) judgeEnd(problems, plan, before, execution);
}

function judgeStep(problems: string[], plan: Plan, { status }: Execution, step: Step): void {
  const { name } = step;
  const isLater = isOnFailure(plan, name);
  if (isLater && status !== 'following-up')
    problems.push(`S21 the on-failure step '${name}' is ${step.status} while ${status}`);
  if (!isLater && status === 'following-up')
    problems.push(`S21 '${name}' is ${step.status} after the end was made`);
  if (isLater && step.mode === 'undo') problems.push(`S21 the on-failure step '${name}' is undone`);
}

function judgeEnd(problems: string[], plan: Plan, before: Snapshot, after: Execution): void {
  const { execution, steps } = before;
  const [from, to] = [execution.status, after.status];
  const hasOwn = (plan.onFailure?.length ?? 0) > 0;
  if (to === 'following-up' && from !== 'following-up') judgeBeginning(problems, plan, before, after);
  if (from === 'compensating' && isTerminal(to) && hasOwn && after.cause?.kind !== 'parent')
    problems.push(`S21 ${to} without what follows`);
  if (from !== 'following-up') {
    if (isTerminal(from) && isTerminal(to) && after.end?.status !== execution.end?.status)
      problems.push('S21 an end has changed');
    return;
  }
  if (after.end?.status !== execution.end?.status || after.end?.at !== execution.end?.at)
    problems.push(`S21 the end changes from ${execution.end?.status} to ${after.end?.status}`);
  if (JSON.stringify(after.cause) !== JSON.stringify(execution.cause))
    problems.push('S21 the cause of an end changes');
  if (to === 'following-up') return;
  if (to !== execution.end?.status) problems.push(`S21 it was to be ${execution.end?.status}, and is ${to}`);
  if (openIncidents(before).length > 0) problems.push('S21 it is over while a person is asked');
  for (const { name } of plan.onFailure ?? [])
    if (!OVER.has(steps[name]?.status) || steps[name]?.epoch !== execution.epoch)
      problems.push(`S21 it is over, and '${name}' is ${steps[name]?.status ?? 'not begun'}`);
}

function judgeBeginning(problems: string[], plan: Plan, before: Snapshot, after: Execution): void {
  const { execution, steps } = before;
  if (execution.status !== 'compensating') problems.push(`S21 it follows up from ${execution.status}`);
  if (after.cause === undefined || after.cause.kind === 'parent')
    problems.push(`S21 it follows up after ${after.cause?.kind}`);
  if (plan.onFailure === undefined) problems.push('S21 it follows up, and has nothing to');
  if (after.end?.version !== after.version) problems.push('S21 its end is of another version');
  if (openIncidents(before).length > 0) problems.push('S21 it follows up while a person is asked');
  const isStuck = plan.steps.some(({ name }) => steps[name]?.status === 'compensation-failed');
  for (const { name } of plan.steps) {
    const record = steps[name];
    if (record === undefined) continue;
    if (record.leaseUntil !== undefined) problems.push(`S21 it follows up while '${name}' is held`);
    // After a failed undo, on-failure steps do not begin.
    if (OPEN.has(record.status) && !isStuck)
      problems.push(`S21 it follows up while '${name}' is ${record.status}`);
  }
}

/** Checks that the event of an end names exactly the failed on-failure steps. @param state as it is stored */
export function judgeFollowed(plan: Plan, { execution, steps }: Snapshot, ended: Ended): string[] {
  if (execution.end === undefined) return ended.onFailureFailed === undefined ? [] : ['S21 nothing follows'];
  const failed = (plan.onFailure ?? []).filter(({ name }) => steps[name]?.status === 'tolerated');
  const said = (ended.onFailureFailed ?? []).map(({ step, mayStand = false }) => `${step} ${mayStand}`);
  const known = failed.map(({ name }) => `${name} ${steps[name]?.mayHaveActed === true}`);
  const isSaid = JSON.stringify(said) === JSON.stringify(known) && ended.status === execution.end.status;
  return isSaid ? [] : [`S21 ${ended.status}, ${said.join()} is announced, not ${known.join()}`];
}

/** Judges when everything is over. */
export function judgeOnFailureEnd(
  plan: Plan,
  { execution, steps, questions = {} }: Snapshot,
  ledger: Ledger,
): string[] {
  const { status, cause, end, epoch } = execution;
  if (plan.onFailure === undefined || !isTerminal(status)) return [];
  const follows = status !== 'succeeded' && cause?.kind !== 'parent' && execution.version > 1;
  if (follows !== (end !== undefined))
    return [`S21 ${status} (${cause?.kind}), and its end is ${end?.status}`];
  return plan.onFailure.flatMap(({ name }) => {
    const record = steps[name];
    const isLive = ledger.isLive(effectKeyOf(execution, name, 1, epoch));
    if (end === undefined) return isLive ? [`S21 '${name}' has acted, and nothing was to follow`] : [];
    const isGiven = incidentsIn({ questions }).some(
      (one) => one.step === name && one.choice === 'give-output',
    );
    if (record?.status === 'done' && !isLive && !isGiven) return [`S21 '${name}' is done without its effect`];
    const isKnown = record?.status === 'done' || isGiven || record?.mayHaveActed === true;
    return isLive && !isKnown ? [`S21 '${name}' has acted and is ${record?.status}`] : [];
  });
}
