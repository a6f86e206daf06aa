/**
 * Checks the content of the state table after a run. Pure.
 *
 * Owns: the checks of the table (S12 a wake time while open, none after the announced end; no lease on a step
 * of an ended execution; no attempt beyond the recovery; one execution per key) and the list of executions
 * that did not end.
 */

import { onFailureSteps, performedStep } from '../../lib/core/plan/on-failure.ts';
import { type AgentStep, agentSteps, type Plan } from '../../lib/core/plan/plan.ts';
import { type Snapshot, openQuestions } from '../../lib/core/records/snapshot.ts';
import { type Execution, isTerminal, type Step } from '../../lib/core/records/state.ts';
import type { Interruption } from './detection.ts';

export interface TableContent {
  readonly snapshots: readonly Snapshot[];
  readonly plans: ReadonlyMap<string, Plan>;
}

/** The clients' knowledge: a key, and the ids that answered its starts. */
export interface StartedKey {
  readonly key: string;
  readonly executionIds: readonly string[];
}

export interface TableAudit {
  /** Executions that have not ended, or whose end was not announced. */
  readonly stuck: readonly string[];
  /** Keys without their execution. */
  readonly lost: readonly string[];
  /** Keys with more than one execution, executions without a key. */
  readonly doubled: readonly string[];
  /** Any other violation. */
  readonly findings: readonly string[];
}

export function auditTable({ snapshots, plans }: TableContent, started: readonly StartedKey[]): TableAudit {
  const found = snapshots.flatMap((snapshot) => findingsOf(snapshot, plans.get(snapshot.execution.plan)));
  const byId = new Map(snapshots.map((snapshot) => [snapshot.execution.id, snapshot]));
  const lost: string[] = [];
  const doubled: string[] = [];
  for (const { key, executionIds } of started) {
    const ids = [...new Set(executionIds)];
    if (ids.length > 1) doubled.push(`${key} was answered ${ids.join(' and ')}`);
    if (!ids.some((id) => byId.has(id)))
      lost.push(`${key} has no execution (${ids.join(', ') || 'no answer'})`);
  }
  const known = new Set(started.flatMap(({ executionIds }) => executionIds));
  for (const [id, { execution }] of byId)
    if (!known.has(id) && execution.parent === undefined) doubled.push(`${id} was started by nobody`);
  return { stuck: snapshots.flatMap(stuckOf), lost, doubled, findings: found };
}

function stuckOf({ execution, steps }: Snapshot): string[] {
  if (isTerminal(execution.status) && execution.wakeAt === undefined) return [];
  const shown = Object.values(steps).map(({ name, status, attempt }) => `${name} ${status} (${attempt})`);
  const end = isTerminal(execution.status) ? ', its end was not announced' : '';
  return [`${execution.id}: ${execution.status}${end}; ${shown.join(', ') || 'no step was claimed'}`];
}

function findingsOf({ execution, steps, questions = {} }: Snapshot, plan: Plan | undefined): string[] {
  if (plan === undefined) return [`${execution.id}: its plan ${execution.plan} is not in the table`];
  const records = Object.values(steps);
  const recoveries = [...agentSteps(plan), ...onFailureSteps(plan)].flatMap((step) =>
    beyondRecovery(step, steps[step.name]),
  );
  const held = records.filter((step) => step.leaseUntil !== undefined);
  return [
    ...recoveries,
    ...(isTerminal(execution.status) ? held.map(({ name }) => `${name} is held after the end`) : []),
    ...(isTerminal(execution.status)
      ? openQuestions({ questions }).map(({ kind, step }) => `${step ?? kind} is in the inbox after the end`)
      : []),
    ...(!isTerminal(execution.status) && execution.wakeAt === undefined
      ? ['is open without a wake time']
      : []),
    ...wrongEnd(execution, records),
  ].map((finding) => `${execution.id}: ${finding}`);
}

const stages = (step: AgentStep): number =>
  step.recovery.reduce((sum, stage) => sum + (stage.kind === 'askPerson' ? 0 : stage.attempts), 1);

function beyondRecovery(step: AgentStep, record: Step | undefined): string[] {
  if (record === undefined) return [];
  const undos = step.undo === 'none' ? 0 : step.undo.attempts + 1;
  return [
    ...(record.attempt > stages(step)
      ? [`${step.name} had ${record.attempt} attempts of ${stages(step)}`]
      : []),
    ...(record.undoAttempt > undos ? [`${step.name} had ${record.undoAttempt} undos of ${undos}`] : []),
  ];
}

const SETTLED: ReadonlySet<Step['status']> = new Set(['done', 'skipped', 'tolerated']);

function wrongEnd({ status }: Execution, records: readonly Step[]): string[] {
  const unsettled = records.filter((step) => !SETTLED.has(step.status));
  if (status === 'succeeded')
    return unsettled.map(({ name, status: its }) => `succeeded, but ${name} is ${its}`);
  if (status !== 'compensated' && status !== 'canceled') return [];
  return records
    .filter(
      (step) =>
        step.status === 'compensation-failed' || step.status === 'compensating' || step.status === 'unknown',
    )
    .map(({ name, status: its }) => `${status}, but ${name} is ${its}`);
}

/** All attempts in the histories whose lease ended. */
export function interruptionsIn({ snapshots, plans }: TableContent): readonly Interruption[] {
  return snapshots.flatMap(({ execution, steps }) =>
    Object.values(steps).flatMap(({ name, attempts }) => {
      const plan = plans.get(execution.plan);
      const agent = (plan && performedStep(plan, name)?.agent) ?? '';
      return attempts
        .filter(({ failure }) => failure?.code === 'lease-ended')
        .map(({ claimedAt, endedAt }) => ({
          executionId: execution.id,
          step: name,
          target: agent,
          claimedAt,
          recordedAt: endedAt,
        }));
    }),
  );
}
