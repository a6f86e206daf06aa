/**
 * Judges the order of compensation: a step is undone only when no dependent, direct or not, has an effect,
 * may act, or can start.
 *
 * Owns: S10 in two ways, both independent of the rules: by the records when an undo is claimed, and by a book
 * of the effects. Does not own: doubled effects (`ledger.ts`), the order between executions
 * (`oracle-children.ts`).
 *
 * Failed and waiting dependents count too, because they may have acted. A dependent with `undo: 'none'` needs
 * no undo, but must not be acting, and its own dependents count too.
 */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Children } from '../../lib/core/records/children.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { StepStatus } from '../../lib/core/moves.ts';
import { keyPartOf } from '../../lib/core/values/names.ts';
import { acceptedTill } from './oracle-accepted.ts';

interface Reach {
  readonly dependents: ReadonlyMap<string, readonly PlanStep[]>;
  readonly ancestors: ReadonlyMap<string, readonly string[]>;
}

const reaches = new WeakMap<Plan, Reach>();

/** The ancestors and dependents of each step, direct or not. */
function reachOf(plan: Plan): Reach {
  const known = reaches.get(plan);
  if (known !== undefined) return known;
  const ancestors = new Map<string, string[]>();
  // Steps are listed after their predecessors.
  for (const { name, after } of plan.steps)
    ancestors.set(name, [...new Set(after.flatMap((one) => [one, ...(ancestors.get(one) ?? [])]))]);
  const dependents = new Map(
    plan.steps.map(({ name }) => [
      name,
      plan.steps.filter((other) => ancestors.get(other.name)?.includes(name) === true),
    ]),
  );
  const reach = { dependents, ancestors };
  reaches.set(plan, reach);
  return reach;
}

/** Statuses in which the step may still start, by a process with an older read or by an answer. */
const MAY_START: ReadonlySet<StepStatus> = new Set([
  'running',
  'retrying',
  'accepted',
  'waiting',
  'answered',
  'unknown',
  'probing',
]);
const STANDS: ReadonlySet<StepStatus> = new Set(['done', 'compensating', 'compensation-failed']);

/** All steps after this one, direct or not. */
export const allDependents = (plan: Plan, name: string): Iterable<PlanStep> =>
  reachOf(plan).dependents.get(name) ?? [];

/** @param now true time, plus the difference that clocks may have */
export const judgeOrder = (plan: Plan, snapshot: Snapshot, name: string, now: number): string[] =>
  reasonsAgainstUndo(plan, snapshot, name, now).map((why) => `S10 the undo of '${name}' began while ${why}`);

/** The reasons of all dependents that still prevent the undo. */
export function reasonsAgainstUndo(plan: Plan, snapshot: Snapshot, name: string, now: number): string[] {
  // Items of a list depend on each other only to limit how many run at once.
  if (plan.tolerated !== undefined) return [];
  const reasons: string[] = [];
  for (const other of allDependents(plan, name)) {
    const why = whyOpen(other, snapshot, now);
    if (why !== undefined) reasons.push(`'${other.name}' ${why}`);
  }
  return reasons;
}

/** Why a dependent prevents the undo; undefined if it does not. */
function whyOpen(step: PlanStep, { execution, steps }: Snapshot, now: number): string | undefined {
  const record = steps[step.name];
  const isNext = step.after.every((one) =>
    ['done', 'skipped', 'tolerated'].includes(steps[one]?.status ?? ''),
  );
  if (record === undefined) return isNext ? 'can start' : undefined;
  const { status } = record;
  if (record.leaseUntil !== undefined) return 'is at work';
  const isStale = record.epoch < execution.epoch && (status === 'failed' || status === 'fenced');
  if (isStale && isNext) return 'can start anew';
  if (step.kind === 'child' || step.kind === 'map') return whyOpenChildren(step, record);
  if (MAY_START.has(status)) return `is ${status}`;
  if (step.kind !== 'agent') return undefined;
  const acted = record.mayHaveActed && status !== 'compensated';
  const { undo, settleMs } = actedAs(step, record);
  // If the undo of a tolerated failure failed permanently, a person let the execution go on, and the effect
  // stays.
  if (undo !== 'none' && status !== 'tolerated') {
    if (STANDS.has(status)) return `is ${status}`;
    return acted ? `is ${status} and may have acted` : undefined;
  }
  const actsTill = Math.max(record.processDeadlineAt + settleMs, acceptedTill(actedAs(step, record), record));
  return acted && now < actsTill ? 'may still act' : undefined;
}

function whyOpenChildren(step: PlanStep, { status, children }: Step): string | undefined {
  if (status === 'running' || status === 'compensating' || status === 'compensation-failed')
    return `is ${status}`;
  return children !== undefined && hasEffects(step, children) ? 'has executions in effect' : undefined;
}

/** Whether executions of a step are not over, or have effects that must be undone and are not. */
const hasEffects = (step: PlanStep, { started, ended, rounds, try: latest = 1 }: Children): boolean => {
  const undo = step.kind === 'map' ? step.each.undo : step.kind === 'child' ? step.undo : 'none';
  const ends = Object.values(ended);
  const { done = 0, compensating = latest, failed = [] } = rounds ?? {};
  // A failed try left no effects; otherwise only a person's decision allows another one.
  const hasEarlier =
    done > 0 &&
    Array.from({ length: compensating - 1 }, (_, at) => at + 1).some((at) => !failed.includes(at));
  const isLeft = hasEarlier || ends.some(({ status }) => status === 'succeeded');
  return ends.length < started || (undo !== 'none' && isLeft);
};

