/**
 * A simulated process: one invocation of a function, with its own view of the ports.
 *
 * Owns: every await of a role: it takes time, may fail, may be answered ambiguously, may be the last thing
 * the process does. A dead process's promises never settle. Does not own: the roles' acts, the effects of a
 * call outside.
 */

import type { ProcessBreaker } from '../../lib/agent/breaker.ts';
import type { ProcessRate } from '../../lib/agent/process-rate.ts';
import type { AbortSignalLike } from '../../lib/core/plan/agent.ts';
import { planAt, storedHash } from '../../lib/core/plan/child-plans.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type {
  Announcer,
  Breakers,
  Bulks,
  Clock,
  Lanes,
  LargeValues,
  Log,
  Mailboxes,
  Ports,
  Queue,
  QueueDepth,
  RandomSource,
  Rates,
  Store,
  WakeUps,
  WriteResult,
} from '../../lib/core/ports.ts';
import type { Note, Send } from '../../lib/core/decisions/decision.ts';
import type { News, OwedNews } from '../../lib/core/decisions/news.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { PlanCache } from '../../lib/engine/plans.ts';
import { createScheduler, type Scheduler } from '../../lib/scheduler/start.ts';
import { NO_ANSWER, THROTTLED } from './call-failed.ts';
import type { Jobs } from './acceptance.ts';
import type { BulkWorld } from './bulk-world.ts';
import type { Carried } from './carried.ts';
import type { Running } from './containers.ts';
import type { EventQueue } from './events.ts';
import type { External } from './external.ts';
import type { Cast } from './cast.ts';
import type { Emphasis } from './emphasis.ts';
import type { Faults } from './faults.ts';
import type { KindCounts } from './kinds.ts';
import type { Ledger } from './ledger.ts';
import type { Delivery } from './messages.ts';
import type { EffectOrder } from './oracle-order.ts';
import { lanesOf } from './lanes.ts';
import { mailboxesOf } from './mail-port.ts';
import type { OracleMail } from './oracle-mail.ts';
import type { OracleLanes } from './oracle-lanes.ts';
import { wakeUpsOf } from './known-presence.ts';
import type { OracleBreakers } from './oracle-breakers.ts';
import type { OracleErasures } from './oracle-erasures.ts';
import type { OracleRates } from './oracle-rates.ts';
import type { OracleWriters } from './oracle-writers.ts';
import type { Arrivals } from './oracle-stages.ts';
import { isIn, type Outages, type Span } from './outages.ts';
import type { Choice } from './plans.ts';
import { ProcessStore } from './process-store.ts';
import { skewOf, wrongClock } from './wrong-clocks.ts';

export interface Process {
  /** True time at which the platform kills it; never after its invocation has returned: then it is frozen. */
  processDeadlineAt: number;
  /** How far its clock is ahead of true time. */
  readonly skewMs: number;
  /** A further error of its clock, until the store's next answer corrects it. */
  readonly wrong?: { ms: number };
  dead: boolean;
  /** The message that it handles; absent if it has several, or none. */
  message?: Send['message'] | undefined;
  /** Called where its death is noticed. */
  onDeath?: () => void;
  /** Stopped, not dead: nothing of it runs before this time. */
  frozenUntil: number;
}

/** The knowledge of a warm process about its agent. */
export interface Warm {
  readonly breaker: ProcessBreaker;
  readonly rate?: ProcessRate;
}

