/**
 * Drives the production roles over ports in memory: delivers messages, runs processes, advances time.
 *
 * Owns: choosing the next event (a message, a sweep, a step of time), one at a time, so that a test is
 * reproducible. Does not own: any decision of the roles, the faults (`agent-calls.ts`), the user's view
 * (`workflow-test.ts`).
 *
 * Time advances only if no work is left at the current instant. Real time passes only while an agent's code
 * waits for something real (such as a test's server), for at most `patienceMs`.
 */

import * as timers from 'node:timers';
import { isError, refuse } from '../lib/core/values/errors.ts';
import type { Send } from '../lib/core/decisions/decision.ts';
import type { Clock, Ports } from '../lib/core/ports.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import type { Execution } from '../lib/core/records/state.ts';
import { ProcessRate } from '../lib/agent/process-rate.ts';
import { perSecondOf } from '../lib/core/values/rate.ts';
import { handleMessage } from '../lib/agent/message.ts';
import type { Worker } from '../lib/agent/author-code.ts';
import { withAllValues } from '../lib/engine/large-values.ts';
import { type PlanCache, planOf } from '../lib/engine/plans.ts';
import { createScheduler, type Scheduler, type Shown } from '../lib/scheduler/start.ts';
import { SWEEP_EVERY_MS, sweepOnce } from '../lib/supervisor/sweep.ts';
import { ManualClock, memoryValues, type MemoryWorld, memoryWorld } from '../lib/memory/world.ts';
import { AgentCalls } from './agent-calls.ts';
import { type Host, startProcess, type Injects } from './process.ts';
import { StepNames } from './step-names.ts';

export interface DriverOptions {
  readonly workflows: readonly Workflow[];
  /** The worker of each agent, read at each delivery. */
  readonly workers: ReadonlyMap<string, Worker>;
  /** The rate of each agent's attempts, such as '50/s'. */
  readonly rates: Readonly<Record<string, string>>;
  readonly largeValues: boolean;
  readonly injects: Injects;
  readonly lateMs: Host['lateMs'];
  readonly seed: number;
  /** The start in epoch ms. */
  readonly startsAt: number;
  /** The patience in real ms. */
  readonly patienceMs: number;
}

/** A message in a queue; as in SQS, it is redelivered unless it was handled. */
interface Letter {
  readonly send: Send;
  visibleAt: number;
  receives: number;
}

/**
 * Settings of a deployment: the function's time beyond the agent's timeout, the queue's visibility and
 * receives, the tick.
 */
const SPARE_MS = 15_000;
const VISIBILITY_FACTOR = 6;
const MAX_RECEIVES = 5;
const TICK_EVERY_MS = 60_000;

/** The most events of a run; a run with more counts as endless. */
const MAX_EVENTS = 50_000;

// Imported early and not read from the global object, because a test or a set-up may fake the global timers.
const { setImmediate: soon, setTimeout: later, clearTimeout: wakeNoLaterThan } = timers;

export type RunEnd =
  | 'over'
  /** No events are left. */
  | 'idle'
  /** The time limit has passed. */
  | 'late'
  /** There were too many events. */
  | 'endless';