/** The agent of the latest stage with an agent. */
export const agentOn = (step: AgentStep, stage: number) =>
  step.recovery.slice(0, stage).findLast((one) => one.kind === 'useAgent') ?? step;

/** The agent whose attempt has acted: that of the current effect key's stage. */
export const actedAs = (step: AgentStep, record: Step | undefined) =>
  step.recovery
    .filter(({ kind }) => kind === 'useAgent' || kind === 'withInput')
    .slice(0, record?.keyVariant ?? 0)
    .findLast((stage) => stage.kind === 'useAgent') ?? step;

const mayFail = (plan: Plan, name: string): boolean => {
  const step = plan.steps.find((one) => one.name === name);
  return step !== undefined && step.kind !== 'map' && step.tolerate === true;
};

interface Effects {
  /** Effects in place, by key and service. */
  readonly standing: Set<string>;
  /** The key that is being undone. */
  undoBegan: string | undefined;
  /** Whether a person left the effect in place; late effects of the last attempt then stay too. */
  isLeft: boolean;
}

/** An attempt's call, for its service. */
type Act = Pick<AttemptContext, 'executionId' | 'step' | 'idempotencyKey'>;

/** The life of an execution, because effects of an earlier life do not concern a later one. */
const placeOf = ({ executionId, step, idempotencyKey }: Act): string =>
  `${executionId}.${idempotencyKey.slice(`${executionId}.${keyPartOf(step)}.`.length).replace(/-\d+$/, '')}`;

/** The effects of steps by execution, in order, as reported by the services. */
export class EffectOrder {
  readonly #executions = new Map<string, Map<string, Effects>>();
  /** Keys of stages that were undone before the next stage began: no dependent used their effects. */
  readonly #former = new Set<string>();
  readonly violations: string[] = [];

  /** Notes a step's write, to distinguish an undo between stages from a final one. */
  written({ execution, steps }: Snapshot, after: Step): void {
    const before = steps[after.name];
    if (before?.status === 'compensated' && after.status === 'retrying' && after.epoch === before.epoch)
      this.#former.add(effectKeyOf(execution, after.name, before.key));
    if (after.status !== 'tolerated') return;
    this.left(execution, after.name);
    // A step that certainly did not act must not act later.
    this.#of(`${execution.id}.${execution.life}`, after.name).isLeft = after.mayHaveActed;
  }

  /** @param isLasting whether it has a lasting effect */
  performed(plan: Plan, act: Act, service: string, isLasting = true): void {
    const { executionId, step, idempotencyKey } = act;
    const place = placeOf(act);
    const effects = this.#of(place, step);
    if (isLasting && !effects.isLeft) effects.standing.add(`${idempotencyKey}/${service}`);
    if (effects.undoBegan !== idempotencyKey) effects.undoBegan = undefined;
    if (plan.tolerated !== undefined) return;
    // A tolerated failure must be undone before its dependents begin.
    for (const name of reachOf(plan).ancestors.get(step) ?? []) {
      const began = this.#executions.get(place)?.get(name)?.undoBegan;
      if (!mayFail(plan, name) && began !== undefined && !this.#former.has(began))
        this.violations.push(`${executionId}: S10 '${step}' acted after the undo of '${name}' had begun`);
    }
  }

  undone(plan: Plan, act: Act, service: string): void {
    const { executionId, step, idempotencyKey } = act;
    const place = placeOf(act);
    const effects = this.#of(place, step);
    effects.undoBegan = idempotencyKey;
    effects.standing.delete(`${idempotencyKey}/${service}`);
    if (plan.tolerated !== undefined) return;
    for (const other of reachOf(plan).dependents.get(step) ?? []) {
      const standing = this.#executions.get(place)?.get(other.name)?.standing.size ?? 0;
      if (standing > 0 && mustBeUndone(other))
        this.violations.push(
          `${executionId}: S10 '${step}' was undone while the effect of '${other.name}' stood`,
        );
    }
  }

  /** Notes that the service gave up accepted work. */
  dropped(act: Act, service: string): void {
    this.#of(placeOf(act), act.step).standing.delete(`${act.idempotencyKey}/${service}`);
  }

  /** Forgets the step's effects, because a person undid them or left them in place. */
  left({ id, life }: Pick<Execution, 'id' | 'life'>, step: string): void {
    this.#of(`${id}.${life}`, step).standing.clear();
  }

  #of(place: string, step: string): Effects {
    const steps = this.#executions.get(place) ?? new Map<string, Effects>();
    this.#executions.set(place, steps);
    const effects = steps.get(step) ?? { standing: new Set<string>(), undoBegan: undefined, isLeft: false };
    steps.set(step, effects);
    return effects;
  }
}

/** Whether any variant of the step must be undone. */
const mustBeUndone = (step: PlanStep): boolean =>
  step.kind === 'agent' &&
  step.undo !== 'none' &&
  step.recovery.every((stage) => stage.kind !== 'useAgent' || stage.undo !== 'none');
