/**
 * Moves that all processes share: conditional writes, lost races, evaluations, deaths.
 *
 * Owns: the effect of one write on every process that was about to write the same record. Mirrors
 * `lib/engine/commit.ts` (write, then send), `lib/engine/reconcile.ts` (evaluate, write, evaluate again;
 * after a conflict read again with the same affected steps) and `continueWith`.
 */

import { isLeased } from '../../lib/core/records/state.ts';
import { ALL_STEPS, type Hint, type Outcome, slotOf } from './codes.ts';
import type { ModelConfig } from './config.ts';
import type { Judge } from './judge.ts';
import type { Decider } from './decider.ts';
import type { Actor, Cast, World } from './world.ts';

export interface Context {
  readonly config: ModelConfig;
  readonly decider: Decider;
  readonly judge: Judge;
  readonly cast: Cast;
}

/** Where a process is kept in a world. */
export type Seat = { readonly list: 'agents' | 'supervisors'; readonly at: number } | 'operator';

/** Reports a transition. `fault`: true if an execution can end without it. */
export type Emit = (next: World, label: string, fault: boolean, problems: readonly string[]) => void;

export const place = ({ cast, config }: Context, world: World, seat: Seat, actor: Actor | null): void => {
  const id = cast.idOf(actor && thin(config, seat, actor));
  if (seat === 'operator') {
    // If the operator's process ends before its write, the command still counts as requested.
    if (id === 0 && cast.at(world.operator)?.pc === 'write') settle(cast.at(world.operator), world);
    world.operator = id;
  } else world[seat.list][seat.at] = id;
};

/**
 * A cancel is over when its process ends. Pauses and retries need nothing: they were counted when requested.
 */
function settle(actor: Actor | null, world: World): void {
  if (actor?.pc === 'write' && actor.from === 'cancel') world.canceled = 2;
}

/**
 * Drops details that have no consequence if messages are forged: what is sent then does not matter, and an
 * agent that begins to evaluate equals one that gets an outdated message.
 */
function thin({ forge }: ModelConfig, seat: Seat, actor: Actor): Actor | null {
  if (!forge) return actor;
  const agent = seat !== 'operator' && seat.list === 'agents';
  switch (actor.pc) {
    case 'evaluate':
      return agent || seat === 'operator' ? null : { ...actor, affected: actor.affected && ALL_STEPS };
    case 'write':
      if (agent) return { ...actor, from: 'evaluate', affected: 0 };
      return { ...actor, affected: actor.affected && ALL_STEPS };
    case 'claim':
    case 'perform':
    case 'report':
      return { ...actor, unread: actor.unread === 'end' ? 'end' : 'read', sends: 0 };
    case 'read':
    case 'mourn':
      return actor;
    case 'family':
      return { ...actor, affected: actor.affected && ALL_STEPS };
  }
}

export const leasedAt = ({ decider }: Context, world: World, step: number): boolean =>
  isLeased(decider.step(world.steps[step] as number));

/** Adds sent messages to those in flight, unless any message may come at any time. */
export const send = ({ config }: Context, world: World, sends: number): void => {
  if (!config.forge) world.messages |= sends;
};

/** Makes a conditional write whose condition is true, then its sends. */
export function commit(ctx: Context, world: World, out: Outcome, claim: boolean): readonly string[] {
  const problems = [...out.problems, ...ctx.judge.write(world, out, claim)];
  if (out.exec >= 0) world.exec = out.exec;
  if (out.step >= 0) world.steps[out.step] = out.stepTo;
  if (out.announces) world.announced = 1;
  overtake(ctx, world, out.exec >= 0, out.step, claim);
  send(ctx, world, out.sends);
  const book = ctx.judge.book(world, out);
  return book.length === 0 ? problems : [...problems, ...book];
}

/** Makes every process that was about to write the same record read again. */
function overtake(ctx: Context, world: World, exec: boolean, step: number, claim: boolean): void {
  const change = (id: number, seat: Seat): number => {
    const actor = ctx.cast.at(id);
    if (actor === null) return id;
    const changed = overtaken(ctx, world, actor, exec, step, claim);
    if (changed === actor) return id;
    const left = changed?.pc === 'read' && !changed.own ? giveBack(ctx, world, changed) : changed;
    return ctx.cast.idOf(left && thin(ctx.config, seat, left));
  };
  for (const list of ['agents', 'supervisors'] as const) {
    for (const [at, id] of world[list].entries()) if (id !== 0) world[list][at] = change(id, { list, at });
  }
  if (world.operator === 0) return;
  const asked = ctx.cast.at(world.operator);
  world.operator = change(world.operator, 'operator');
  // The operator's request also reads and decides again.
  if (world.operator !== 0 || asked?.pc !== 'write') return;
  if (asked.from === 'cancel') world.canceled = 0;
  if (asked.from === 'pause') world.paused -= 1;
  if (asked.from === 'retry') world.retried -= 1;
}

const MAY_BE_CANCELED: ReadonlySet<string> = new Set(['running', 'paused']);

/** Removes details that can no longer matter. */
export function tidy({ config, decider }: Context, world: World): void {
  const { status } = decider.execution(world.exec);
  if (!MAY_BE_CANCELED.has(status) && world.operator === 0) {
    world.canceled = config.cancel ? 2 : 0;
    world.paused = config.pauses;
  }
  // A child keeps its details after its end: it may be recalled, or go on with its parent.
  const isFamily = config.isChild || config.child !== undefined;
  if (isFamily && !decider.isTerminal(world.exec)) world.announced = 0;
  if (!isFamily && decider.isTerminal(world.exec))
    world.steps = world.steps.map((id) => decider.later('step', id, 8));
}

