/**
 * The moves of supervisors, of the operator (cancel, pause, resume), and of time.
 *
 * Mirrors `lookAt` of `supervisor/sweep.ts` (due executions are read and evaluated with no affected steps)
 * and `cancel` of `scheduler/start.ts` (read, decide, write, evaluate; after a conflict read again).
 */

import type { Outcome } from './codes.ts';
import { stepsOf } from './config.ts';
import { type Context, die, type Emit, land, evaluate, isUntold, place, type Seat } from './moves.ts';
import { NEVER, NOW } from './times.ts';
import { type Actor, copyOf, type World } from './world.ts';

const NO: readonly string[] = [];

export function supervisorMoves(ctx: Context, world: World, at: number, emit: Emit): void {
  const seat: Seat = { list: 'supervisors', at };
  const actor = ctx.cast.at(world.supervisors[at] as number);
  if (actor !== null) return actorMoves(ctx, world, seat, actor, `supervisor ${at + 1}`, emit);
  const { wakeAt } = ctx.decider.execution(world.exec);
  // Only the first of several idle supervisors moves: the others would do the same.
  if (wakeAt === undefined || world.supervisors.indexOf(0) !== at) return;
  if (wakeAt > NOW && !ctx.config.eagerSweeps) return;
  const next = copyOf(world);
  evaluate(ctx, next, seat, 0, true);
  emit(next, `supervisor ${at + 1} reads`, false, NO);
}

export function operatorMoves(ctx: Context, world: World, emit: Emit): void {
  const { config, decider } = ctx;
  const actor = ctx.cast.at(world.operator);
  if (actor !== null) return actorMoves(ctx, world, 'operator', actor, 'operator', emit);
  const command = (from: 'cancel' | 'pause' | 'resume' | 'retry', out: Outcome): void => {
    if (out.exec < 0) return;
    const next = copyOf(world);
    if (from === 'cancel') next.canceled = 1;
    if (from === 'pause') next.paused += 1;
    if (from === 'retry') next.retried += 1;
    place(ctx, next, 'operator', { pc: 'write', out: decider.outcomes.idOf(out), from, affected: 0 });
    // A resume is no fault: it models the end of every pause, which comes at its deadline at the latest.
    emit(next, `operator reads, to ${from}`, from !== 'resume', NO);
  };
  if (config.cancel && world.canceled === 0) command('cancel', decider.cancel(world));
  if (world.paused < config.pauses) command('pause', decider.obey(world, 'pause'));
  if (config.pauses > 0) command('resume', decider.obey(world, 'resume'));
  if (world.retried < config.retries) command('retry', decider.obey(world, 'retry'));
}

function actorMoves(ctx: Context, world: World, seat: Seat, actor: Actor, who: string, emit: Emit): void {
  if (ctx.config.crash) {
    const next = copyOf(world);
    place(ctx, next, seat, null);
    emit(next, `${who} dies (${actor.pc})`, true, NO);
  }
  const next = copyOf(world);
  if (actor.pc === 'evaluate') {
    evaluate(ctx, next, seat, actor.affected, true);
    emit(next, `${who} reads and looks`, false, NO);
  } else if (actor.pc === 'write' && !isUntold(ctx, actor)) {
    const problems = land(ctx, next, seat, actor);
    emit(
      next,
      `${who} writes ${ctx.decider.outcomes.at(actor.out).what || 'the wake time'}`,
      false,
      problems,
    );
  }
}

export function timeMoves(ctx: Context, world: World, emit: Emit): void {
  ghosts(ctx, world, emit);
  jobs(ctx, world, emit);
  if (!ctx.config.time) return;
  const ticks = untilNext(ctx, world);
  if (ticks > 0) emit(later(ctx, world, ticks), `${ticks} ticks pass`, false, NO);
  const { status, deadlineAt } = ctx.decider.execution(world.exec);
  if (!ctx.config.deadline || status !== 'running' || deadlineAt !== NEVER) return;
  emit(pastDeadline(ctx, world), 'the deadline passes', true, NO);
}

function acceptsIn({ config }: Context, at: number): boolean {
  const step = stepsOf(config.plan)[at];
  return step?.kind === 'agent' && step.acceptsMs !== undefined;
}

/** The late effects of requests whose process is dead, or whose answer was lost. */
export function ghosts(ctx: Context, world: World, emit: Emit): void {
  for (const [at, ticks] of world.ghosts.entries()) {
    if (ticks === 0) continue;
    const next = copyOf(world);
    next.ghosts[at] = 0;
    if (acceptsIn(ctx, at)) {
      const taken = copyOf(next);
      const problems = ctx.judge.begin(taken, at);
      emit(
        taken,
        `the request for ${stepsOf(ctx.config.plan)[at]?.name} is accepted after all`,
        true,
        problems,
      );
    }
    const problems = ctx.judge.land(next, at);
    emit(
      next,
      `the request for ${stepsOf(ctx.config.plan)[at]?.name} takes effect after all`,
      true,
      problems,
    );
  }
}

