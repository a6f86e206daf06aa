/** The simulated agents: one request to an external service, which may fail in every way a service can. */

import {
  type Agent,
  type AttemptContext,
  declareAgent,
  type Effect,
  type Implementation,
} from '../../lib/core/plan/agent.ts';
import { type Accepted, cannotTell, done, notDone, type Verdict } from '../../lib/core/plan/answers.ts';
import { BULK } from '../../lib/core/plan/built-in.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import { isItemName } from '../../lib/core/values/names.ts';
import { agentStep } from '../../lib/core/plan/plan.ts';
import { bulkAgent } from '../../lib/scheduler/bulk-workflow.ts';
import { ACCEPTING, freezePastLease, isAccepting } from './acceptance.ts';
import { bulkService } from './bulk-world.ts';
import { LAST_MOMENT } from './emphasis.ts';
import { NEVER_COMPENSATED } from './oracle-tries.ts';
import { call, clockOf, type Host, planOf, type Process } from './process.ts';
import { failsLater } from './rounds.ts';
import { freezeThen, thinkFirst } from './slow-probes.ts';

/** Takes every value as it is. */
export const passThrough = {
  '~standard': { version: 1, vendor: 'steadfast', validate: (value: unknown) => ({ value }) },
} as const;

/** The message of a service that would answer the same again. */
export const DECLINED = 'declined';

const EFFECT_OF: Readonly<Record<string, Effect>> = {
  'agent-idempotent': 'idempotent',
  'agent-probed': 'probed',
  'agent-unsafe': 'unsafe',
  'agent-other-idempotent': 'idempotent',
  'agent-other-probed': 'probed',
  'agent-none': 'none',
  [`${ACCEPTING}idempotent`]: 'idempotent',
  [`${ACCEPTING}probed`]: 'probed',
  [`${ACCEPTING}none`]: 'none',
};
/** The agents that have an effect and do not accept work. Outages are drawn for each, in this order. */
export const AGENT_NAMES: readonly string[] = Object.keys(EFFECT_OF).filter(
  (name) => name !== 'agent-none' && !isAccepting(name),
);

/** Their breakers open while their services are away. */
export const BUSIEST: readonly string[] = ['agent-idempotent', 'agent-probed'];

const agents = new Map(
  Object.keys(EFFECT_OF).map((name): [string, Agent] => {
    const effect = EFFECT_OF[name] as Effect;
    const accepts = isAccepting(name) ? { acceptedWithin: '40m' } : {};
    return [name, declareAgent(name, { input: passThrough, output: passThrough, effect, ...accepts })];
  }),
);

export const agentOf = (name: string): Agent =>
  name === BULK.name ? (bulkAgent as Agent) : (agents.get(name) as Agent);

/** One agent's implementation, as it runs in one process. */
export function service(host: Host, process: Process, name: string): Implementation<unknown, unknown> {
  if (name === BULK.name && host.bulks !== undefined)
    return bulkService(host, process, host.bulks) as Implementation<unknown, unknown>;
  if (isAccepting(name)) return new Accepting(host, process, name);
  return EFFECT_OF[name] === 'probed' ? new Probed(host, process, name) : new Service(host, process, name);
}

/**
 * Notes every answer of the agent's service. A refusal (`PermanentError`) is one; the verdict 'cannot-tell'
 * and other errors are not.
 */
export function noted(host: Host, agent: string, real: Implementation<unknown, unknown>): typeof real {
  const note = async <Answer>(called: Promise<Answer>): Promise<Answer> => {
    const isAnswer = await called.then(
      (answer) => (answer as Partial<Verdict<unknown>> | undefined)?.verdict !== 'cannot-tell',
      (error: unknown) => error instanceof PermanentError,
    );
    if (isAnswer) host.breakers.answered(agent);
    return called;
  };
  const { probe, undo } = real;
  return {
    execute: (ctx, input) => note(real.execute(ctx, input)),
    ...(probe === undefined ? {} : { probe: (ctx, input) => note(probe.call(real, ctx, input)) }),
    ...(undo === undefined
      ? {}
      : { undo: (ctx, input, output) => note(undo.call(real, ctx, input, output)) }),
  };
}

/** Characters of two halves each, so that a cut at any odd place leaves one half. */
const CUT_ANYWHERE = `.${'😀'.repeat(1_200)}`;

