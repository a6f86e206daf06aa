/**
 * Sees every committed write and says which invariant it breaks.
 *
 * Owns: the checks S1–S5, S7, S10, S12 on the stored records, written anew and not by calling the rules they check. Does
 * not own: effects (`ledger.ts`), liveness and cost (`world.ts`).
 */

import type { Write } from '../../core/decide.ts';
import { agentSteps, type Plan } from '../../core/plan.ts';
import { type Execution, isTerminal, openIncidents, type Snapshot, type Step } from '../../core/state.ts';
import { EXECUTION_MOVES, STEP_MOVES } from '../../core/transitions.ts';
import type { Ledger } from './ledger.ts';

/** Clocks differ, and a write takes time: what S12 may be late by. */
const SLACK_MS = 3_000;

const reachable = (table: Readonly<Record<string, string>>, next: string): boolean =>
  Object.values(table).includes(next);

/** @param before the stored records. @param now true time. @returns the broken invariants */
export function judge(plan: Plan, before: Snapshot, write: Write, now: number): string[] {
  const problems: string[] = [];
  const { execution, step } = write;
  const stored = step && before.steps[step.name];
  if (execution !== undefined) problems.push(...judgeExecution(before.execution, execution, before));
  if (step !== undefined) problems.push(...judgeStep(plan, before, stored, step));
  const { incident } = write;
  const after: Snapshot = {
    incidents: { ...before.incidents, ...(incident === undefined ? {} : { [incident.number]: incident }) },
    execution: execution ?? before.execution,
    steps: step === undefined ? before.steps : { ...before.steps, [step.name]: step },
  };
  return [...problems, ...judgeWatch(plan, after, now)];
}

function judgeExecution(before: Execution, after: Execution, snapshot: Snapshot): string[] {
  const problems: string[] = [];
  if (after.version !== before.version + 1) problems.push('S3 execution: version not + 1');
  if (!reachable(EXECUTION_MOVES[before.status], after.status)) {
    problems.push(`S2 execution: ${before.status} → ${after.status}`);
  }
  if (isTerminal(before.status) && before.status !== after.status)
    problems.push('S1 a terminal status was left');
  if (!isTerminal(before.status) && isTerminal(after.status)) {
    for (const step of Object.values(snapshot.steps)) {
      if (step.leaseUntil !== undefined) problems.push(`S10 ended while '${step.name}' is ${step.status}`);
    }
  }
  return problems;
}

function judgeStep(plan: Plan, snapshot: Snapshot, before: Step | undefined, after: Step): string[] {
  const problems: string[] = [];
  const status = before?.status ?? 'ready';
  if (after.version !== (before?.version ?? 0) + 1) problems.push(`S3 '${after.name}': version not + 1`);
  if (!reachable(STEP_MOVES[status], after.status))
    problems.push(`S2 '${after.name}': ${status} → ${after.status}`);
  const claims = after.leaseUntil !== undefined && after.token !== before?.token;
  if (claims && before?.leaseUntil !== undefined) problems.push(`S4 '${after.name}' was claimed while held`);
  if (after.leaseUntil !== undefined && before?.leaseUntil === undefined && after.token === before?.token) {
    problems.push(`S3 '${after.name}' was claimed under its old token`);
  }
  if (!claims && before?.token !== undefined && after.token !== before.token) {
    problems.push(`S5 '${after.name}': the token changed without a claim`);
  }
  if (claims && after.mode === 'execute') problems.push(...judgeStart(plan, snapshot, after));
  if (claims && after.mode === 'undo') problems.push(...judgeUndo(plan, snapshot, after));
  return problems;
}

function judgeStart(plan: Plan, snapshot: Snapshot, step: Step): string[] {
  const problems: string[] = [];
  const planStep = plan.steps.find((other) => other.name === step.name);
  for (const name of planStep?.after ?? []) {
    const status = snapshot.steps[name]?.status;
    if (status !== 'done' && status !== 'skipped')
      problems.push(`S7 '${step.name}' started while '${name}' is ${status}`);
  }
  if (isTerminal(snapshot.execution.status)) problems.push(`S1 '${step.name}' started after the end`);
  const undone = Object.values(snapshot.steps).find(
    (other) => other.status === 'undoing' || other.status === 'undone',
  );
  // The fence leaves out a step that may have acted: it is undone instead, and until its own undo begins a reader of an
  // older state may still take it (DESIGN §8). Its effect is then undone with it.
  const unfenced = snapshot.steps[step.name]?.mayHaveActed === true;
  if (undone !== undefined && !unfenced) {
    problems.push(`S10 '${step.name}' started after the undo of '${undone.name}' began`);
  }
  return problems;
}