export class Driver implements Host {
  readonly world: MemoryWorld;
  readonly injects: Injects;
  readonly lateMs: Host['lateMs'];
  readonly calls: AgentCalls;
  /** The ids of all executions. */
  readonly created: Set<string> = new Set();
  readonly names: StepNames = new StepNames();
  readonly #options: DriverOptions;
  readonly #counts = new Map<string, number>();
  readonly #plans: PlanCache = new Map();
  readonly #letters = new Set<Letter>();
  /** The earliest time of the next sweep; undefined during a sweep. */
  #sweepFromAt = 0;
  /** How many calls of `run` are in progress. */
  #runs = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.injects = options.injects;
    this.lateMs = options.lateMs;
    const world = memoryWorld({ seed: options.seed });
    const send = async (sends: readonly Send[]): Promise<void> => {
      for (const one of sends) this.#put(one);
    };
    const place = options.largeValues ? { largeValues: memoryValues() } : {};
    this.world = { ...world, ...place, clock: new ManualClock(options.startsAt), queue: { send } };
    this.calls = new AgentCalls(this);
  }

  readonly hasCreated = (execution: Execution): void => {
    this.created.add(execution.id);
    this.names.add(execution);
  };

  readonly count = (what: string): number => {
    const next = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, next);
    return next;
  };

  /**
   * Makes a client's request to the scheduler, and repeats it if the scheduler dies before it answers.
   * @param newId the id of an execution that is started without a key
   */
  async ask<Answer>(
    newId: () => string,
    request: (scheduler: Scheduler) => Promise<Answer>,
  ): Promise<Answer> {
    for (;;) {
      const process = startProcess(this, 'the scheduler', Number.POSITIVE_INFINITY);
      const ports = { ...process.ports, clock: this.#passing(process.ports.clock) };
      const scheduler = createScheduler(ports, this.#options.workflows, { hash, newId }, new Set(), true);
      const answer = request(scheduler).then((value) => ({ value }));
      const first = await Promise.race([answer, process.died]);
      if (first !== undefined) return first.value;
    }
  }

  /**
   * Runs events, one at a time, until `isOver` is true after one of them.
   * @param untilAt the latest time, in epoch ms
   */
  async run(isOver: () => Promise<boolean>, untilAt: number): Promise<RunEnd> {
    this.#runs += 1;
    return this.#happening(isOver, untilAt).finally(() => (this.#runs -= 1));
  }

  async #happening(isOver: () => Promise<boolean>, untilAt: number): Promise<RunEnd> {
    await this.#quiet();
    for (let event = 0; event < MAX_EVENTS; event += 1) {
      if (await isOver()) return 'over';
      const nextAt = await this.#nextAt();
      if (nextAt === undefined || nextAt > untilAt) {
        if (Number.isFinite(untilAt)) this.world.clock.advanceTo(untilAt);
        await this.#quiet();
        return nextAt === undefined ? 'idle' : 'late';
      }
      await this.#nextThing(nextAt);
    }
    return 'endless';
  }

  /**
   * The clock of a request. It advances time if the request waits before repeating a write, as after two
   * simultaneous starts.
   */
  #passing(clock: Clock): Clock {
    const sleep: Clock['sleep'] = (ms, signal) => {
      let isOver = false;
      void this.#pass(clock.now() + ms, () => isOver);
      return clock.sleep(ms, signal).finally(() => (isOver = true));
    };
    return { ...clock, sleep };
  }

  /** Advances time to this instant, unless an event occurs. */
  async #pass(untilAt: number, isOver: () => boolean): Promise<void> {
    const { clock } = this.world;
    while (!isOver() && clock.now() < untilAt) {
      await new Promise<void>((resolve) => soon(resolve));
      if (this.#runs === 0 && !isOver()) clock.advanceTo(Math.min(untilAt, clock.nextWakeAt() ?? untilAt));
    }
  }

  /** @throws SteadfastError `unknown-execution` */
  async show(executionId: string): Promise<Shown> {
    const { store } = this.world;
    const state = await store.read(executionId);
    if (state === undefined) throw refuse('unknown-execution', `there is no execution '${executionId}'`);
    const plan = await planOf(store, this.#plans, state.execution.plan);
    return { state: await withAllValues(this.world, state), plan };
  }

  #put(send: Send): void {
    this.#letters.add({ send, visibleAt: this.world.clock.now() + send.delayMs, receives: 0 });
  }

  async #nextThing(nextAt: number): Promise<void> {
    const now = this.world.clock.now();
    const letter = this.#nextLetter();
    if (letter !== undefined && letter.visibleAt <= now) this.#deliver(letter);
    else if (((await this.#nextSweepAt()) ?? Number.POSITIVE_INFINITY) <= now) this.#sweep();
    else this.world.clock.advanceTo(nextAt);
    await this.#quiet();
  }

  async #nextAt(): Promise<number | undefined> {
    const times = [this.#nextLetter()?.visibleAt, this.world.clock.nextWakeAt(), await this.#nextSweepAt()];
    const known = times.filter((at): at is number => at !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** The message with the earliest visible time. */
  #nextLetter(): Letter | undefined {
    let first: Letter | undefined;
    for (const letter of this.#letters) {
      if (first === undefined || letter.visibleAt < first.visibleAt) first = letter;
    }
    return first;
  }

  async #nextSweepAt(): Promise<number | undefined> {
    const { items } = await this.world.store.due(0, Number.MAX_SAFE_INTEGER);
    const wakeAt = items[0]?.wakeAt;
    if (wakeAt === undefined || !Number.isFinite(this.#sweepFromAt)) return undefined;
    return Math.max(wakeAt, this.#sweepFromAt);
  }

  #sweep(): void {
    const now = this.world.clock.now();
    const process = startProcess(this, 'the supervisor', Number.POSITIVE_INFINITY);
    this.#sweepFromAt = Number.POSITIVE_INFINITY;
    const swept = sweepOnce(process.ports, new Map(), now).then(() => SWEEP_EVERY_MS);
    const died = process.died.then(() => TICK_EVERY_MS);
    void Promise.race([swept, died]).then((pauseMs) => {
      this.#sweepFromAt = now + pauseMs;
    });
  }

  #deliver(letter: Letter): void {
    const { agent, message } = letter.send;
    const now = this.world.clock.now();
    const worker = this.#options.workers.get(agent);
    if (worker === undefined) throw missingAgent(agent, `message for step '${message.step}'`);
    const functionMs = Math.ceil(worker.agent.spec.timeoutMs / 1_000) * 1_000 + SPARE_MS;
    letter.receives += 1;
    letter.visibleAt = now + functionMs * VISIBILITY_FACTOR;
    if (letter.receives >= MAX_RECEIVES) this.#discard(letter);
    const process = startProcess(this, agent, now + functionMs);
    const place = `delivery:${this.count('delivery')}`;
    const about = `${agent} takes the message to ${message.mode} ${this.names.quoted(message.execution, message.step)}`;
    if (this.injects(`before:${place}`, about)) process.kill();
    if (this.injects(`twice:${place}`, about)) this.#put({ ...letter.send, delayMs: 0 });
    const rate = this.#options.rates[agent];
    const observed = {
      ...this.calls.observed(worker, process),
      ...(rate === undefined ? {} : { rate: new ProcessRate(agent, perSecondOf(rate)) }),
    };
    void this.#handle(process.ports, observed, letter, now + functionMs);
  }

  async #handle(ports: Ports, worker: Worker, letter: Letter, processDeadlineAt: number): Promise<void> {
    const { message } = letter.send;
    try {
      const result = await handleMessage(ports, new Map(), worker, message, () => processDeadlineAt);
      if (result === 'handled') this.#discard(letter);
    } catch (error) {
      const detail = isError(error) ? error.message : 'error';
      const { execution: executionId, step } = message;
      this.world.log.note({ what: 'message-given-back', executionId, step, detail });
    }
  }

  #discard(letter: Letter): void {
    this.#letters.delete(letter);
  }

  /** Runs all work that does not wait for the test's time. */
  async #quiet(): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => soon(resolve));
      const underWay = this.calls.underWay();
      if (underWay.length === 0) return;
      if (!(await answersIn(underWay, this.#options.patienceMs))) this.calls.giveUpWaiting();
    }
  }
}

/** Whether any of the calls settles within this real time. */
async function answersIn(calls: readonly Promise<void>[], realMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<false>((resolve) => {
    timer = later(() => resolve(false), realMs);
  });
  const answered = await Promise.race([...calls.map((call) => call.then(() => true)), over]);
  wakeNoLaterThan(timer);
  return answered;
}

/** An error that names the missing implementation, and what to pass. */
export const missingAgent = (agent: string, forWhat: string): Error =>
  refuse(
    'missing-agent',
    `no implementation of agent '${agent}' (${forWhat}); add the handler that its file exports to \`agents\`, or a fake: \`theAgent.handler({ execute: async () => … })\``,
  );

/** Texts from this length on are plans; a client's key is shorter. */
const PLAN_LENGTH = 300;
/** Caches plan hashes: every process hashes the same few plans, which would take a third of all time. */
const planHashes = new Map<string, string>();

function hash(text: string): string {
  if (text.length < PLAN_LENGTH) return hashOf(text);
  const known = planHashes.get(text) ?? hashOf(text);
  planHashes.set(text, known);
  return known;
}

/** A non-cryptographic hash of 128 bits in hex, the same on every machine. */
function hashOf(text: string): string {
  const parts = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0x85ebca6b].map((seed) => {
    let mixed = seed;
    for (let at = 0; at < text.length; at += 1) {
      mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193 + (seed & 0xfe));
      mixed ^= mixed >>> 15;
    }
    return (mixed >>> 0).toString(16).padStart(8, '0');
  });
  return parts.join('');
}
