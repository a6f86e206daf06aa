/**
 * Judges moves by the oracle's own table: which statuses may follow each status of an execution, or of a step
 * of each kind.
 *
 * Owns: the table, written by the text of docs/ARCHITECTURE.md and independent of `lib/core/transitions.ts`,
 * so that a wrong row there is found; the circumstances of legal moves. Does not own: who may claim a step
 * and in which order steps are undone (`oracle-order.ts`).
 *
 * S1 only a retry of a failed execution or a recall by the parent leaves a terminal status. S2 a move without
 * a row here is a violation, so each new move must be written twice, on purpose.
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { type Incident, asIncident } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { ExecutionStatus, StepStatus } from '../../lib/core/moves.ts';
import { isFollowing } from './on-failure.ts';
import { isGivenAnotherInput } from './oracle-retries.ts';
import { isBesideTheWay } from './oracle-tolerate.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** How long a process may be frozen between its read and its decision. */
const LONGEST_PROCESS_MS = 90_000;

type Moves<Status extends string> = Readonly<Partial<Record<Status, readonly Status[]>>>;

const EXECUTION: Moves<ExecutionStatus> = {
  running: ['running', 'waiting', 'paused', 'succeeded', 'compensating'],
  waiting: ['waiting', 'running', 'paused', 'compensating'],
  paused: ['paused', 'running', 'waiting', 'succeeded', 'compensating'],
  compensating: ['compensating', 'following-up', 'compensated', 'failed', 'canceled'],
  'following-up': ['following-up', 'compensated', 'failed', 'canceled'],
  succeeded: ['succeeded', 'compensating'],
  compensated: ['compensated'],
  failed: ['failed', 'running'],
  canceled: ['canceled'],
};

/** Moves of agents' steps. */
const AGENT: Moves<StepStatus> = {
  // 'failed': the step's time is over.
  ready: ['running', 'retrying', 'skipped', 'fenced', 'failed'],
  running: ['running', 'done', 'accepted', 'retrying', 'waiting', 'failed', 'unknown'],
  // 'probing' and 'accepted': by probes. 'done': also late. 'fenced' and the undo stop the work.
  accepted: ['probing', 'accepted', 'done', 'fenced', 'compensating', 'compensation-failed'],
  // 'retrying': deferred again. 'done': a late success. 'fenced', or undone because an attempt may have
  // acted.
  retrying: [
    'running',
    'retrying',
    'done',
    'accepted',
    'failed',
    'fenced',
    'compensating',
    'compensation-failed',
  ],
  waiting: [
    'retrying',
    // 'unknown': another probe follows.
    'unknown',
    'done',
    'accepted',
    'skipped',
    'failed',
    'fenced',
    'waiting',
    'compensating',
    'compensation-failed',
  ],
  unknown: ['probing', 'unknown', 'done', 'accepted', 'fenced', 'compensating', 'compensation-failed'],
  probing: ['probing', 'done', 'accepted', 'retrying', 'failed', 'unknown', 'waiting'],
  done: ['compensating', 'compensation-failed', 'done'],
  // Probed, if there is no way back; undone, if an attempt may have acted. If it may fail: tolerated, or done
  // late.
  failed: ['waiting', 'compensating', 'compensation-failed', 'failed', 'tolerated', 'done', 'accepted'],
  compensating: ['compensating', 'compensated', 'compensation-failed', 'tolerated'],
  // 'retrying': the next stage follows.
  compensated: ['tolerated', 'retrying'],
  'compensation-failed': ['compensating', 'compensated', 'tolerated', 'compensation-failed'],
  // 'fenced' again: the death of a lost attempt is recorded.
  fenced: ['fenced'],
};

/** Further moves of on-failure steps: a person is asked if none could run for a day. */
const ON_FAILURE: Moves<StepStatus> = { retrying: ['waiting'], unknown: ['waiting'], accepted: ['waiting'] };

/**
 * Further moves of a step with an invalid output that is requested again: at its deadline, even in a pause, a
 * person is asked.
 */
const KNOWN_DONE: Moves<StepStatus> = { retrying: ['waiting'], fenced: ['waiting'] };

const WAIT: Moves<StepStatus> = { ready: ['done', 'failed', 'skipped', 'fenced'], failed: ['tolerated'] };

/** A callback or an approval. */
const CALLBACK: Moves<StepStatus> = {
  ready: ['waiting', 'answered', 'done', 'failed', 'skipped', 'fenced'],
  waiting: ['waiting', 'answered', 'done', 'failed', 'skipped', 'fenced'],
  answered: ['done', 'failed', 'skipped', 'fenced'],
  failed: ['tolerated'],
};

/** A step for a message. */
const RECEIVE: Moves<StepStatus> = {
  ready: ['done', 'failed', 'skipped', 'fenced'],
  failed: ['tolerated'],
};

/** A step for a place in a lane; after a retry it waits again. */
const LANE: Moves<StepStatus> = {
  ready: ['waiting', 'done', 'failed', 'fenced'],
  waiting: ['waiting', 'done', 'failed', 'fenced'],
};

