/**
 * Judges tolerated failures, by the text of docs/ARCHITECTURE.md and the services' acts.
 *
 * Owns: S20 in every write and at the end. Does not own: conditions on the input (`oracle-conditions.ts`),
 * the table of moves (`oracle-moves.ts`), the effects listed at an end (`oracle-standing.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { isJsonObject, type Json } from '../../lib/core/values/json.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Attempt, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import { actsUntilIn, type Others } from './families.ts';
import type { KindCounts } from './kinds.ts';
import type { Ledger } from './ledger.ts';
import { isFollowing, keySeen } from './on-failure.ts';
import { acceptedTill } from './oracle-accepted.ts';
import { wrongIn } from './oracle-answers.ts';
import { judgeConditions } from './oracle-conditions.ts';
import { actedAs } from './oracle-order.ts';
import { isGivenAnotherInput } from './oracle-retries.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

const mayFail = (step: PlanStep | undefined): boolean =>
  step !== undefined && step.kind !== 'map' && step.tolerate === true;

/**
 * Whether the step may be undone while its execution goes forward: its failure may be tolerated, or a next
 * stage follows the undo.
 */
export function isBesideTheWay(plan: Plan, { steps }: Snapshot, name: string): boolean {
  if (plan.tolerated !== undefined) return true;
  const record = steps[name];
  // The step is undone before its next stage.
  if (record?.nextStage !== undefined) return true;
  // A probe may find done work with an invalid output; without a corrected output, this is a failure.
  const isDone = ({ outcome, failure }: Attempt): boolean => outcome === 'done' && failure === undefined;
  const wasDone = record?.status === 'done' || record?.attempts.some(isDone) === true;
  return !wasDone && mayFail(plan.steps.find((step) => step.name === name));
}

/** The way in which a failure became final, for counting. */
function howOf(before: Step | undefined, after: Step): keyof KindCounts {
  if (before?.status === 'compensated') return 'toleratedCompensated';
  if (!after.mayHaveActed) return 'toleratedCertain';
  return after.afterFailure === 'continue' ? 'toleratedAnswered' : 'toleratedLeft';
}

interface Outside {
  readonly ledger: Ledger;
  readonly kinds: KindCounts;
  /** True time. */
  readonly now: number;
  readonly others: Others;
}

/** Judges one write. */
export function judgeTolerated(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  write: Write,
  { ledger, kinds, now, others }: Outside,
): void {
  const { step: after, execution: written } = write;
  judgeConditions(problems, plan, before, write, kinds);
  if (after === undefined) return;
  const { name } = after;
  const known = before.steps[name];
  const planned = plan.steps.find((step) => step.name === name);
  if (after.leaseUntil !== undefined && after.mode === 'execute' && after.token !== known?.token)
    judgeCondition(problems, before, planned, kinds);
  if (isTerminal(before.execution.status) && known?.status !== after.status) {
    if (isGivenAnotherInput(before, after, written)) kinds.retriedWithInput += 1;
    else problems.push(`S20 '${name}' ${after.status} after the end`);
  }
  if (after.status !== 'tolerated' || known?.status === 'tolerated') return;
  kinds[howOf(known, after)] += 1;
  if (planned?.kind === 'child') kinds.toleratedChild += 1;
  if (plan.tolerated !== undefined) kinds.toleratedItem += 1;
  const { execution } = before;
  if (!mayFail(planned)) problems.push(`S20 '${name}' is tolerated, and must not fail`);
  if (written === undefined) problems.push(`S20 '${name}' is tolerated without its execution`);
  if (after.leaseUntil !== undefined) problems.push(`S20 '${name}' is tolerated while at work`);
  const ends = execution.status === 'compensating' && execution.cause?.undo === false;
  const goesOn = ['running', 'waiting', 'following-up'].includes(execution.status);
  // A person may answer while the execution is paused.
  const isAnswer = known?.status === 'compensation-failed' && after.afterFailure === 'continue';
  if (!ends && !goesOn && !isAnswer) problems.push(`S20 '${name}' is tolerated while ${execution.status}`);
  if (planned?.kind === 'child') {
    const earlyMs = actsUntilIn(execution, planned, others) - now - CLOCKS_DIFFER_MS;
    if (earlyMs > 0) problems.push(`S20 '${name}' is tolerated ${earlyMs} ms before it can act no more`);
  }
  if (planned?.kind !== 'agent') return;
  const { undo, settleMs } = actedAs(planned, known);
  const isLive = ledger.isLive(keySeen(plan, execution, name));
  if (!after.mayHaveActed && isLive) problems.push(`S20 '${name}' is tolerated as not done, and is done`);
  if (ends || isAnswer || !after.mayHaveActed) return;
  // An item whose undo failed permanently leads to no question.
  const isStuckItem = plan.tolerated !== undefined && known?.status === 'compensation-failed';
  if (undo !== 'none' && !isStuckItem) problems.push(`S20 '${name}' is tolerated before it is undone`);
  const actsTill = Math.max(
    after.processDeadlineAt + settleMs,
    acceptedTill(actedAs(planned, known), known ?? after),
  );
  if (now + CLOCKS_DIFFER_MS < actsTill) problems.push(`S20 '${name}' is tolerated while it may still act`);
  // An on-failure step is never undone, even if it reports that it acted.
  const isKnown = isFollowing(plan) && wrongIn(known) !== undefined;
  if (after.afterFailure !== 'continue' && plan.tolerated === undefined && !isKnown)
    problems.push(`S20 '${name}' may have acted, and nobody was asked`);
}

const OUTCOMES: Readonly<Partial<Record<Step['status'], string>>> = {
  done: 'succeeded',
  tolerated: 'failed',
  skipped: 'skipped',
};

/** Checks that a step with a condition on another's end begins only after that end. */
function judgeCondition(
  problems: string[],
  { steps }: Snapshot,
  planned: PlanStep | undefined,
  kinds: KindCounts,
): void {
  const when: Json = planned?.when ?? null;
  const pair = isJsonObject(when) ? when['$eq'] : undefined;
  if (!Array.isArray(pair)) return;
  const [left, wanted] = pair as Json[];
  const source = isJsonObject(left) ? left['$ref'] : undefined;
  if (typeof source !== 'string' || !source.startsWith('outcome:')) return;
  const other = source.slice('outcome:'.length);
  const outcome = OUTCOMES[steps[other]?.status ?? 'ready'];
  if (outcome === wanted && wanted === 'failed') kinds.fallback += 1;
  if (outcome !== wanted)
    problems.push(
      `S20 '${planned?.name}' began although '${other}' is ${steps[other]?.status}, not ${String(wanted)}`,
    );
}

/** At the end, checks that records name tolerated failures with effects in place. */
export function judgeToleratedEnd(plan: Plan, { execution, steps }: Snapshot, ledger: Ledger): string[] {
  return plan.steps.flatMap(({ name, kind }) => {
    const record = steps[name];
    if (kind !== 'agent' || record?.status !== 'tolerated' || record.mayHaveActed) return [];
    return ledger.isLive(effectKeyOf(execution, name))
      ? [`S20 '${name}' was tolerated as not done, and is in effect`]
      : [];
  });
}
