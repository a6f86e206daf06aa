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

/** Where a status may lead. */
const reach = (moves: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  new Map(Object.entries(moves).map(([from, events]) => [from, new Set(Object.values(events))]));
const EXECUTION_REACH = reach(EXECUTION_MOVES);
const STEP_REACH = reach(STEP_MOVES);

/**
 * @param before the stored records. @param after as they are now. @param now true time
 * @param graceFrom when a supervisor last noticed the end of an outage: leases from before get their length once more
 * @returns the broken invariants
 */
export function judge(
  plan: Plan,
  before: Snapshot,
  write: Write,
  now: number,
  after: Snapshot = stored(before, write),
  graceFrom = Number.NEGATIVE_INFINITY,
): string[] {
  const problems: string[] = [];
  const { execution, step } = write;
  if (execution !== undefined) judgeExecution(problems, before.execution, execution, before);
  if (step !== undefined) judgeStep(problems, plan, before, step);
  judgeWatch(problems, plan, after, now, graceFrom);
  return problems;
}

const stored = (before: Snapshot, { execution, step, incident }: Write): Snapshot => ({
  execution: execution ?? before.execution,
  steps: step === undefined ? before.steps : { ...before.steps, [step.name]: step },
  incidents:
    incident === undefined ? (before.incidents ?? {}) : { ...before.incidents, [incident.number]: incident },
});

function judgeExecution(problems: string[], before: Execution, after: Execution, snapshot: Snapshot): void {
  if (after.version !== before.version + 1) problems.push('S3 execution: version not + 1');
  if (EXECUTION_REACH.get(before.status)?.has(after.status) !== true) {
    problems.push(`S2 execution: ${before.status} → ${after.status}`);
  }
  if (isTerminal(before.status) && before.status !== after.status)
    judgeRetry(problems, before, after, snapshot);
  if (!isTerminal(before.status) && isTerminal(after.status)) {
    for (const step of Object.values(snapshot.steps)) {
      if (step.leaseUntil !== undefined) problems.push(`S10 ended while '${step.name}' is ${step.status}`);
    }
  }
}

/** The one way out of a terminal status: what failed, and nothing of which was ever taken back. */
function judgeRetry(problems: string[], before: Execution, after: Execution, { steps }: Snapshot): void {
  if (before.status !== 'failed' || after.status !== 'running' || after.epoch !== before.epoch + 1)
    problems.push('S1 a terminal status was left');
  for (const { name, status } of Object.values(steps)) {
    if (status === 'undone' || status === 'undoing' || status === 'undo-failed')
      problems.push(`S10 tried again although '${name}' is ${status}`);
  }
}

/** Where a record may lead: also from what it counts as after a pause, or after a retry of its execution. */
function leadsTo(before: Step | undefined, epoch: number, status: Step['status']): boolean {
  const isRenewed = before !== undefined && before.epoch < epoch && RENEWABLE.has(before.status);
  const renewed = isRenewed ? ['ready', 'retrying', 'unknown'] : [];
  const held = before?.heldFrom === undefined ? [] : [before.heldFrom];
  return [before?.status ?? 'ready', ...held, ...renewed].some(
    (one) => STEP_REACH.get(one)?.has(status) === true,
  );
}

const RENEWABLE: ReadonlySet<Step['status']> = new Set(['failed', 'sealed']);

function judgeStep(problems: string[], plan: Plan, snapshot: Snapshot, after: Step): void {
  const before = snapshot.steps[after.name];
  const status = before?.status ?? 'ready';
  if (after.version !== (before?.version ?? 0) + 1) problems.push(`S3 '${after.name}': version not + 1`);
  if (!leadsTo(before, snapshot.execution.epoch, after.status))
    problems.push(`S2 '${after.name}': ${status} → ${after.status}`);
  const claims = after.leaseUntil !== undefined && after.token !== before?.token;
  if (claims && before?.leaseUntil !== undefined) problems.push(`S4 '${after.name}' was claimed while held`);
  if (after.leaseUntil !== undefined && before?.leaseUntil === undefined && after.token === before?.token) {
    problems.push(`S3 '${after.name}' was claimed under its old token`);
  }
  if (!claims && before?.token !== undefined && after.token !== before.token) {
    problems.push(`S5 '${after.name}': the token changed without a claim`);
  }
  if (claims && snapshot.execution.status === 'paused')
    problems.push(`F1 '${after.name}' was claimed while paused`);
  if (claims && after.mode === 'execute') problems.push(...judgeStart(plan, snapshot, after));
  if (claims && after.mode === 'undo') problems.push(...judgeUndo(plan, snapshot, after));
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
  const past = plan.steps.find(({ name, pointOfNoReturn }) => {
    const record = snapshot.steps[name];
    const isNear = record?.leaseUntil !== undefined && record.mode !== 'undo';
    return pointOfNoReturn === true && (record?.status === 'done' || isNear);
  });
  const early = past === undefined ? [] : [`S10 the undo of '${step.name}' began behind '${past.name}'`];
  return [...early, ...judgeOrder(plan, snapshot, step)];
}

function judgeOrder(plan: Plan, snapshot: Snapshot, step: Step): string[] {
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
function judgeWatch(problems: string[], plan: Plan, after: Snapshot, now: number, graceFrom: number): void {
  const { execution, incidents } = after;
  if (isTerminal(execution.status)) return;
  const { watchAt } = execution;
  if (watchAt === undefined) {
    problems.push('S12 an open execution has no watch');
    return;
  }
  let firstEnd = Number.POSITIVE_INFINITY;
  let farthest = now;
  for (const name in after.steps) {
    const { leaseUntil, retryAt = 0, hardEndAt } = after.steps[name] as Step;
    const graceUntil = (leaseUntil ?? 0) < graceFrom + SLACK_MS ? graceFrom + longestMs(plan) : 0;
    if (leaseUntil !== undefined) firstEnd = Math.min(firstEnd, Math.max(leaseUntil, graceUntil) + 1_000);
    farthest = Math.max(farthest, retryAt, hardEndAt + 6_000);
  }
  const pause = execution.status === 'paused' ? execution.pauses?.at(-1) : undefined;
  if (pause?.deadlineAt !== undefined) farthest = Math.max(farthest, pause.deadlineAt);
  if (incidents !== undefined)
    for (const { deadlineAt } of openIncidents(after)) farthest = Math.max(farthest, deadlineAt);
  farthest += longestMs(plan);
  if (watchAt > firstEnd + SLACK_MS)
    problems.push(`S12 the watch is ${watchAt - firstEnd} ms later than the end of a lease`);
  if (watchAt > farthest + SLACK_MS)
    problems.push(`S12 the watch is ${watchAt - farthest} ms later than any H allows`);
}

const longest = new WeakMap<Plan, number>();

/** The longest time that anything of the plan may go unwatched; asked with every write. */
function longestMs(plan: Plan): number {
  let ms = longest.get(plan);
  if (ms === undefined) {
    ms = Math.max(...agentSteps(plan).map((step) => Math.max(step.leaseMs, step.pickupMs)));
    longest.set(plan, ms);
  }
  return ms;
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
  for (const { name, undo, pointOfNoReturn } of agentSteps(plan)) {
    const live = ledger.isLive(`${execution.id}.${name}`);
    const status = steps[name]?.status;
    if (succeeded && status !== 'done' && status !== 'skipped') {
      problems.push(`S7 succeeded, but '${name}' is ${status ?? 'not begun'}`);
    }
    if (succeeded && status === 'done' && !live && !given(name))
      problems.push(`S6 '${name}' is done without its effect`);
    if (succeeded && status !== 'done' && live)
      problems.push(`S6 succeeded, but '${name}' acted and is ${status}`);
    if (
      pointOfNoReturn === true &&
      status === 'done' &&
      (execution.status === 'compensated' || (!succeeded && !left))
    )
      problems.push(`S10 ${execution.status} from behind the point of no return '${name}'`);
    if (!succeeded && live && undo !== 'none' && !left) {
      problems.push(`S10 ${execution.status}, but the effect of '${name}' is in place (${status})`);
    }
  }
  return problems;
}
