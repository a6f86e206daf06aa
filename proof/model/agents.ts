/**
 * The agents' moves. Mirrors `agent/message.ts`: `handleMessage` (read, decide, claim; after a conflict or an
 * unsure answer read again, and perform if the token there is ours), `performAndReport`, `deliverReport` and
 * `reportOnce` (a report that conflicts is decided again on a fresh read; once the step is released, only
 * what follows is evaluated); and from `agent/attempt.ts` the ways in which an attempt ends and its
 * heartbeats.
 *
 * Merged into one move, because no rule can tell them apart: receiving a message and the read that follows;
 * the answer of the external service and its effect; a report that was overtaken, its read and its write
 * (both are conditional on that read).
 */

import { hintOf, LIFE_TICKS, type Hint, type ReportKind, SLOTS } from './codes.ts';
import { stepsOf } from './config.ts';
import {
  commit,
  type Context,
  die,
  type Emit,
  leasedAt,
  land,
  evaluate,
  isUntold,
  place,
  type Seat,
  send,
} from './moves.ts';
import { type Actor, copyOf, LANDED, COMPENSATED, type World } from './world.ts';

type Of<Pc extends Actor['pc']> = Actor & { readonly pc: Pc };
const NO: readonly string[] = [];

/** Delivers messages to idle processes: those in flight, or any message if messages are forged. */
export function deliveries(ctx: Context, world: World, emit: Emit): void {
  const at = world.agents.indexOf(0);
  if (at < 0) return;
  const { config } = ctx;
  const seat: Seat = { list: 'agents', at };
  for (let bit = 0; bit < stepsOf(config.plan).length * SLOTS; bit += 1) {
    const mask = 1 << bit;
    if (!config.forge && (world.messages & mask) === 0) continue;
    const hint = hintOf(bit);
    // A delayed message is not delivered before it is due.
    if (!config.forge && ctx.decider.deliver(world, hint, LIFE_TICKS).early) continue;
    const next = copyOf(world);
    next.messages &= ~mask;
    receive(ctx, next, seat, hint, LIFE_TICKS);
    emit(next, `deliver ${textOf(ctx, hint)}`, false, NO);
    if (!config.lossy) continue;
    const twice = copyOf(next);
    twice.messages |= mask;
    emit(twice, `deliver a copy of ${textOf(ctx, hint)}`, true, NO);
    const lost = copyOf(world);
    lost.messages &= ~mask;
    emit(lost, `lose ${textOf(ctx, hint)}`, true, NO);
  }
}

/** Records the death of a container's process: only requests that it has sent may still take effect. */
function mourned(ctx: Context, world: World, seat: Seat, actor: Actor, who: string, emit: Emit): void {
  if ((actor.pc !== 'perform' && actor.pc !== 'report') || !actor.own || actor.mode === 1) return;
  // A request that hangs is modelled as a request of an earlier attempt.
  if (actor.pc === 'report' && actor.kind === 'timeout') return;
  const next = copyOf(world);
  place(ctx, next, seat, { pc: 'mourn', step: actor.step });
  if (actor.pc === 'perform' && actor.mode === 0)
    next.ghosts[actor.step] = Math.max(next.ghosts[actor.step] as number, 1);
  emit(next, `${who} is killed (${actor.pc}), and its worker knows`, true, NO);
}

const textOf = ({ config }: Context, { step, mode, attempt }: Hint): string =>
  `${stepsOf(config.plan)[step]?.name}/${['execute', 'probe', 'undo'][mode]}/${attempt}`;

/** Reads and decides on a message. */
function receive(ctx: Context, world: World, seat: Seat, hint: Hint, life: number): void {
  const out = ctx.decider.deliver(world, hint, life);
  const { step, mode, attempt } = hint;
  if (out.next === 'perform') {
    const steps = world.steps.with(step, out.stepTo);
    const { kind: unread, sends } = ctx.decider.unread({ exec: world.exec, steps }, step, mode);
    const { stepTo: to } = out;
    place(ctx, world, seat, { pc: 'claim', step, mode, attempt, life, to, unread, sends });
  } else if (out.exec >= 0 || out.step >= 0 || out.problems.length > 0) {
    const from = { step, mode, attempt, life };
    place(ctx, world, seat, { pc: 'write', out: ctx.decider.outcomes.idOf(out), from, affected: 1 << step });
  } else {
    send(ctx, world, out.sends);
    place(ctx, world, seat, null);
  }
}