/** The ends of accepted work: with its effect, or without it for good. */
function jobs(ctx: Context, world: World, emit: Emit): void {
  for (const [at, job] of world.jobs.entries()) {
    if (job === 0) continue;
    const name = stepsOf(ctx.config.plan)[at]?.name;
    const over = copyOf(world);
    over.jobs[at] = 0;
    const done = copyOf(over);
    emit(done, `the accepted work of ${name} is done`, true, ctx.judge.finish(done, at));
    if (world.failures >= ctx.config.failures) continue;
    over.failures += 1;
    emit(over, `the accepted work of ${name} will never be done`, true, NO);
  }
}

/** The number of ticks until time alone changes the state. */
export function untilNext(ctx: Context, world: World): number {
  const { decider, cast } = ctx;
  let first = decider.nextChange('exec', world.exec);
  const consider = (ticks: number): void => {
    if (ticks > 0 && (first === 0 || ticks < first)) first = ticks;
  };
  for (const id of world.steps) consider(decider.nextChange('step', id));
  for (const ticks of world.ghosts) consider(ticks);
  for (const id of [...world.agents, ...world.supervisors, world.operator]) {
    const actor = cast.at(id);
    if (actor === null) continue;
    if ('life' in actor) consider(actor.life);
    if (actor.pc === 'claim') consider(1);
    if (actor.pc !== 'write') continue;
    const out = decider.outcomes.at(actor.out);
    if (out.exec >= 0) consider(decider.nextChange('exec', out.exec));
    if (out.step >= 0) consider(decider.nextChange('step', out.stepTo));
    if (typeof actor.from === 'object') consider(actor.from.life);
  }
  return first;
}

export function later(ctx: Context, world: World, ticks: number): World {
  const { decider, cast } = ctx;
  const next = copyOf(world);
  next.exec = decider.later('exec', world.exec, ticks);
  next.steps = world.steps.map((id) => decider.later('step', id, ticks));
  next.ghosts = world.ghosts.map((left) => Math.max(0, left - ticks));
  const age = (id: number): number => {
    const actor = cast.at(id);
    if (actor === null) return id;
    const aged = older(ctx, actor, ticks);
    if (aged === null) {
      die(next, { ...actor, ...('life' in actor ? { life: actor.life - ticks } : {}) });
    }
    return cast.idOf(aged);
  };
  next.agents = world.agents.map(age);
  next.supervisors = world.supervisors.map(age);
  next.operator = age(world.operator);
  return next;
}

/** The process `ticks` later; null if the platform has ended it. */
function older(ctx: Context, actor: Actor, ticks: number): Actor | null {
  if (actor.pc === 'evaluate' || actor.pc === 'mourn') return actor;
  if (actor.pc === 'family') {
    const { exec, steps } = actor.seen;
    const seen = {
      exec: ctx.decider.later('exec', exec, ticks),
      steps: steps.map((id) => ctx.decider.later('step', id, ticks)),
    };
    return { ...actor, seen };
  }
  if (actor.pc === 'write') {
    const { decider } = ctx;
    const out = decider.outcomes.at(actor.out);
    const exec = out.exec < 0 ? -1 : decider.later('exec', out.exec, ticks);
    const stepTo = decider.later('step', out.stepTo, ticks);
    const { from } = actor;
    if (typeof from === 'object' && from.life <= ticks) return null;
    const aged = typeof from === 'object' ? { ...from, life: from.life - ticks } : from;
    return { ...actor, out: decider.outcomes.idOf({ ...out, exec, stepTo }), from: aged };
  }
  const life = actor.life - ticks;
  if (life <= 0) return null;
  if (actor.pc !== 'claim') return { ...actor, life };
  return { ...actor, life, to: ctx.decider.laterClaim(actor.to, ticks, life) };
}

/**
 * Lets the deadline pass, also in the writes that are pending: every version of the record has the same
 * deadline.
 */
function pastDeadline(ctx: Context, world: World): World {
  const { decider, cast } = ctx;
  const next = copyOf(world);
  const passed = (exec: number): number => decider.changed(exec, { deadlineAt: NOW });
  next.exec = passed(world.exec);
  const change = (id: number): number => {
    const actor = cast.at(id);
    if (actor?.pc !== 'write') return id;
    const out = decider.outcomes.at(actor.out);
    if (out.exec < 0) return id;
    return cast.idOf({ ...actor, out: decider.outcomes.idOf({ ...out, exec: passed(out.exec) }) });
  };
  next.agents = world.agents.map(change);
  next.supervisors = world.supervisors.map(change);
  next.operator = change(world.operator);
  return next;
}