/** Everything that the parts of one world share. */
export interface Host {
  readonly events: EventQueue;
  readonly choice: Choice;
  readonly faults: Faults;
  readonly external: External;
  readonly ledger: Ledger;
  readonly order: EffectOrder;
  readonly writers: OracleWriters;
  readonly breakers: OracleBreakers;
  readonly rates: OracleRates;
  /** The plans that its warm functions know by now. */
  readonly plans: PlanCache;
  readonly outages: Outages;
  /** When an agent's breaker cannot be read, by agent. */
  readonly unread: Map<string, Span>;
  /**
   * Its queues contain more messages than those of its executions until the world is healed, and agents take
   * them in batches.
   */
  readonly crowded: boolean;
  /** A batch that is still being gathered, by agent. */
  readonly batches: Map<string, Delivery[]>;
  /** Every step with predecessors is claimed on a part of its execution, as in a long one. */
  readonly readsInPart: boolean;
  /** The ends of its workflows' executions are not announced. */
  readonly endsSilently: boolean;
  /** The frequent faults in it. */
  readonly emphasis: Emphasis | undefined;
  /** The random stream for steps that may fail, in a world that has some. */
  readonly tolerance: Choice | undefined;
  /** The callers, in a world in which approvals must come from another person. */
  readonly cast: Cast | undefined;
  /** The random stream for steps with a time of their own, in a world that has some. */
  readonly times: Choice | undefined;
  /** The random stream for reminders of incidents, in a world that has some. */
  readonly reminders: Choice | undefined;
  /** The random stream for wrong answers, in a world that has some. */
  readonly answers: Choice | undefined;
  /** The random stream for on-failure steps, in a world that has some. */
  readonly onFailure: Choice | undefined;
  /** The random stream for steps that go on in another way, in a world that has some. */
  readonly stages: Choice | undefined;
  readonly arrivals: Arrivals;
  /** Events that a run must have seen besides faults. */
  readonly kinds: KindCounts;
  /** The random stream for invocations in containers, in a world that has some. */
  readonly containers: Choice | undefined;
  readonly running: Running;
  /** The random stream for pauses of workflows, and for probes that take long, in a world that has some. */
  readonly pausing: Choice | undefined;
  readonly probing: Choice | undefined;
  /** The random streams for external parties that only send heartbeats, and for groups of steps. */
  readonly beats: Choice | undefined;
  readonly groups: Choice | undefined;
  /** The random stream for waits that are shorter than any lease, in a world that has some. */
  readonly waits: Choice | undefined;
  /** The random stream for clocks that are set, for senders of messages, and for rare options of steps. */
  readonly jumping: Choice | undefined;
  readonly sending: Choice | undefined;
  readonly rare: Choice | undefined;
  readonly mail: OracleMail;
  /** The random stream for services that accept work, in a world that has some; and their accepted work. */
  readonly accepting: Choice | undefined;
  /** The random stream for repeated steps and for lanes, in a world that has some. */
  readonly repeating: Choice | undefined;
  readonly laning: Choice | undefined;
  readonly lanes: OracleLanes;
  readonly jobs: Jobs;
  /** The executions that its functions carry on by themselves, in a world whose functions do. */
  readonly carried: Carried | undefined;
  /** The random stream of the person who erases, in a world that has one. */
  readonly erasing: Choice | undefined;
  readonly erasures: OracleErasures;
  /** Its bulk actions, in a world that has some. */
  readonly bulks: BulkWorld | undefined;
  /** The knowledge of its functions' processes about their agents' breakers and rates, and supervisors. */
  readonly warm: Map<string, Warm[]>;
  readonly known: WakeUps['known'][];
  /** Plans that the world's own judges have derived. */
  readonly derived: Map<string, Plan>;
  /** Every accepted start has ended and announced it. */
  readonly over: () => boolean;
  calls: number;
}

/** The plan of an execution, by its id: a world has executions of several plans. */
export function planOf(host: Host, executionId: string): Plan | undefined {
  const { table } = host.external;
  const id = table.read(executionId)?.execution.plan;
  if (id === undefined) return undefined;
  const known = host.derived.get(id);
  if (known !== undefined) return known;
  const stored = table.readPlan(storedHash(id));
  const plan = stored && planAt(stored, id);
  if (plan !== undefined) host.derived.set(id, plan);
  return plan;
}

export const newProcess = (host: Host, lifeMs: number): Process => ({
  skewMs: host.faults.injects('skewedClock') ? skewOf(host) : 0,
  ...wrongClock(host),
  processDeadlineAt: host.events.now + lifeMs,
  dead: false,
  frozenUntil: 0,
});

const isGone = (host: Host, process: Process): boolean =>
  process.dead || host.events.now >= process.processDeadlineAt;

/** It dies by itself, or because its worker kills it. */
export function kill(host: Host, process: Process): void {
  if (isGone(host, process)) return;
  process.dead = true;
  process.onDeath?.();
}

/** Runs `resume` in the process, but not while it is frozen or dead. @returns whether it ran */
function inProcess(host: Host, process: Process, resume: () => void): boolean {
  if (isGone(host, process)) return false;
  if (process.frozenUntil > host.events.now) {
    host.events.plan(process.frozenUntil - host.events.now, () => inProcess(host, process, resume));
    return false;
  }
  resume();
  return true;
}

/** One call to AWS. A request that has left is executed even if its sender dies meanwhile. */
export function call<Answer>(
  host: Host,
  process: Process,
  execute: () => Answer | Promise<Answer>,
  isAway: (now: number) => boolean = () => false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    host.calls += 1;
    if (isGone(host, process)) return;
    const { events, choice } = host;
    const fault = host.faults.ofCall();
    if (fault === 'crashBefore') return kill(host, process);
    if (fault === 'frozenAgent') process.frozenUntil = events.now + choice.between(1_000, 60_000);
    events.plan(choice.between(1, 20), () => {
      if (fault === 'throttled' || isAway(events.now))
        return inProcess(host, process, () => reject(THROTTLED));
      const { wrong } = process;
      let resume: () => void;
      try {
        const answer = execute();
        resume =
          fault === 'ambiguous'
            ? () => reject(NO_ANSWER)
            : () => {
                if (wrong !== undefined) wrong.ms = 0;
                resolve(answer);
              };
      } catch (error) {
        resume = () => reject(error as Error);
      }
      if (fault === 'crashAfter') kill(host, process);
      // A file has to answer even a dead process before anything else happens.
      return inProcess(host, process, resume) || host.external.file?.isAsked === true;
    });
  });
}

class ProcessClock implements Clock {
  readonly #host: Host;
  readonly #process: Process;

