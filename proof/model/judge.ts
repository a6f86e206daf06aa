/**
 * Judges every state by the invariants, independently of the rules.
 *
 * Owns: S5, S6, S10, S20 against the external services' ledger, S12 exactly, the end. The simulator's oracle
 * judges S1, S2, S4, S7 and S10 of a single write. S3 is judged at the write (`decider.ts`).
 */

import type { Children } from '../../lib/core/records/children.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { type AgentStep, agentSteps, isBefore, type Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, hasEnd, isLeased, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { leaseEndsAt } from '../../lib/core/step/lease.ts';
import { planSeen, recordsSeen } from '../simulation/on-failure.ts';
import { judge, storedAfter } from '../simulation/oracle.ts';
import { stepsOf } from './config.ts';
import { keyOf, type Outcome, type Stored } from './codes.ts';
import { Memo } from './intern.ts';
import type { Decider } from './decider.ts';
import { NOW } from './times.ts';
import { LANDED, COMPENSATED, type World } from './world.ts';

const AWAITED = Number.MAX_SAFE_INTEGER;

/** All its executions have started, and some have not ended. */
const isAwaited = ({ count, started, ended }: Children): boolean =>
  started >= count && Object.keys(ended).length < count;

const endedAs = ({ status, end }: Execution): Execution['status'] =>
  status === 'following-up' ? (end?.status ?? status) : status;

/** The model's only time; the model knows no outages. */
const NO_OUTAGE = { now: NOW, graceFrom: Number.NEGATIVE_INFINITY };

const NONE: readonly string[] = [];

export class Judge {
  readonly #decider: Decider;
  readonly #plan: Plan;
  readonly #writes = new Memo<readonly string[]>();
  readonly #states = new Memo<readonly string[]>();

  constructor(decider: Decider) {
    this.#decider = decider;
    this.#plan = decider.plan;
  }

