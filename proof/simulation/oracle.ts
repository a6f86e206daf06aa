/**
 * Judges every committed write, and reports the invariants that it breaks.
 *
 * Owns: the checks S1–S5, S7, S10, S12 on the stored records, independently of the rules. Does not own: the
 * table of moves (`oracle-moves.ts`), the order of compensation (`oracle-order.ts`), effects (`ledger.ts`),
 * liveness and cost (`world.ts`).
 */

import { agentSteps, type Plan, type PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { openIncidents, type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { type Execution, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Ledger } from './ledger.ts';
import { judgeMoves } from './oracle-moves.ts';
import { asRestarted, judgeDeadline, judgeRetry, judgeWayBack } from './oracle-operations.ts';
import { actedAs, judgeOrder } from './oracle-order.ts';
import { isFollowing } from './on-failure.ts';
import { instantIn } from './oracle-waits.ts';
import { isBesideTheWay } from './oracle-tolerate.ts';
import { CLOCKS_DIFFER_MS, LONGEST_GAP_MS } from './oracle-wake.ts';

/**
 * @param before the stored records
 * @param after the records after the write
 * @param now true time
 * @param planAfter the plan after the write, if it differs
 */
export function judge(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  write: Write,
  after: Snapshot,
  { now, planAfter = plan }: { readonly now: number; readonly planAfter?: Plan },
): void {
  judgeMoves(problems, plan, before, write);
  const { execution, step } = write;
  if (execution !== undefined) {
    judgeExecution(problems, before.execution, execution, before);
    judgeDispatches(problems, plan, before, execution);
  }
  if (step !== undefined) judgeStep(problems, plan, before, step, now);
  // A late report about a dead process does not change the deferral.
  const isNew = step?.deferred?.at !== before.steps[step?.name ?? '']?.deferred?.at;
  if (step?.deferred !== undefined && isNew) judgeDeferred(problems, before.steps[step.name], step, now);
  judgeFarthest(problems, planAfter, after, now);
}

/** The records after a write. */
export const storedAfter = (before: Snapshot, { execution, step, question }: Write): Snapshot => ({
  execution: execution ?? before.execution,
  steps: step === undefined ? before.steps : { ...before.steps, [step.name]: step },
  questions:
    question === undefined
      ? (before.questions ?? {})
      : { ...before.questions, ['number' in question ? question.number : question.step]: question },
});

function judgeExecution(problems: string[], before: Execution, after: Execution, snapshot: Snapshot): void {
  if (after.version !== before.version + 1) problems.push('S3 execution: version not + 1');
  if (isTerminal(before.status) && before.status === after.status && isCommanded(before, after))
    problems.push('S22 a command is written to what has ended');
  const recalled =
    before.status === 'succeeded' && after.cause?.kind === 'parent' && before.parent !== undefined;
  if (isTerminal(before.status) && before.status !== after.status && !recalled)
    problems.push(...judgeRetry(before, after, snapshot));
  if (!isTerminal(before.status) && isTerminal(after.status)) {
    for (const step of Object.values(snapshot.steps)) {
      // An execution that ends without undo may have begun one: of a failed list item (seed 102002111).
      const left = after.status === 'failed' || after.cause?.undo === false;
      const works =
        step.leaseUntil !== undefined || ['running', 'probing', 'compensating'].includes(step.status);
      if (works && !left) problems.push(`S10 ended while '${step.name}' is ${step.status}`);
      if (step.leaseUntil !== undefined) problems.push(`S10 ended while '${step.name}' is held`);
    }
  }
}

const isCommanded = ({ commands }: Execution, after: Execution): boolean =>
  commands.join() !== after.commands.join();

function judgeStep(problems: string[], plan: Plan, snapshot: Snapshot, after: Step, now: number): void {
  const before = snapshot.steps[after.name];
  if (after.version !== (before?.version ?? 0) + 1) problems.push(`S3 '${after.name}': version not + 1`);
  const claims = after.leaseUntil !== undefined && after.token !== before?.token;
  if (claims && before?.leaseUntil !== undefined) problems.push(`S4 '${after.name}' was claimed while held`);
  if (after.leaseUntil !== undefined && before?.leaseUntil === undefined && after.token === before?.token) {
    problems.push(`S3 '${after.name}' was claimed under its old token`);
  }
  if (!claims && before?.token !== undefined && after.token !== before.token) {
    problems.push(`S5 '${after.name}': the token changed without a claim`);
  }
  if (claims && after.mode === 'execute') problems.push(...judgeStart(plan, snapshot, after));
  if (claims && after.mode === 'undo') problems.push(...judgeUndo(plan, snapshot, after, now));
}

/** The longest cooldown plus the longest spread of returning work. */
const LONGEST_DEFERRAL_MS = 150_000 + 300_000 + CLOCKS_DIFFER_MS;

/** S9: deferred work uses up no try; an attempt that met a dead service leaves its recovery unchanged. */
function judgeDeferred(problems: string[], before: Step | undefined, after: Step, now: number): void {
  const charges = (step: Step | undefined): string =>
    [step?.stage ?? 0, step?.stageAttempt ?? 0, step?.undoAttempt ?? 0].join('/');
  // Takes back the count of the claim: a try of its stage, or of the undo.
  const found: Step | undefined =
    before?.leaseUntil === undefined
      ? asRestarted(before, after)
      : {
          ...before,
          stageAttempt: before.stageAttempt - (before.mode === 'execute' ? 1 : 0),
          undoAttempt: before.undoAttempt - (before.mode === 'undo' ? 1 : 0),
        };
  // After a retry of the execution a step begins its recovery again, or on the stage that may have acted.
  const takesNewChildren = before !== undefined && before.epoch < after.epoch && after.stageAttempt === 0;
  if (takesNewChildren) return;
  if (charges(found) !== charges(after) || after.attempt !== (before?.attempt ?? 0)) {
    problems.push(`S9 '${after.name}' is deferred and charged: ${charges(found)} → ${charges(after)}`);
  }
  // A process may have been frozen between its decision and its write (seed 55773).
  if ((after.retryAt ?? 0) <= Math.min(now, after.deferred?.at ?? now) - CLOCKS_DIFFER_MS)
    problems.push(`S12 '${after.name}' is deferred until it was`);
  const isOfBreaker = after.deferred?.why === 'breaker' || after.deferred?.why === 'paused';
  if (isOfBreaker && (after.retryAt ?? 0) > now + LONGEST_DEFERRAL_MS)
    problems.push(`S9 '${after.name}' is held back for ${(after.retryAt ?? 0) - now} ms at once`);
}

/** S16, by the supervisors' own clocks: an unclaimed message is sent again after its gap. */
function judgeDispatches(
  problems: string[],
  plan: Plan,
  { execution, steps }: Snapshot,
  { dispatches }: Execution,
): void {
  for (const [key, { count, lastAt }] of Object.entries(dispatches)) {
    const known = execution.dispatches[key];
    const step = plan.steps.find(({ name }) => key.startsWith(`${name}/`));
    if (known === undefined || count === known.count || step?.kind !== 'agent') continue;
    // A step deferred since the send is sent at its time.
    const record = steps[step.name];
    if (record?.deferred !== undefined && known.lastAt < (record.retryAt ?? 0)) continue;
    const pickups = [step, ...step.recovery].flatMap((one) => ('pickupMs' in one ? one.pickupMs : []));
    const pickupMs = Math.min(...pickups);
    const gapMs = Math.min(pickupMs * 2 ** known.count, Math.max(LONGEST_GAP_MS, pickupMs));
    if (count !== known.count + 1 || lastAt < known.lastAt + gapMs)
      problems.push(`S16 '${key}' is sent again after ${lastAt - known.lastAt} ms, and not ${gapMs}`);
  }
}

function judgeStart(plan: Plan, snapshot: Snapshot, step: Step): string[] {
  const problems: string[] = [];
  const planStep = plan.steps.find((other) => other.name === step.name);
  for (const name of planStep?.after ?? []) {
    const { status, epoch } = snapshot.steps[name] ?? {};
    if (name === 'lane' && epoch !== snapshot.execution.epoch)
      problems.push(`N1 '${step.name}' started without a place in this epoch`);
    if (status !== 'done' && status !== 'skipped' && status !== 'tolerated')
      problems.push(`S7 '${step.name}' started while '${name}' is ${status}`);
  }
  if (isTerminal(snapshot.execution.status)) problems.push(`S1 '${step.name}' started after the end`);
  // A tolerated failure is undone although the execution is not.
  const stoppedAt = snapshot.execution.cause?.at ?? Number.POSITIVE_INFINITY;
  // On-failure steps begin after all undos.
  if (isFollowing(plan)) return problems;
  const undone = Object.values(snapshot.steps).find(
    ({ name, status, claimedAt = stoppedAt }) =>
      (status === 'compensating' || status === 'compensated') &&
      claimedAt >= stoppedAt &&
      !isBesideTheWay(plan, snapshot, name),
  );
  // The fence leaves out a step that may have acted: it is undone instead. Until its undo begins, a process
  // that read an older state may still claim it; the effect of that attempt is undone with it.
  const unfenced = snapshot.steps[step.name]?.mayHaveActed === true;
  if (undone !== undefined && !unfenced) {
    problems.push(`S10 '${step.name}' started after the undo of '${undone.name}' began`);
  }
  return problems;
}

const judgeUndo = (plan: Plan, snapshot: Snapshot, step: Step, now: number): string[] =>
  // A tolerated failure is undone alone while other steps continue.
  isBesideTheWay(plan, snapshot, step.name)
    ? []
    : [
        ...judgeWayBack(plan, snapshot, step),
        ...judgeOrder(plan, snapshot, step.name, now + CLOCKS_DIFFER_MS),
      ];

/** S12: the wake time of an open execution is not later than any of its possible reasons allows. */
function judgeFarthest(problems: string[], plan: Plan, after: Snapshot, now: number): void {
  const { execution } = after;
  const { wakeAt } = execution;
  if (isTerminal(execution.status) || wakeAt === undefined) return;
  let farthest = now;
  for (const name in after.steps) {
    const { retryAt = 0, processDeadlineAt } = after.steps[name] as Step;
    farthest = Math.max(farthest, retryAt, processDeadlineAt + 6_000);
    // Child executions have their own wake times, and notify the step when they end.
    const { status, children } = after.steps[name] as Step;
    if (status === 'running' && children !== undefined) farthest = Math.max(farthest, execution.deadlineAt);
  }
  const pause = execution.status === 'paused' ? execution.pauses?.at(-1) : undefined;
  if (pause !== undefined) farthest = Math.max(farthest, pause.at + pause.withinMs);
  if (after.questions !== undefined)
    for (const { deadlineAt } of openIncidents(after)) farthest = Math.max(farthest, deadlineAt);
  const isUntil = plan.steps.some((step) => step.kind === 'wait' && step.until !== undefined);
  if (isUntil) farthest = Math.max(farthest, instantIn(execution) ?? now);
  farthest += longestMs(plan);
  if (wakeAt > farthest + CLOCKS_DIFFER_MS)
    problems.push(`S12 the wake time is ${wakeAt - farthest} ms later than any H allows`);
}

/** The longest time without a report in a step. */
const unwatchedMs = (step: PlanStep): number => {
  if (step.kind === 'agent') return Math.max(step.leaseMs, step.pickupMs);
  if (step.kind === 'wait') return step.forMs ?? 0;
  if (step.kind === 'child')
    return step.rounds?.message === undefined ? 0 : (step.rounds.message.withinMs ?? 90_000);
  const isAwaiting = step.kind === 'callback' || step.kind === 'approval' || step.kind === 'receive';
  return isAwaiting || step.kind === 'lane' ? (step.withinMs ?? 0) : 0;
};

const longest = new WeakMap<Plan, number>();

/** The longest such time of a plan, cached because it is used with every write. */
function longestMs(plan: Plan): number {
  let ms = longest.get(plan);
  if (ms === undefined) {
    ms = Math.max(60_000, ...plan.steps.map(unwatchedMs));
    longest.set(plan, ms);
  }
  return ms;
}

/**
 * Whether the end is announced: not for a list's part (only its parent is notified), nor for an execution
 * that only takes up an id.
 */
export const isAnnounced = (plan: Plan | undefined, { execution }: Snapshot): boolean =>
  plan?.announceEnds !== false &&
  execution.parent?.part !== true &&
  !(execution.status === 'canceled' && execution.version === 1);

/** Compares the final table with the ledger. */
export function judgeEnd(
  plan: Plan,
  { execution, steps, questions = {} }: Snapshot,
  ledger: Ledger,
  announced: boolean,
): string[] {
  if (!isTerminal(execution.status) || execution.wakeAt !== undefined) {
    return [`L1 stuck: ${JSON.stringify({ execution, steps })}`];
  }
  const problems: string[] = announced ? [] : ['L1 its end was not announced'];
  const succeeded = execution.status === 'succeeded';
  const answered = incidentsIn({ questions });
  problems.push(...judgeDeadline(plan, { execution, steps }, answered));
  // A person may give an output or leave effects in place; then the record names the person.
  const given = (name: string): boolean =>
    answered.some((incident) => incident.step === name && incident.choice === 'give-output');
  const left =
    execution.cause?.undo === false ||
    Object.values(steps).some((step) => step.status === 'compensation-failed');
  if (openIncidents({ questions }).length > 0) {
    problems.push('L1 it ended with an open question');
  }
  for (const step of agentSteps(plan)) {
    const { name, pointOfNoReturn } = step;
    const { undo, effect } = actedAs(step, steps[name]);
    const live = ledger.isLive(effectKeyOf(execution, name));
    const status = steps[name]?.status;
    // Possible effects of a tolerated failure are judged by their list (`oracle-tolerate.ts`).
    if (status === 'tolerated') continue;
    if (succeeded && status !== 'done' && status !== 'skipped') {
      problems.push(`S7 succeeded, but '${name}' is ${status ?? 'not begun'}`);
    }
    if (succeeded && status === 'done' && !live && !given(name) && effect !== 'none')
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
