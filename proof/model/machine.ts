/**
 * One configuration as a machine: its first state, and from every state all possible next moves.
 *
 * Read in this order: `times.ts` (what a state forgets), `codes.ts` and `decider.ts` (the real rules, asked
 * with numbers), `world.ts` (a state), `moves.ts`, `agents.ts`, `actors.ts` (the moves), `judge.ts` (the
 * invariants), `explore.ts`.
 */

import type { Execution, Step } from '../../lib/core/records/state.ts';
import { agentMoves, deliveries } from './agents.ts';
import { ALL_STEPS } from './codes.ts';
import { type ModelConfig, stepsOf } from './config.ts';
import { type GoalName, GOALS } from './goals.ts';
import { Judge } from './judge.ts';
import { operatorMoves, supervisorMoves, timeMoves } from './actors.ts';
import { Decider } from './decider.ts';
import { type Context, type Emit, send, tidy } from './moves.ts';
import { REAL_RULES, type Rules } from './rules.ts';
import { copyOf, decode, encode, newCast, type World } from './world.ts';

/** The part of a machine that the search needs. */
export interface Explorable<State> {
  readonly goals: readonly GoalName[];
  readonly first: () => State;
  readonly encode: (state: State) => string;
  readonly decode: (text: string) => State;
  readonly copy: (state: State) => State;
  readonly isEnd: (state: State) => boolean;
  readonly goalsAt: (state: State, open: ReadonlySet<GoalName>) => GoalName[];
  readonly expand: (
    state: State,
    emit: (next: State, label: string, fault: boolean, problems: readonly string[]) => void,
  ) => void;
}

/** An incident of the step is open or due, and it has a deadline (L1): the model has no people. */
export const isAsked = (step: Step | undefined): boolean =>
  step?.status === 'compensation-failed' || (step?.status === 'waiting' && step.wrongAnswer !== undefined);

export class Machine implements Explorable<World> {
  readonly ctx: Context;

  constructor(config: ModelConfig, rules: Rules = REAL_RULES, born: Partial<Execution> = {}) {
    const decider = new Decider(config, rules, born);
    this.ctx = { config, decider, judge: new Judge(decider), cast: newCast() };
  }

  /** The execution was just written and its first messages were sent (`start` in `scheduler/start.ts`). */
  first(): World {
    const { config, decider } = this.ctx;
    const none = stepsOf(config.plan).map(() => 0);
    const world: World = {
      ...decider.first(),
      steps: [...none],
      effects: [...none],
      ghosts: [...none],
      jobs: [...none],
      messages: 0,
      failures: 0,
      announced: 0,
      canceled: 0,
      paused: 0,
      retried: 0,
      operator: 0,
      agents: Array.from({ length: config.agents }, () => 0),
      supervisors: Array.from({ length: config.supervisors }, () => 0),
    };
    send(this.ctx, world, decider.evaluate(world, 'agent', ALL_STEPS, true).sends);
    return world;
  }

  encode(world: World): string {
    return encode(world);
  }

  decode(text: string): World {
    const { config } = this.ctx;
    return decode(text, stepsOf(config.plan).length, config.agents);
  }

  /**
   * True if the execution ended, was announced and is not evaluated again. Also true if an incident with a
   * deadline is open (L1), because an undo failed for good or an answer was not an output: the model has no
   * people to answer it.
   */
  isEnd(world: World): boolean {
    const { decider } = this.ctx;
    if (world.steps.some((id) => isAsked(decider.step(id)))) return true;
    // Nor does the model say whether an on-failure step with an unknown outcome acted.
    const { status } = decider.execution(world.exec);
    if (status === 'following-up' && world.steps.some((step) => decider.step(step)?.status === 'waiting'))
      return true;
    return (
      decider.isTerminal(world.exec) &&
      decider.execution(world.exec).wakeAt === undefined &&
      world.announced === 1
    );
  }

  /** The goals that a state meets. */
  goalsAt(world: World, open: ReadonlySet<GoalName>): GoalName[] {
    if (open.size === 0) return [];
    const snapshot = this.ctx.decider.snapshot(world);
    return [...open].filter((name) => GOALS[name](snapshot));
  }

  get goals(): readonly GoalName[] {
    return this.ctx.config.goals;
  }

  expand(world: World, emit: Emit): void {
    const { ctx } = this;
    const { config } = ctx;
    const judged: Emit = (next, label, fault, problems) => {
      tidy(ctx, next);
      const wrong = ctx.judge.stored(next);
      emit(next, label, fault, wrong.length === 0 ? problems : [...problems, ...wrong]);
    };
    const given = copyOf(world);
    deliveries(ctx, given, judged);
    for (let at = 0; at < world.agents.length; at += 1) {
      // Only the first of several processes at the same point moves: the others would do the same.
      if (world.agents.indexOf(world.agents[at] as number) === at) agentMoves(ctx, given, at, judged);
    }
    for (let at = 0; at < world.supervisors.length; at += 1) {
      if (world.supervisors.indexOf(world.supervisors[at] as number) === at)
        supervisorMoves(ctx, given, at, judged);
    }
    operatorMoves(ctx, given, judged);
    // In a pair of parent and child, `family.ts` moves the one time of both.
    if (config.child === undefined && !config.isChild) timeMoves(ctx, given, judged);
  }

  copy(world: World): World {
    return copyOf(world);
  }
}