function judgeUndo(plan: Plan, snapshot: Snapshot, step: Step): string[] {
  return agentSteps(plan)
    .filter((other) => other.after.includes(step.name))
    .map((other) => ({ name: other.name, undo: other.undo, record: snapshot.steps[other.name] }))
    .filter(({ record, undo }) => {
      if (record === undefined) return false;
      if (record.leaseUntil !== undefined) return true;
      return (
        undo !== 'none' &&
        (record.status === 'done' || record.status === 'unknown' || record.status === 'undoing')
      );
    })
    .map(({ name }) => `S10 the undo of '${step.name}' began before '${name}' was undone`);
}

/** S12 for what is stored: somebody looks soon after every lease's end, and an open execution has a watch at all. */
function judgeWatch(plan: Plan, after: Snapshot, now: number): string[] {
  const { execution } = after;
  if (isTerminal(execution.status)) return [];
  const { watchAt } = execution;
  if (watchAt === undefined) return ['S12 an open execution has no watch'];
  const ends = Object.values(after.steps)
    .map((step) => step.leaseUntil ?? Number.POSITIVE_INFINITY)
    .map((leaseUntil) => leaseUntil + 1_000);
  const longest = Math.max(...agentSteps(plan).map((step) => Math.max(step.leaseMs, step.pickupMs)));
  const retryAt = Object.values(after.steps).map((step) =>
    Math.max(step.retryAt ?? 0, step.hardEndAt + 6_000),
  );
  const answers = openIncidents(after).map((incident) => incident.deadlineAt);
  const farthest = Math.max(now, ...retryAt, ...answers) + longest;
  const problems: string[] = [];
  if (watchAt > Math.min(...ends) + SLACK_MS)
    problems.push(`S12 the watch is ${watchAt - Math.min(...ends)} ms later than the end of a lease`);
  if (watchAt > farthest + SLACK_MS)
    problems.push(`S12 the watch is ${watchAt - farthest} ms later than any H allows`);
  return problems;
}

/** What the table says at the end against what the outside world's book says. */
export function judgeEnd(
  plan: Plan,
  { execution, steps, incidents }: Snapshot,
  ledger: Ledger,
  announced: boolean,
): string[] {
  if (!isTerminal(execution.status) || execution.watchAt !== undefined) {
    return [`L1 stuck: ${JSON.stringify({ execution, steps })}`];
  }
  const problems: string[] = announced ? [] : ['L1 its end was not announced'];
  const succeeded = execution.status === 'succeeded';
  const answered = Object.values(incidents ?? {});
  // A person may vouch for an output, and may leave effects in place; what the record then says is the person's word.
  const given = (name: string): boolean =>
    answered.some((incident) => incident.step === name && incident.choice === 'give-output');
  const left =
    execution.cause?.undo === false || Object.values(steps).some((step) => step.status === 'undo-failed');
  if (openIncidents({ execution, steps, ...(incidents === undefined ? {} : { incidents }) }).length > 0) {
    problems.push('L1 it ended with an open question');
  }
  for (const { name, undo } of agentSteps(plan)) {
    const live = ledger.isLive(`${execution.id}.${name}`);
    const status = steps[name]?.status;
    if (succeeded && status !== 'done' && status !== 'skipped') {
      problems.push(`S7 succeeded, but '${name}' is ${status ?? 'not begun'}`);
    }
    if (succeeded && status === 'done' && !live && !given(name))
      problems.push(`S6 '${name}' is done without its effect`);
    if (succeeded && status !== 'done' && live)
      problems.push(`S6 succeeded, but '${name}' acted and is ${status}`);
    if (!succeeded && live && undo !== 'none' && !left) {
      problems.push(`S10 ${execution.status}, but the effect of '${name}' is in place (${status})`);
    }
  }
  return problems;
}