export function agentMoves(ctx: Context, world: World, at: number, emit: Emit): void {
  const actor = ctx.cast.at(world.agents[at] as number);
  if (actor === null) return;
  const seat: Seat = { list: 'agents', at };
  const who = `agent ${at + 1}`;
  if (ctx.config.crash) {
    const next = copyOf(world);
    place(ctx, next, seat, null);
    die(next, actor);
    emit(next, `${who} dies (${actor.pc})`, true, NO);
    if (ctx.config.deaths) mourned(ctx, world, seat, actor, who, emit);
  }
  switch (actor.pc) {
    case 'claim':
      return claim(ctx, world, seat, actor, who, emit);
    case 'read':
      return readAgain(ctx, world, seat, actor, who, emit);
    case 'perform':
      perform(ctx, world, seat, actor, who, emit);
      return heartbeat(ctx, world, seat, actor, who, emit);
    case 'report':
      return report(ctx, world, seat, actor, who, emit);
    case 'evaluate': {
      const next = copyOf(world);
      evaluate(ctx, next, seat, actor.affected, true);
      return emit(next, `${who} reads and looks`, false, NO);
    }
    case 'family':
      return;
    case 'mourn': {
      const next = copyOf(world);
      place(ctx, next, seat, null);
      const out = ctx.decider.die(world, actor.step);
      const problems = out.step < 0 ? out.problems : commit(ctx, next, out, false);
      if (out.step >= 0) place(ctx, next, seat, { pc: 'evaluate', affected: out.affected });
      return emit(next, `${who} records a death in ${nameOf(ctx, actor.step)}`, false, problems);
    }
    case 'write': {
      if (isUntold(ctx, actor)) return;
      const next = copyOf(world);
      const problems = land(ctx, next, seat, actor);
      return emit(next, `${who} writes ${ctx.decider.outcomes.at(actor.out).what}`, false, problems);
    }
  }
}

function claim(ctx: Context, world: World, seat: Seat, actor: Of<'claim'>, who: string, emit: Emit): void {
  const { step, mode, attempt, life, unread, sends } = actor;
  const next = copyOf(world);
  place(ctx, next, seat, null);
  const out = { ...CLAIM, step, stepTo: actor.to };
  const problems = commit(ctx, next, out, true);
  const text = `${who} claims ${textOf(ctx, actor)}`;
  if (ctx.config.ambiguous) {
    const unsure = copyOf(next);
    place(ctx, unsure, seat, { pc: 'read', step, mode, attempt, life, own: true });
    emit(unsure, `${text} and does not learn it`, true, problems);
  }
  place(ctx, next, seat, { pc: 'perform', step, mode, life, own: true, unread, sends });
  emit(next, text, false, problems);
}

const CLAIM = {
  exec: -1,
  sends: 0,
  next: 'perform',
  fresh: false,
  affected: 0,
  announces: false,
  early: false,
  what: '',
  problems: NO,
} as const;

function readAgain(ctx: Context, world: World, seat: Seat, actor: Of<'read'>, who: string, emit: Emit): void {
  const { step, mode, life, own } = actor;
  const next = copyOf(world);
  if (own && leasedAt(ctx, world, step)) {
    const { kind: unread, sends } = ctx.decider.unread(world, step, mode);
    place(ctx, next, seat, { pc: 'perform', step, mode, life, own, unread, sends });
  } else receive(ctx, next, seat, actor, life);
  emit(next, `${who} reads again for ${textOf(ctx, actor)}`, false, NO);
}

interface Answer {
  readonly kind: ReportKind;
  readonly fault?: true;
  /**
   * What the service does: the effect takes place (`lands`), the work is accepted (`job`), or the request
   * stays in transit and may act later (`ghost`).
   */
  readonly lands?: true;
  readonly job?: true;
  readonly ghost?: 'settle' | 'life';
}

const ANSWERS: readonly (readonly Answer[])[] = [
  [
    { kind: 'done', lands: true },
    { kind: 'lost', fault: true, lands: true },
    { kind: 'lost', fault: true, ghost: 'settle' },
    { kind: 'timeout', fault: true, ghost: 'life' },
    { kind: 'transient', fault: true },
    { kind: 'permanent', fault: true },
    { kind: 'acted', fault: true, lands: true },
  ],
  [
    { kind: 'cannot-tell', fault: true },
    { kind: 'still-running', fault: true },
  ],
  [
    { kind: 'compensated', lands: true },
    { kind: 'lost', fault: true, lands: true },
    { kind: 'lost', fault: true },
    { kind: 'transient', fault: true },
    { kind: 'permanent', fault: true },
  ],
];
/** The answers of a service that accepts work. */
const ACCEPTING: readonly Answer[] = [
  { kind: 'accepted', job: true },
  { kind: 'lost', fault: true, job: true },
];
const FOUND: Answer = { kind: 'found' };
const RUNNING: Answer = { kind: 'still-running' };
const FOUND_NOTHING: Answer = { kind: 'found-nothing' };