/** A child or a list: its record may note an end in any status. */
const CHILDREN: Moves<StepStatus> = {
  // If it was refused before it began, it may end at once.
  ready: ['running', 'failed', 'skipped', 'compensating', 'fenced', 'retrying', 'waiting'],
  // A child with a recovery: its try is over and another follows, or a person is asked.
  running: ['running', 'done', 'failed', 'compensating', 'retrying', 'waiting'],
  // Rounds before the failed one are undone.
  retrying: ['running', 'fenced', 'failed', 'compensating'],
  waiting: ['retrying', 'failed', 'fenced', 'compensating'],
  done: ['done', 'compensating'],
  failed: ['failed', 'compensating', 'tolerated'],
  // 'failed': its executions are left as they are. 'compensation-failed': one of them could not be undone.
  compensating: ['compensating', 'compensated', 'failed', 'compensation-failed', 'done'],
};

const OF_KIND: Readonly<Record<PlanStep['kind'], Moves<StepStatus>>> = {
  agent: AGENT,
  wait: WAIT,
  callback: CALLBACK,
  approval: CALLBACK,
  receive: RECEIVE,
  lane: LANE,
  child: CHILDREN,
  map: CHILDREN,
};

/** The status of a failed or fenced step after a retry of its execution. */
const RENEWED: Readonly<Record<PlanStep['kind'], readonly StepStatus[]>> = {
  agent: ['ready', 'retrying', 'unknown'],
  wait: ['ready'],
  callback: ['ready', 'answered'],
  approval: ['ready', 'answered'],
  receive: ['ready'],
  lane: ['ready'],
  child: ['ready', 'running', 'retrying'],
  map: ['ready', 'running'],
};

const leads = <Status extends string>(moves: Moves<Status>, from: Status, to: Status): boolean =>
  moves[from]?.includes(to) === true;

/** Statuses that only an undo enters: of the execution, or of a list's item. */
const BACK: ReadonlySet<StepStatus> = new Set(['compensating', 'compensated', 'compensation-failed']);

/** Judges one write, with all violations of S2. */
export function judgeMoves(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  { execution, step, question }: Write,
): void {
  if (execution !== undefined) judgeExecutionMove(problems, before.execution, execution);
  if (step === undefined) return;
  const planned = plan.steps.find(({ name }) => name === step.name);
  if (planned === undefined) {
    problems.push(`S2 '${step.name}' is no step of the plan`);
    return;
  }
  const known = before.steps[step.name];
  const isOverdue = isFollowing(plan) && leads(ON_FAILURE, known?.status ?? 'ready', step.status);
  const isAskedAgain =
    known?.wrongAnswer !== undefined && known.mayHaveActed && leads(KNOWN_DONE, known.status, step.status);
  const isOther = isOverdue || isAskedAgain || isGivenAnotherInput(before, step, execution);
  if (!isOther && !mayLead(planned.kind, known, before.execution.epoch, step.status))
    problems.push(`S2 '${step.name}' (${planned.kind}): ${known?.status ?? 'ready'} → ${step.status}`);
  if (known?.status !== step.status)
    judgeTurn(problems, plan, before, { planned, step, incident: asIncident(question) });
}

function judgeExecutionMove(problems: string[], before: Execution, after: Execution): void {
  const [from, to] = [before.status, after.status];
  if (!leads(EXECUTION, from, to)) problems.push(`S2 execution: ${from} → ${to}`);
  if (from === 'succeeded' && to === 'compensating' && after.cause?.kind !== 'parent')
    problems.push('S1 what succeeded is undone, and no parent is');
  if (from === 'failed' && to === 'running' && after.epoch !== before.epoch + 1)
    problems.push('S1 what failed runs again in the same epoch');
  if (to === 'compensating' && after.cause === undefined)
    problems.push('S2 it is being undone without a cause');
}

/** Whether the move is legal, also after a retry of the execution. */
function mayLead(
  kind: PlanStep['kind'],
  before: Step | undefined,
  epoch: number,
  status: StepStatus,
): boolean {
  const moves = OF_KIND[kind];
  if (before === undefined) return leads(moves, 'ready', status);
  if (leads(moves, before.status, status)) return true;
  const isRenewed =
    before.epoch < epoch && (kind === 'lane' || before.status === 'failed' || before.status === 'fenced');
  return isRenewed && RENEWED[kind].some((from) => leads(moves, from, status));
}

interface Turn {
  readonly planned: PlanStep;
  readonly step: Step;
  readonly incident: Incident | undefined;
}

/** Checks the circumstances of entering a status. */
function judgeTurn(
  problems: string[],
  plan: Plan,
  snapshot: Snapshot,
  { planned, step, incident }: Turn,
): void {
  const { execution } = snapshot;
  const { name, status } = step;
  const isPaused = execution.status === 'paused';
  const isForward = ['running', 'waiting', 'following-up'].includes(execution.status);
  if (status === 'fenced' && execution.status !== 'compensating')
    problems.push(`S2 '${name}' is fenced while ${execution.status}`);
  if (BACK.has(status) && execution.status !== 'compensating' && !isBesideTheWay(plan, snapshot, name))
    problems.push(`S2 '${name}' is ${status} while ${execution.status}`);
  if (status === 'skipped' && planned.when === undefined && incident?.choice !== 'skip')
    problems.push(`S2 '${name}' has no condition, and nobody had it skipped`);
  // F1: a process that read the step before the stop may still skip it if it is not fenced.
  const stoppedAt = execution.status === 'compensating' ? execution.cause?.at : undefined;
  const isFromBefore =
    stoppedAt !== undefined && step.changedAt < stoppedAt + LONGEST_PROCESS_MS + CLOCKS_DIFFER_MS;
  if (status === 'skipped' && !isForward && !isPaused && !isFromBefore)
    problems.push(`S2 '${name}' is skipped while ${execution.status}`);
}
