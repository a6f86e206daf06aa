/**
 * Models a parent and its child execution as two machines, and their effects on each other.
 *
 * Owns: starting, stopping, recalling and gathering a child, its notice of an end, one time for both, and the
 * invariants between them. Mirrors `lib/engine/children.ts`: an act on the child follows from what its
 * parent's process has read, is recorded on the condition of that, and may have been made by a process that
 * dies before it records it. When a process acts on the other execution, one read and the write on its
 * condition are one move: anything that comes between them makes it read again.
 */

import { placeHolder } from '../../lib/core/execution/start.ts';
import type { ChildEnd, ChildStart, StopGoal } from '../../lib/core/records/children.ts';
import type { ChildrenDone } from '../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { isTerminal } from '../../lib/core/records/state.ts';
import { isToGoOn } from '../../lib/core/waiting/child-retry.ts';
import { ghosts, later, untilNext } from './actors.ts';
import type { FamilyWork, Outcome } from './codes.ts';
import type { ModelConfig } from './config.ts';
import type { GoalName } from './goals.ts';
import { GOALS } from './goals.ts';
import { type Explorable, isAsked, Machine } from './machine.ts';
import { commit, type Context, place, type Seat } from './moves.ts';
import { REAL_RULES, type Rules } from './rules.ts';
import { NOW } from './times.ts';
import { type Actor, COMPENSATED, copyOf, encode, LANDED, type World } from './world.ts';

export interface Family {
  readonly parent: World;
  /** Absent before it was created. */
  readonly child: World | undefined;
}

type EmitFamily = (next: Family, label: string, fault: boolean, problems: readonly string[]) => void;
type Touching = Actor & { readonly pc: 'family' };

const NO: readonly string[] = [];
/** The index of the child step in its parent's plan. */
const KID = 0;
const FRESH = { life: 'l', writeId: '' } as const;

const copyFamily = ({ parent, child }: Family): { parent: World; child: World | undefined } => ({
  parent: copyOf(parent),
  child: child && copyOf(child),
});

export class FamilyMachine implements Explorable<Family> {
  readonly goals: readonly GoalName[];
  readonly #parent: Machine;
  readonly #child: Machine;
  readonly #rules: Rules;

  constructor(config: ModelConfig & { readonly child: ModelConfig }, rules: Rules = REAL_RULES) {
    this.goals = config.goals;
    this.#rules = rules;
    this.#parent = new Machine(config, rules);
    const name = config.plan.steps[KID]?.name ?? '';
    const parent = { executionId: 'e', step: name, index: 0, since: NOW };
    this.#child = new Machine(config.child, rules, { id: `e.${name}.0`, parent });
  }