/** The share in a world whose agents answer wrongly. */
const WRONG_SHARE = 0.15;
/** A mistake of an agent concerns every item of a list, or many of them. */
const WRONG_ITEM_SHARE = 0.3;
/** The share of probes there that find nothing but report it done. */
const MISTAKEN_SHARE = 0.3;
/** A value that JSON cannot represent. */
const NO_OUTPUT = { at: new Date(0) };

class Service implements Implementation<unknown, unknown> {
  readonly host: Host;
  readonly process: Process;
  readonly name: string;

  constructor(host: Host, process: Process, name: string) {
    this.host = host;
    this.process = process;
    this.name = name;
  }

  async execute(ctx: AttemptContext, input: unknown): Promise<unknown> {
    const { choice, faults, ledger, order } = this.host;
    this.#checkAgent(ctx);
    this.#checkValues(ctx, input);
    this.meetDeath();
    if (faults.injects('transientFailure'))
      throw new TransientError(faults.injects('strangeText') ? CUT_ANYWHERE : '503');
    if (faults.injects('permanentFailure') || failsLater(this.host, ctx)) throw new PermanentError(DECLINED);
    if (faults.injects('hungService')) await new Promise(() => undefined);
    // Sleeps long enough to outlive its time limit, its lease and its process's time; or as long as this
    // process can act at all.
    if (faults.injects('slowService')) await clockOf(this.host, this.process).sleep(this.#slowMs());
    // Alive and sending heartbeats, but without a result until its time is over.
    if (faults.injects('wedgedAgent')) await new Promise(() => undefined);
    const lost = faults.injects('lostReply');
    ctx.progress(faults.injects('strangeText') ? CUT_ANYWHERE : 'asking');
    const effect = EFFECT_OF[this.name] as Effect;
    const taken = await this.request(() => {
      if (effect !== 'unsafe') this.host.arrivals.arrived(ctx.idempotencyKey);
      if (effect !== 'none') this.host.lanes.acts(ctx.executionId, ctx.step);
      if (effect !== 'none') ledger.perform(ctx.idempotencyKey, { service: this.name, input }, effect);
      const plan = planOf(this.host, ctx.executionId);
      if (plan) order.performed(plan, ctx, this.name, effect !== 'none');
      return this.takes(ctx, input);
    });
    ctx.progress('asked');
    if (lost) throw new Error('socket hang up');
    // After its time the answer is not reported.
    if (taken?.token !== undefined && ctx.timeLeftMs() > 0) this.host.jobs.named(this.process, ctx);
    if (taken !== undefined) return taken;
    // Too large to be kept, just small enough, or twice as large.
    if (faults.injects('largeOutput'))
      return { key: ctx.idempotencyKey, text: 'ä'.repeat(choice.pick([131_000, 131_100, 262_144])) };
    return this.answer(ctx);
  }

  /** Stops the work under way, together with its undo. */
  undoing(_ctx: AttemptContext): void {}

  /** The answer of a service that does the work later. */
  takes(_ctx: AttemptContext, _input: unknown): Accepted | undefined {
    return undefined;
  }

  /** The answer of done work: sometimes a value that JSON cannot represent. */
  answer({ idempotencyKey: key, step }: AttemptContext): unknown {
    const { answers, faults } = this.host;
    const share = isItemName(step) ? WRONG_ITEM_SHARE : WRONG_SHARE;
    return answers?.chance(share) === true && !faults.healed() ? { key, at: new Date(0) } : { key };
  }

  #slowMs(): number {
    const { choice, events } = this.host;
    const lastMs = this.process.processDeadlineAt - events.now - choice.between(50, 3_000);
    return choice.chance(this.host.emphasis?.lastMoment ?? LAST_MOMENT) &&
      lastMs > 0 &&
      Number.isFinite(lastMs)
      ? lastMs
      : choice.between(5_000, 200_000);
  }

  async undo(ctx: AttemptContext, input: unknown): Promise<void> {
    const { faults, ledger, order } = this.host;
    this.#checkAgent(ctx);
    this.meetDeath();
    if (faults.injects('transientFailure') || faults.injects('transientUndoFailure'))
      throw new TransientError('503');
    if (faults.injects('permanentUndoFailure')) throw new PermanentError(NEVER_COMPENSATED);
    await this.request(() => {
      this.host.lanes.acts(ctx.executionId, ctx.step);
      ledger.undo(ctx.idempotencyKey, { service: this.name, input });
      this.undoing(ctx);
      const plan = planOf(this.host, ctx.executionId);
      if (plan) order.undone(plan, ctx, this.name);
    });
  }

