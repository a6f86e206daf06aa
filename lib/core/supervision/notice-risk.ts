/**
 * Notices that an execution is at risk, in writes that are made anyway.
 *
 * Sets and clears `riskSince` in such writes, and never adds a write; no decision reads it. A healthy
 * execution never has it. One that has recovered may keep it until its next write, at its wake time at the
 * latest.
 *
 * Owns: `riskSince` and its reason, even when only time is running out, so that the writer announces it once;
 * which step has a question, for lists. Does not own: when time is running out, and when an execution is
 * overdue (`records/risk.ts`).
 */

import { type Plan, type PlanStep, recoveryOf } from '../plan/plan.ts';
import type { Decision, Write } from '../decisions/decision.ts';
import { defined } from '../values/defined.ts';
import { openIncidents, openQuestions, type Snapshot, withQuestion } from '../records/snapshot.ts';
import { agentsWaitedFor, isLate } from '../records/risk.ts';
import { type Execution, isTerminal, type RiskReason, type Step } from '../records/state.ts';
import { variantOf } from '../step/recovery.ts';

/** @param decision the risk is added to its write of the execution's record, if it has one */
export function noticeRisk(plan: Plan, state: Snapshot, now: number, decision: Decision): Decision {
  const { write } = decision;
  if (write?.execution === undefined) return decision;
  const { riskSince, risk: before, asks: asked, ...execution } = write.execution;
  const reason = isTerminal(execution.status) ? undefined : reasonFound();
  // Keeps the same object for the same reason, so that an unchanged record is not written.
  const risk = isSame(before, reason) ? before : reason;
  const since = reason && (riskSince ?? begunAt(reason) ?? now);
  const asks = execution.status === 'waiting' ? asksNow() : undefined;
  if (since === riskSince && risk === before && asks === asked) return decision;
  const noticed: Execution = { ...execution, ...defined({ riskSince: since, risk, asks }) };
  return { ...decision, write: { ...write, execution: noticed } };

  /** A partial read clears no reason: it may be in a record that was not read. */
  function reasonFound(): RiskReason | undefined {
    const found = reasonOf(plan, execution as Execution, now, recordOf);
    return state.isReadInPart ? (before ?? found) : found;
  }

  /** An unclaimed message is late since it could be claimed, not since this was noticed. */
  function begunAt({ why, step = '' }: RiskReason): number | undefined {
    const deferred = recordOf({ name: step })?.deferred;
    return why === 'unclaimed' && deferred?.why === why ? deferred.since : undefined;
  }

  function asksNow(): string | undefined {
    return state.isReadInPart ? asked : askedAbout(state, write as Write);
  }

  function recordOf({ name }: Pick<PlanStep, 'name'>): Step | undefined {
    return write?.step?.name === name ? write.step : state.steps[name];
  }
}

const isSame = (one: RiskReason | undefined, other: RiskReason | undefined): boolean =>
  one?.why === other?.why &&
  one?.step === other?.step &&
  one?.agent === other?.agent &&
  String(one?.agents) === String(other?.agents);

/** The step of the first question that is open after this write. */
function askedAbout(state: Snapshot, { question }: Write): string | undefined {
  const after = withQuestion(state, question);
  const [first] = openIncidents(after);
  return first?.step ?? openQuestions(after).find(({ kind }) => kind === 'approval')?.step;
}

/** The reason: first one that blocks it, then its time, then a last try that may still succeed. */
function reasonOf(
  plan: Plan,
  execution: Execution,
  now: number,
  recordOf: (step: PlanStep) => Step | undefined,
): RiskReason | undefined {
  const risky = plan.steps.flatMap((step) => {
    const record = recordOf(step);
    const why = record && whyRisky(step, record);
    if (record === undefined || why === undefined) return [];
    const agent = step.kind === 'agent' ? variantOf(step, record.stage).agent : undefined;
    return [{ why, step: step.name, ...defined({ agent }) }];
  });
  const [first] = risky;
  const stopped = risky.find(({ why }) => why !== 'last-try');
  if (stopped !== undefined) return { ...stopped, ...defined({ agents: othersOf(stopped, risky) }) };
  if (!isLate(execution, now)) return first;
  const at = plan.steps.find((step) => UNDER_WAY.has(recordOf(step)?.status ?? 'ready'));
  return { why: 'late', ...defined({ step: at?.name }) };
}

const MOST_AGENTS = 10;

/** The other agents that steps wait for. Otherwise lists would show no execution that waits for those. */
function othersOf(stopped: RiskReason, risky: readonly RiskReason[]): readonly string[] | undefined {
  const named = agentsWaitedFor(stopped);
  const others = [...new Set(risky.flatMap(agentsWaitedFor))].filter((agent) => !named.includes(agent));
  return others.length === 0 ? undefined : others.slice(0, MOST_AGENTS);
}

const UNDER_WAY: ReadonlySet<Step['status']> = new Set([
  'running',
  'retrying',
  'accepted',
  'waiting',
  'unknown',
  'probing',
]);

/**
 * Why the step is at risk: it is deferred, for example because its agent is missing; a probe could not tell;
 * or only the present stage is left to try.
 */
function whyRisky(step: PlanStep, record: Step): RiskReason['why'] | undefined {
  const deferred = record.deferred?.why;
  // Waiting for a slot of a rate is no risk, because its owner wants it; if it takes too long, the execution
  // counts as late.
  if (deferred !== undefined && deferred !== 'rate') return deferred;
  if (!UNDER_WAY.has(record.status)) return undefined;
  if (isProbedInVain(record)) return 'cannot-tell';
  return isOnLastStage(step, record) ? 'last-try' : undefined;
}

const isProbedInVain = ({ status, probes }: Step): boolean =>
  (status === 'unknown' || status === 'accepted' || status === 'probing') && probes > 0;

/** True on the last of an agent's several stages, or at the last attempt of its only stage. */
function isOnLastStage(step: PlanStep, { stage, stageAttempt }: Step): boolean {
  const recovery = recoveryOf(step);
  const last = recovery.findLastIndex(({ kind }) => kind !== 'askPerson') + 1;
  if (stage === 0 || stage < last) return false;
  const only = recovery[last - 1];
  return last > 1 || only === undefined || only.kind === 'askPerson' || stageAttempt >= only.attempts;
}