  constructor(host: Host, process: Process) {
    this.#host = host;
    this.#process = process;
  }

  now(): number {
    return this.#host.events.now + this.#process.skewMs + (this.#process.wrong?.ms ?? 0);
  }

  sleep(ms: number, signal?: AbortSignalLike): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      let over = false;
      const wake = (): void => {
        if (over) return;
        over = true;
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      signal?.addEventListener('abort', wake);
      this.#host.events.plan(ms, () => !over && inProcess(this.#host, this.#process, wake));
    });
  }
}

const flat = <Value>(value: Value): Value => value;

/** Counts roughly, as SQS does, and omits some queues. */
function depthsOf({ choice, faults }: Host, agents: readonly string[]): Readonly<Record<string, QueueDepth>> {
  const told = agents.filter(() => choice.chance(0.9));
  const waiting = (): number => (faults.healed() || choice.chance(0.2) ? 0 : choice.between(2_950, 200_000));
  return Object.fromEntries(told.map((agent) => [agent, { waiting: waiting(), underWork: 0, delayed: 0 }]));
}

/** The ports as one process sees them. */
class ProcessPorts implements Ports, Queue, Announcer, Breakers, Log {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly depths?: NonNullable<Queue['depths']>;
  readonly wakeUps: WakeUps;
  readonly bulks?: Bulks;
  readonly rates: Rates;
  readonly lanes: Lanes;
  readonly mailboxes: Mailboxes;
  readonly largeValues?: LargeValues;
  readonly #host: Host;
  readonly #process: Process;

  constructor(host: Host, process: Process) {
    this.#host = host;
    this.#process = process;
    if (host.crowded) this.depths = (agents) => call(host, process, () => depthsOf(host, agents));
    const ask = <Answer>(execute: () => Answer | Promise<Answer>): Promise<Answer> =>
      call(host, process, execute, host.outages.storeIsAway);
    this.store = new ProcessStore(host, ask, process);
    this.clock = new ProcessClock(host, process);
    this.random = host.external.random;
    this.wakeUps = wakeUpsOf(host, ask, (execute) => call(host, process, execute));
    const { rates, values } = host.external;
    this.rates = {
      read: (agent) => ask(() => rates.read(agent)),
      write: (record) => ask(() => rates.write(record)),
    };
    this.lanes = lanesOf(host, process, ask);
    this.mailboxes = mailboxesOf(host.mail, process, ask, host.external.file);
    if (values !== undefined) this.largeValues = values.portOf((execute) => call(host, process, execute));
    if (host.bulks !== undefined) this.bulks = host.bulks.portOf(host, process);
  }

  // Each of these is one method wide, so that this object itself can be all of them.
  get queue(): Queue {
    return this;
  }
  get announcer(): Announcer {
    return this;
  }
  get log(): Log {
    return this;
  }

  get breakers(): Breakers {
    return this;
  }

  read(agent: string): Promise<Breaker | undefined> {
    const { breakers } = this.#host.external;
    return call(this.#host, this.#process, () => breakers.read(agent), this.#isAway(agent)).then(flat);
  }
  write(breaker: Breaker): Promise<WriteResult> {
    const write = (): Promise<WriteResult> => {
      if (this.#process.frozenUntil > 0) this.#host.breakers.lags(breaker);
      return this.#host.external.breakers.write(breaker);
    };
    return call(this.#host, this.#process, write, this.#isAway(breaker.agent)).then(flat);
  }
  #isAway(agent: string): (now: number) => boolean {
    const { outages, unread } = this.#host;
    return (now) => outages.storeIsAway(now) || isIn(unread.get(agent), now);
  }
  send(sends: readonly Send[]): Promise<void> {
    this.#host.carried?.sent(this.#process, sends);
    return call(this.#host, this.#process, () => this.#host.external.send(sends));
  }
  announce(news: News): Promise<void> {
    // Nobody judges an announcement that is made only once: no call is made for it.
    if (!isOwed(news)) return Promise.resolve();
    return call(this.#host, this.#process, () => this.#host.external.announce(news));
  }
  note(note: Note): void {
    this.#host.external.note(note);
  }
}

const isOwed = (news: News): news is OwedNews => news.about === 'end' || news.about === 'question';

export const clockOf = (host: Host, process: Process): Clock => new ProcessClock(host, process);

const OUTSIDE_MS = 30_000;

/** A process of the scheduler's function, as one call from outside meets it. */
export const processOutside = (host: Host): Process => newProcess(host, OUTSIDE_MS);

export const schedulerFor = (host: Host, process: Process = processOutside(host)): Scheduler =>
  createScheduler(
    portsOf(host, process),
    [],
    { hash: (text) => text, newId: () => '' },
    host.cast?.personalRoles,
  );

/** The ports as this process sees them. */
export function portsOf(host: Host, process: Process): Ports & { readonly wakeUps: WakeUps } {
  const all = new ProcessPorts(host, process);
  // A role may replace some of the ports.
  return Object.assign({}, all, { queue: all, announcer: all, breakers: all, log: all });
}