  first(): Family {
    return { parent: this.#parent.first(), child: undefined };
  }

  copy(family: Family): Family {
    return copyFamily(family);
  }

  encode({ parent, child }: Family): string {
    return encode(parent) + (child === undefined ? '' : encode(child));
  }

  decode(text: string): Family {
    const { plan, agents, supervisors } = this.#parent.ctx.config;
    const length = 5 + plan.steps.length + agents + supervisors;
    const rest = text.slice(length);
    return {
      parent: this.#parent.decode(text.slice(0, length)),
      child: rest === '' ? undefined : this.#child.decode(rest),
    };
  }

  /**
   * Whether the state is an end: an undo that failed permanently counts as one, because its incident has a
   * deadline.
   */
  isEnd({ parent, child }: Family): boolean {
    if (child === undefined) return this.#parent.isEnd(parent);
    const { decider } = this.#child.ctx;
    if (child.steps.some((step) => isAsked(decider.step(step)))) return true;
    return this.#parent.isEnd(parent) && this.#child.isEnd(child);
  }

  goalsAt({ parent, child }: Family, open: ReadonlySet<GoalName>): GoalName[] {
    if (open.size === 0) return [];
    const state = this.#parent.ctx.decider.snapshot(parent);
    const below = child && this.#child.ctx.decider.snapshot(child);
    return [...open].filter((name) => GOALS[name](state, below));
  }

  expand(family: Family, emit: EmitFamily): void {
    const judged: EmitFamily = (next, label, fault, problems) => {
      const wrong = this.#judge(next);
      emit(next, label, fault, wrong.length === 0 ? problems : [...problems, ...wrong]);
    };
    this.#parent.expand(family.parent, (parent, label, fault, problems) =>
      judged({ ...copyFamily(family), parent }, label, fault, problems),
    );
    if (family.child !== undefined)
      this.#child.expand(family.child, (child, label, fault, problems) =>
        judged({ ...copyFamily(family), child }, `child: ${label}`, fault, problems),
      );
    this.#seats(this.#parent.ctx, family.parent, (seat, actor) => {
      if (actor.pc === 'family') this.#touch(family, seat, actor, judged);
    });
    if (family.child !== undefined)
      this.#seats(this.#child.ctx, family.child, (seat, actor) => this.#tell(family, seat, actor, judged));
    this.#time(family, judged);
  }

  #seats(ctx: Context, world: World, look: (seat: Seat, actor: Actor) => void): void {
    for (const list of ['agents', 'supervisors'] as const)
      for (const [at, id] of world[list].entries()) {
        const actor = ctx.cast.at(id);
        if (actor !== null) look({ list, at }, actor);
      }
    const operator = ctx.cast.at(world.operator);
    if (operator !== null) look('operator', operator);
  }

  #time(family: Family, emit: EmitFamily): void {
    const [ctx, below] = [this.#parent.ctx, this.#child.ctx];
    ghosts(ctx, family.parent, (parent, label, fault, problems) =>
      emit({ ...copyFamily(family), parent }, label, fault, problems),
    );
    const { child } = family;
    if (child !== undefined)
      ghosts(below, child, (next, label, fault, problems) =>
        emit({ ...copyFamily(family), child: next }, `child: ${label}`, fault, problems),
      );
    const all = [untilNext(ctx, family.parent), child === undefined ? 0 : untilNext(below, child)];
    const ticks = Math.min(...all.filter((one) => one > 0));
    if (!Number.isFinite(ticks)) return;
    const next = { parent: later(ctx, family.parent, ticks), child: child && later(below, child, ticks) };
    emit(next, `${ticks} ticks pass`, false, NO);
  }

  /** Notifies the parent, before a child's process announces the end. */
  #tell(family: Family, seat: Seat, actor: Actor, emit: EmitFamily): void {
    if (actor.pc !== 'write' || actor.told === true) return;
    const { end } = this.#child.ctx.decider.outcomes.at(actor.out);
    if (end === undefined) return;
    const next = copyFamily(family);
    const told = actor.beaten === true ? AGAIN : ({ ...actor, told: true } as const);
    place(this.#child.ctx, next.child as World, seat, told);
    const heard = this.#rules.silent === true ? NO : this.#hear(next.parent, end);
    emit(next, `the parent is told: ${end.status}`, false, heard);
  }

  #hear(parent: World, end: ChildEnd): readonly string[] {
    const { ctx } = this.#parent;
    const step = ctx.config.plan.steps[KID]?.name ?? '';
    const out = ctx.decider.hear(parent, { type: 'child-ended', step, index: 0, epoch: 1, end });
    return out.exec < 0 && out.step < 0 ? out.problems : commit(ctx, parent, out, false);
  }

  /**
   * Executes the decision on the child; then the process records it, with its earlier read as the condition.
   */
  #touch(family: Family, seat: Seat, actor: Touching, emit: EmitFamily): void {
    const { ctx } = this.#parent;
    const work = ctx.decider.outcomes.at(actor.out).family as FamilyWork;
    const next = copyFamily(family);
    const done = this.#do(next, work);
    const label = `${work.kind} (${done.how})`;
    const unrecorded = { ...next, parent: copyOf(next.parent) };
    if (ctx.config.crash) {
      place(ctx, unrecorded.parent, seat, null);
      emit(unrecorded, `${label}, and its process dies`, true, done.problems);
    }
    const out = ctx.decider.hear(actor.seen, done.event);
    const isLost =
      (out.exec >= 0 && actor.lost.includes(-1)) || (out.step >= 0 && actor.lost.includes(out.step));
    if (isLost || (out.exec < 0 && out.step < 0))
      place(ctx, next.parent, seat, { pc: 'evaluate', affected: actor.affected });
    else {
      const id = ctx.decider.outcomes.idOf(out);
      place(ctx, next.parent, seat, { pc: 'write', out: id, from: 'evaluate', affected: actor.affected });
    }
    emit(next, label, false, [...done.problems, ...out.problems]);
  }

  #do(
    family: { parent: World; child: World | undefined },
    work: FamilyWork,
  ): { readonly event: ChildrenDone; readonly how: string; readonly problems: readonly string[] } {
    if (work.kind === 'gather') {
      const status = family.child && this.#child.ctx.decider.execution(family.child.exec).status;
      const isForwards = this.#parent.ctx.decider.execution(family.parent.exec).status === 'running';
      // If its parent is being undone, another process may have begun to recall it.
      const wrong = isForwards && status !== 'succeeded';
      const problems = wrong ? [`S6 gathered from a child that is ${status ?? 'not begun'}`] : NO;
      return { event: { type: 'gathered', step: work.step, outputs: [null] }, how: 'read', problems };
    }
    const start = work.starts[0] as ChildStart;
    const { end, how, problems } =
      work.kind === 'start-children' ? this.#start(family, start) : this.#stop(family, start, work);
    const ended = end === undefined ? {} : { 0: end };
    const { step, planned } = work;
    const epochs = start.parent.epoch === undefined ? NO : ['a child of a later epoch is not modelled'];
    const event =
      work.kind === 'start-children'
        ? ({ type: 'started', step, planned, started: 1, ended } as const)
        : ({ type: 'stopped', step, planned, goal: work.goal, below: work.below, ended } as const);
    return { event, how, problems: [...problems, ...epochs] };
  }

  #start(family: { child: World | undefined }, start: ChildStart): Touched {
    const { child } = family;
    const { decider } = this.#child.ctx;
    if (child === undefined) {
      family.child = this.#child.first();
      return { how: 'created', problems: NO };
    }
    const endVersion = start.restartedAfter;
    if (endVersion !== undefined && isToGoOn(decider.execution(child.exec), endVersion)) {
      const out = decider.hear(child, { type: 'restart', endVersion });
      if (out.exec >= 0) return { how: 'goes on', problems: this.#write(child, out) };
    }
    return { ...this.#endOf(child), how: 'there', problems: NO };
  }

  #stop(
    family: { child: World | undefined },
    start: ChildStart,
    { goal }: { readonly goal: StopGoal },
  ): Touched {
    const { ctx } = this.#child;
    if (family.child === undefined) {
      // The ablation `noPlaceHolder` omits the placeholder: a starter that read an older state then finds the
      // place free.
      if (this.#rules.noPlaceHolder === true) return { end: NEVER_CREATED, how: 'not there', problems: NO };
      const plan = ctx.config.plan;
      const holder = placeHolder(plan, start, FRESH, NOW);
      const child = this.#child.first();
      child.exec = ctx.decider.idOf({ ...holder, id: ctx.decider.execution(child.exec).id });
      child.announced = 1;
      family.child = child;
      return { end: ctx.decider.end(child), how: 'place taken', problems: NO };
    }
    const { child } = family;
    const execution = ctx.decider.execution(child.exec);
    const known = this.#endOf(child);
    const mayGoOn = start.restartedAfter !== undefined && isToGoOn(execution, start.restartedAfter);
    if (known.end !== undefined && goal !== 'recall' && !mayGoOn)
      return { ...known, how: 'over', problems: NO };
    const heard = start.restartedAfter === undefined ? {} : { endVersion: start.restartedAfter };
    const out = ctx.decider.hear(child, { type: 'stop', undo: goal !== 'leave', ...heard });
    if (out.exec < 0) return { ...known, how: 'nothing to stop', problems: NO };
    const problems = this.#write(child, out);
    return mayGoOn ? { ...this.#endOf(child), how: 'closed', problems } : { how: 'stopped', problems };
  }

  #endOf(child: World): { readonly end?: ChildEnd } {
    const { decider } = this.#child.ctx;
    return decider.isTerminal(child.exec) ? { end: decider.end(child) } : {};
  }

  #write(child: World, out: Outcome): readonly string[] {
    return commit(this.#child.ctx, child, out, false);
  }

  /** The invariants between the two. */
  #judge({ parent, child }: Family): readonly string[] {
    const { decider } = this.#parent.ctx;
    if (child === undefined) return NO;
    const execution = decider.execution(parent.exec);
    // Steps after the child's step are undone before the child.
    if (child.effects.includes(COMPENSATED) && parent.effects.includes(LANDED))
      return ['S10 the child is undone before what depends on it'];
    if (!isTerminal(execution.status)) return NO;
    const below = this.#child.ctx.decider;
    const { status } = below.execution(child.exec);
    const isLive = child.effects.includes(LANDED);
    const state: Snapshot = decider.snapshot(parent);
    const isStuck = Object.values(state.steps).some((step) => step.status === 'compensation-failed');
    const problems: string[] = [];
    if (!isTerminal(status))
      problems.push(`S10 the child outlives its parent: ${execution.status}, ${status}`);
    if (execution.status === 'succeeded' && (status !== 'succeeded' || !isLive))
      problems.push(`S6 succeeded, but its child is ${status}`);
    if (['compensated', 'canceled'].includes(execution.status) && isLive)
      problems.push(`S10 ${execution.status}, but the effect of its child is in place (${status})`);
    if (execution.status === 'failed' && status === 'succeeded' && !isStuck)
      problems.push('S10 failed, but its child stays succeeded');
    return problems;
  }
}

interface Touched {
  readonly end?: ChildEnd;
  readonly how: string;
  readonly problems: readonly string[];
}

const AGAIN = { pc: 'evaluate', affected: 0 } as const;
const NEVER_CREATED: ChildEnd = { status: 'canceled', version: 1, clean: true };