function perform(
  ctx: Context,
  world: World,
  seat: Seat,
  actor: Of<'perform'>,
  who: string,
  emit: Emit,
): void {
  const { step, mode, life, own, unread, sends } = actor;
  for (const answer of answersOf(ctx, world, step, mode)) {
    if (answer.fault && world.failures >= ctx.config.failures) continue;
    const next = copyOf(world);
    if (answer.fault) next.failures += 1;
    const begun = answer.job ? ctx.judge.begin(next, step) : NO;
    const problems = answer.lands && mode === 0 ? ctx.judge.land(next, step) : begun;
    if (answer.lands && mode === 2) {
      next.effects[step] = COMPENSATED;
      next.jobs[step] = 0;
    }
    const ghost = answer.ghost === 'settle' ? 1 : answer.ghost === 'life' ? life + 1 : 0;
    next.ghosts[step] = Math.max(next.ghosts[step] as number, ghost);
    if (ctx.decider.rules.sendFirst === true && answer.kind === 'done') send(ctx, next, sends);
    place(ctx, next, seat, { pc: 'report', step, mode, life, own, unread, sends, kind: answer.kind });
    const how = answer.lands ? ' (the effect took place)' : answer.ghost ? ' (the request is under way)' : '';
    emit(next, `${who} has ${answer.kind}${how} of ${nameOf(ctx, step)}`, answer.fault === true, problems);
  }
}

/** The service's possible answers now. */
function answersOf({ config }: Context, world: World, step: number, mode: number): readonly Answer[] {
  const always = ANSWERS[mode] ?? [];
  if (mode === 1) {
    if (world.jobs[step] === 1) return [RUNNING, ...always];
    return [world.effects[step] === LANDED ? FOUND : FOUND_NOTHING, ...always];
  }
  const planned = stepsOf(config.plan)[step];
  return mode === 0 && planned?.kind === 'agent' && planned.acceptsMs !== undefined
    ? [...always, ...ACCEPTING]
    : always;
}

const nameOf = ({ config }: Context, step: number): string => stepsOf(config.plan)[step]?.name ?? '';

function heartbeat(
  ctx: Context,
  world: World,
  seat: Seat,
  actor: Of<'perform'>,
  who: string,
  emit: Emit,
): void {
  if (!ctx.config.heartbeats || !actor.own || !leasedAt(ctx, world, actor.step)) return;
  const out = ctx.decider.heartbeat(world, actor.step);
  if (out.step < 0 || out.stepTo === world.steps[actor.step]) return;
  const next = copyOf(world);
  place(ctx, next, seat, null);
  const problems = commit(ctx, next, out, false);
  place(ctx, next, seat, actor);
  emit(next, `${who} heartbeats`, false, problems);
}

function report(ctx: Context, world: World, seat: Seat, actor: Of<'report'>, who: string, emit: Emit): void {
  const { step, own, kind, unread, sends } = actor;
  const next = copyOf(world);
  place(ctx, next, seat, null);
  const onTime = own && leasedAt(ctx, world, step);
  const text = `${who} reports ${kind} of ${nameOf(ctx, step)}`;
  if (own && !onTime && !(kind === 'done' && ctx.decider.adopts(world, step))) {
    place(ctx, next, seat, { pc: 'evaluate', affected: 1 << step });
    return emit(next, `${text}: was settled before`, false, NO);
  }
  const out = ctx.decider.report(world, step, own, kind, onTime);
  if (out.step < 0) return emit(next, `${text}: refused`, false, out.problems);
  const stolen = own ? NO : ['S5 a report was written without the current token'];
  const problems = [...stolen, ...commit(ctx, next, out, false)];
  if (ctx.config.ambiguous) {
    const unsure = copyOf(next);
    const rest = { ...actor, unread: 'read', sends: 0 } as const;
    place(ctx, unsure, seat, rest);
    emit(unsure, `${text} and does not learn it`, true, problems);
  }
  const done = onTime && (kind === 'done' || kind === 'found');
  if (done && unread === 'send') {
    if (ctx.decider.rules.sendFirst !== true) send(ctx, next, sends);
  } else if (done && unread === 'end') evaluate(ctx, next, seat, 1 << step, false);
  else place(ctx, next, seat, { pc: 'evaluate', affected: out.affected });
  emit(next, onTime ? text : `${text}, late`, false, problems);
}