  /** The whole service is away. */
  meetDeath(): void {
    const death = this.host.outages.deathOf(this.name, this.host.events.now);
    if (death === 'refuses') throw new TransientError('refused');
    if (death === 'hangs-up') throw new Error('socket hang up');
  }

  request<Answer>(act: () => Answer): Promise<Answer> {
    return call(this.host, this.process, act);
  }

  #checkValues({ executionId, step }: AttemptContext, input: unknown): void {
    const { table, values } = this.host.external;
    values?.given(planOf(this.host, executionId), table.read(executionId), step, input);
  }

  #checkAgent(ctx: AttemptContext): void {
    const plan = planOf(this.host, ctx.executionId);
    // The execution has expired, and this attempt was frozen: nothing says any more which agent had to
    // perform it.
    if (plan === undefined) return;
    const step = agentStep(plan, ctx.step) ?? plan.onFailure?.find(({ name }) => name === ctx.step);
    const isOnRecovery = step?.recovery.some(
      (stage) => stage.kind === 'useAgent' && stage.agent === this.name,
    );
    if (step?.agent !== this.name && isOnRecovery !== true) {
      this.host.ledger.violations.push(`S13 ${ctx.idempotencyKey}: performed by another agent`);
    }
  }
}

class Probed extends Service {
  async probe(ctx: AttemptContext, input: unknown): Promise<Verdict<unknown>> {
    // A connection that breaks makes the probe inconclusive. That is noted, whatever the breaker says.
    if (this.host.outages.deathOf(this.name, this.host.events.now) === 'hangs-up') return this.#untold(ctx);
    this.meetDeath();
    await thinkFirst(this.host, this.process);
    const live = await this.request(() => {
      freezeThen(this.host, this.process);
      return this.host.ledger.find(ctx.idempotencyKey, { service: this.name, input });
    });
    if (!live && this.#isMistaken(ctx)) return done(NO_OUTPUT);
    return live ? { verdict: 'done', output: this.answer(ctx) } : { verdict: 'not-done' };
  }

  /** True if the probe misreads an answer: a status 200 with an error in the body. */
  #isMistaken({ idempotencyKey }: AttemptContext): boolean {
    const { answers, faults, ledger } = this.host;
    const isMistaken = answers?.chance(MISTAKEN_SHARE) === true && !faults.healed();
    if (isMistaken) ledger.mistake(idempotencyKey);
    return isMistaken;
  }

  #untold({ executionId, step }: AttemptContext): Verdict<unknown> {
    this.host.breakers.untold(executionId, step);
    return cannotTell('status 501');
  }
}

/** Does some of its work later, and is probed for it by the key alone. */
class Accepting extends Probed {
  override takes(ctx: AttemptContext, input: unknown): Accepted | undefined {
    const { host, name } = this;
    const drop = (): void => {
      host.ledger.dropped(ctx.idempotencyKey, { service: name, input });
      host.order.dropped(ctx, name);
    };
    const request = { ctx, service: name, effect: EFFECT_OF[name] as Effect, drop };
    const taken = host.jobs.taken(host, request);
    if (taken !== undefined && host.jobs.freezes()) freezePastLease(host, this.process, ctx);
    return taken;
  }

  override async probe(ctx: AttemptContext, input: unknown): Promise<Verdict<unknown>> {
    this.meetDeath();
    await thinkFirst(this.host, this.process);
    return await this.request(() => {
      freezeThen(this.host, this.process);
      const underWay = this.host.jobs.asked(this.host, ctx.idempotencyKey);
      if (underWay !== undefined) return underWay;
      return this.found(ctx, input) ? done(this.answer(ctx)) : notDone();
    });
  }

  /** Work without a lasting effect is in no ledger: it is done once somebody else has done it. */
  found(ctx: AttemptContext, input: unknown): boolean {
    return (
      this.host.jobs.isDone(ctx.idempotencyKey) ||
      this.host.ledger.find(ctx.idempotencyKey, { service: this.name, input })
    );
  }

  override undoing(ctx: AttemptContext): void {
    this.host.jobs.stopped(ctx.idempotencyKey);
  }

  override meetDeath(): void {
    const death = this.host.outages.deathOf(`agent-${EFFECT_OF[this.name]}`, this.host.events.now);
    if (death === 'refuses') throw new TransientError('refused');
    if (death === 'hangs-up') throw new Error('socket hang up');
  }
}