/**
 * Instead of reading again, the process puts the message back: receiving it once more is the same. (The next
 * process has its whole life left; the model covers a shorter rest by writing the claim later.)
 */
export function giveBack(ctx: Context, world: World, hint: Hint): null {
  send(ctx, world, slotOf(hint));
  return null;
}

const isProbed = ({ decider }: Context, world: World, step: number): boolean =>
  decider.step(world.steps[step] as number)?.mode === 'probe';

function overtaken(
  ctx: Context,
  world: World,
  actor: Actor,
  exec: boolean,
  step: number,
  claim: boolean,
): Actor | null {
  switch (actor.pc) {
    case 'claim': {
      const { mode, attempt, life } = actor;
      if (actor.step === step && ctx.decider.rules.unconditional !== true)
        return { pc: 'read', step, mode, attempt, life, own: false };
      return exec && actor.unread === 'end' ? { ...actor, unread: 'read' } : actor;
    }
    case 'read':
      return claim && actor.step === step ? { ...actor, own: false } : actor;
    case 'perform':
    case 'report':
      if (actor.step === step) {
        const own = actor.own && !claim;
        // The process would only report, and its report will be refused.
        const idle = actor.pc === 'report' || actor.mode === 1;
        if (!own && idle && ctx.decider.rules.anyToken !== true) return null;
        return { ...actor, own, unread: 'read', sends: 0 };
      }
      return exec && actor.unread === 'end' ? { ...actor, unread: 'read' } : actor;
    case 'write': {
      const out = ctx.decider.outcomes.at(actor.out);
      const lost = (exec && out.exec >= 0) || (step >= 0 && out.step === step);
      if (!lost || ctx.decider.rules.unconditional === true) return actor;
      return isUntold(ctx, actor) ? { ...actor, beaten: true } : afterConflict(actor);
    }
    case 'evaluate':
      return actor;
    case 'mourn':
      return claim && actor.step === step && !isProbed(ctx, world, step) ? null : actor;
    case 'family': {
      const lost = new Set([...actor.lost, ...(exec ? [-1] : []), ...(step >= 0 ? [step] : [])]);
      return lost.size === actor.lost.length ? actor : { ...actor, lost: [...lost].sort((a, b) => a - b) };
    }
  }
}

function afterConflict(actor: Actor & { readonly pc: 'write' }): Actor | null {
  const { from, affected } = actor;
  if (from === 'evaluate') return { pc: 'evaluate', affected };
  if (from === 'cancel' || from === 'pause' || from === 'resume' || from === 'retry') return null;
  return { pc: 'read', ...from, own: false };
}

/** Reads (or, with `fresh: false`, takes what it has) and decides: sends at once, or goes to its write. */
export function evaluate(ctx: Context, world: World, seat: Seat, affected: number, fresh: boolean): void {
  const by = seat !== 'operator' && seat.list === 'supervisors' ? 'supervisor' : 'agent';
  const out = ctx.decider.evaluate(world, by, affected, fresh);
  if (out.exec >= 0 || out.step >= 0 || out.problems.length > 0) {
    place(ctx, world, seat, { pc: 'write', out: ctx.decider.outcomes.idOf(out), from: 'evaluate', affected });
  } else if (out.next === 'family') {
    const seen = { exec: world.exec, steps: [...world.steps] };
    const id = ctx.decider.outcomes.idOf(out);
    place(ctx, world, seat, { pc: 'family', out: id, affected, seen, lost: [] });
  } else if (out.next === 'evaluate') {
    place(ctx, world, seat, { pc: 'evaluate', affected: out.affected });
  } else {
    send(ctx, world, out.sends);
    place(ctx, world, seat, null);
  }
}

/** The write of an evaluation (or of a cancel, or of an outdated message), and what follows it. */
export function land(
  ctx: Context,
  world: World,
  seat: Seat,
  actor: Actor & { readonly pc: 'write' },
): readonly string[] {
  const out = ctx.decider.outcomes.at(actor.out);
  place(ctx, world, seat, null);
  const problems = commit(ctx, world, out, false);
  if (out.next !== 'evaluate') place(ctx, world, seat, null);
  else if (out.fresh) place(ctx, world, seat, { pc: 'evaluate', affected: out.affected });
  else evaluate(ctx, world, seat, out.affected, false);
  return problems;
}

/**
 * Removes the process. A request that it has sent may still take effect until its process deadline plus the
 * settle time.
 */
export function die(world: World, actor: Actor): void {
  if (actor.pc !== 'perform' || actor.mode !== 0) return;
  world.ghosts[actor.step] = Math.max(world.ghosts[actor.step] as number, actor.life + 1);
}

export const affectedText = ({ decider }: Context, bits: number): string =>
  (bits & ALL_STEPS) === 0
    ? (decider.affectedOf(bits) as readonly string[]).join('+') || 'set-wake-time'
    : 'all';

/** Whether the parent must still be notified, before the end is recorded as announced. */
export function isUntold({ decider, config }: Context, actor: Actor): boolean {
  return (
    config.isChild &&
    actor.pc === 'write' &&
    actor.told !== true &&
    decider.outcomes.at(actor.out).end !== undefined
  );
}