  /** @param before what is stored. @param claim whether the write takes the step with a fresh token */
  write(before: Stored, out: Outcome, claim: boolean): readonly string[] {
    const key = `${keyOf(before, out.exec + 1, out.step + 1, out.stepTo)}${claim}`;
    return this.#writes.get(key, () => {
      const snapshot = this.#decider.snapshot(before);
      const step = out.step < 0 ? undefined : this.#decider.step(out.stepTo);
      const token = claim ? { token: 'fresh' } : {};
      const version = (step && (snapshot.steps[step.name]?.version ?? 0)) ?? 0;
      const write: Write = {
        executionId: 'e',
        ...(out.exec < 0
          ? {}
          : { execution: { ...this.#decider.execution(out.exec), version: snapshot.execution.version + 1 } }),
        ...(step === undefined ? {} : { step: { ...step, ...token, version: version + 1 } }),
      };
      const problems: string[] = [];
      const seen = planSeen(this.#plan, snapshot.execution);
      const after = storedAfter(snapshot, write);
      const context = { ...NO_OUTAGE, planAfter: planSeen(this.#plan, after.execution) };
      const counted = recordsSeen(this.#plan, snapshot);
      judge(problems, seen, counted, write, recordsSeen(this.#plan, after), context);
      return problems.length === 0 ? NONE : problems;
    });
  }

  /** The service accepts the work, and acts from now on. Changes the book. */
  begin(world: World, at: number): readonly string[] {
    const before = world.effects[at] as number;
    const problems = before === LANDED ? NONE : this.land(world, at);
    world.effects[at] = before;
    if (before !== LANDED) world.jobs[at] = 1;
    return problems;
  }

  /** Accepted work is done. Its own undo may be under way and stop it; nothing before it may be undone. */
  finish(world: World, at: number): readonly string[] {
    const { name, undo } = stepsOf(this.#plan)[at] as AgentStep;
    const execution = this.#decider.execution(world.exec);
    const problems: string[] = [];
    world.effects[at] = LANDED;
    for (const [other, step] of this.#plan.steps.entries()) {
      const status = this.#decider.step(world.steps[other] as number)?.status;
      const isUndone = status === 'compensating' || status === 'compensated';
      if (isUndone && isBefore(this.#plan, step.name, name))
        problems.push(`S10 accepted work of '${name}' acted after the undo of '${step.name}' began`);
    }
    const own = this.#decider.step(world.steps[at] as number)?.status;
    if (hasEnd(execution) && undo !== 'none' && own !== 'compensation-failed')
      problems.push(`S10 accepted work of '${name}' acted after the end (${execution.status})`);
    return problems;
  }

  /** A forward effect takes place. Changes the book. */
  land(world: World, at: number): readonly string[] {
    const step = stepsOf(this.#plan)[at] as AgentStep;
    const status = this.#decider.step(world.steps[at] as number)?.status;
    const effect = world.effects[at];
    const problems: string[] = [];
    if (effect === COMPENSATED) problems.push(`S10 '${step.name}' acted after its undo`);
    else if (status === 'tolerated')
      problems.push(`S20 '${step.name}' acted after its failure was tolerated`);
    else if (status === 'compensating' || status === 'compensated')
      problems.push(`S10 '${step.name}' acted after its undo began (${status})`);
    const end = this.#decider.execution(world.exec).status;
    // A late repetition of an on-failure step's request changes nothing: its effect is there already.
    if (at >= this.#plan.steps.length && effect !== LANDED && !hasEnd({ status: end }))
      problems.push(`S21 the on-failure step '${step.name}' acted while ${end}`);
    if (
      hasEnd({ status: end }) &&
      step.undo !== 'none' &&
      !(
        endedAs(this.#decider.execution(world.exec)) === 'failed' &&
        this.#notCharged(world, step as AgentStep)
      )
    ) {
      if (effect !== LANDED) problems.push(`S10 '${step.name}' acted after the end (${end})`);
    }
    if (effect === LANDED && step.effect === 'probed') problems.push(`S6 '${step.name}' acted twice`);
    world.effects[at] = LANDED;
    return problems;
  }

  /**
   * True if the undo of the step, or of a step that depends on it, failed for good: a person must resolve
   * this.
   */
  #notCharged(stored: Stored, step: AgentStep): boolean {
    return this.#plan.steps.some((other, at) => {
      const behind = other.name === step.name || isBefore(this.#plan, step.name, other.name);
      return behind && this.#decider.step(stored.steps[at] as number)?.status === 'compensation-failed';
    });
  }

  /** Compares the book with the stored records; called after every write. */
  book(world: World, out: Outcome): readonly string[] {
    const problems: string[] = [];
    const { steps } = this.#plan;
    if (
      out.step >= 0 &&
      steps[out.step]?.kind === 'agent' &&
      this.#decider.step(out.stepTo)?.status === 'done' &&
      world.effects[out.step] !== LANDED
    ) {
      problems.push(`S6 '${steps[out.step]?.name}' is done without its effect`);
    }
    const execution = this.#decider.execution(world.exec);
    const { status } = execution;
    if (out.exec < 0 || !hasEnd(execution) || out.announces) return problems;
    for (const [at, step] of steps.entries()) {
      const record = this.#decider.step(world.steps[at] as number);
      const live = world.effects[at] === LANDED;
      if (status === 'succeeded') {
        if (live && record?.status !== 'done') problems.push(`S6 succeeded, but '${step.name}' acted`);
      } else if (
        live &&
        agentSteps(this.#plan)[at]?.undo !== 'none' &&
        !(endedAs(execution) === 'failed' && this.#notCharged(world, step as AgentStep))
      ) {
        problems.push(`S10 ${status}, but the effect of '${step.name}' is in place (${record?.status})`);
      }
    }
    return problems;
  }

  /** The invariants of the stored records at any time. */
  stored(world: World): readonly string[] {
    const problems = this.#states.get(keyOf(world, 0, 0, 0), () =>
      this.#watch(this.#decider.snapshot(world)),
    );
    const { status, wakeAt } = this.#decider.execution(world.exec);
    const untold = isTerminal(status) && wakeAt === undefined && world.announced === 0;
    return untold ? [...problems, 'L1 the end is not watched and was not told'] : problems;
  }

  /** S12: wakeAt ≤ min(the end of every lease, e + H), all steps having the same H. */
  #watch(snapshot: Snapshot): readonly string[] {
    const { execution, steps } = recordsSeen(this.#plan, snapshot);
    const plan = planSeen(this.#plan, execution);
    if (isTerminal(execution.status)) return NONE;
    const { wakeAt } = execution;
    if (wakeAt === undefined) return ['S12 an open execution has no wake time'];
    if (wakeAt <= NOW) return NONE;
    const records = Object.values(steps);
    const lease = Math.min(...records.filter(isLeased).map((step) => leaseEndsAt(step.leaseUntil)));
    if (wakeAt > lease) return [`S12 the wake time is ${wakeAt - lease} ms after the end of a lease`];
    const first = this.#plan.steps[0] as AgentStep;
    const latest = this.#quietUntil(plan, execution, steps) + Math.min(first.leaseMs, first.pickupMs);
    return wakeAt > latest ? [`S12 the wake time is ${wakeAt - latest} ms after e + H`] : NONE;
  }

  #quietUntil(plan: Plan, { status }: Execution, steps: Readonly<Record<string, Step>>): number {
    // A pause has always just begun: a process that read before it may still claim.
    const moves = status === 'compensating' || status === 'paused';
    const codeReturned = (name: string): boolean =>
      ['done', 'skipped', 'tolerated'].includes(steps[name]?.status ?? '');
    const times = plan.steps.map((step) => {
      const record = steps[step.name];
      const was = record?.status;
      if (record === undefined || was === 'ready')
        return step.after.every(codeReturned) ? NOW : Number.POSITIVE_INFINITY;
      if (isLeased(record) || was === 'unknown') return NOW;
      // A tolerated failure is undone once none of its attempts can act any more.
      const isUndone = was === 'failed' || was === 'compensating';
      if (step.kind === 'agent' && step.tolerate === true && isUndone)
        return Math.max(NOW, record.retryAt ?? 0, record.processDeadlineAt + step.settleMs);
      // The notice of a child execution brings the wake time forward.
      if (was === 'running' && record.children !== undefined)
        return isAwaited(record.children) ? AWAITED : NOW;
      return was === 'retrying' || was === 'accepted'
        ? Math.max(NOW, record.retryAt ?? 0)
        : Number.POSITIVE_INFINITY;
    });
    const earliest = Math.min(...times);
    if (!moves && times.includes(AWAITED) && earliest >= AWAITED) return Number.POSITIVE_INFINITY;
    return moves || earliest === Number.POSITIVE_INFINITY ? NOW : earliest;
  }
}
