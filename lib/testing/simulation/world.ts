/**
 * A simulated world: one seed, a few executions, the production roles, faults, and the verdict.
 *
 * Owns: the run in two phases (faults; then healed, when everything must end in bounded time), deliveries, ticks,
 * clients. Does not own: the protocol: every decision is the production `decide`, every effect goes through the roles.
 */

import type { Send, Write } from '../../core/decide.ts';
import type { Plan } from '../../core/plan.ts';
import type { WriteResult } from '../../core/ports.ts';
import type { Execution } from '../../core/state.ts';
import type { Workflow } from '../../core/workflow.ts';
import { handleMessage } from '../../roles/agent.ts';
import type { PlanCache } from '../../roles/plans.ts';
import { cancel } from '../../roles/operators.ts';
import { createScheduler, start } from '../../roles/scheduler.ts';
import { tick } from '../../roles/supervisor.ts';
import { MemoryStore, seededDice, seededRandom } from '../memory.ts';
import { EventQueue } from './events.ts';
import { type FaultCounts, type FaultMode, swarm } from './faults.ts';
import { Ledger } from './ledger.ts';
import { judge, judgeEnd } from './oracle.ts';
import { type Choice, choiceOf, randomPlan } from './plans.ts';
import { type Host, portsOf, type Process } from './process.ts';
import { agentOf, AGENT_NAMES, passThrough, service } from './service.ts';
import { answerSomething } from './persons.ts';

export interface WorldResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly executions: number;
  readonly simulatedMs: number;
  readonly faults: FaultCounts;
  readonly ends: Readonly<Record<string, number>>;
  readonly interventions: number;
  readonly calls: number;
}

const START_AT = 1_700_000_000_000;
const TICK_MS = 60_000;
const FAULTY_MS = 15 * 60_000;
/** After the heal everything must be over by then: all ladders, all undos, all long backoffs (L1). */
const LIVENESS_MS = 12 * 3_600_000;
const VISIBILITY_MS = 120_000;
const MAX_RECEIVES = 5;
const PROCESS_MS = 90_000;

export class World {
  readonly #seed: number;
  readonly #mode: FaultMode;
  readonly #choice: Choice;
  readonly #events = new EventQueue(START_AT);
  readonly #store = new MemoryStore(2);
  readonly #ledger = new Ledger();
  readonly #host: Host;
  readonly #plan: Plan;
  readonly #ids = new Set<string>();
  readonly #violations: string[] = [];
  readonly #plans: PlanCache = new Map();
  readonly #announced = new Map<string, string>();
  /** What must be masked (C2) stays below every pickup time. */
  readonly #longestDelayMs: number;
  #interventions = 0;
  #wanted = 0;
  #healedAt = Number.POSITIVE_INFINITY;

  constructor(seed: number, mode: FaultMode) {
    this.#seed = seed;
    this.#mode = mode;
    this.#longestDelayMs = mode === 'masked' ? 3_000 : 30_000;
    this.#choice = choiceOf(seededRandom(seed));
    const faults = swarm(this.#choice, mode);
    this.#plan = randomPlan(this.#choice);
    this.#host = {
      events: this.#events,
      choice: this.#choice,
      faults,
      counts: { calls: 0 },
      world: {
        store: Object.assign(Object.create(this.#store) as MemoryStore, {
          write: (write: Write) => this.#write(write),
          due: (shard: number, untilAt: number, cursor?: string) => this.#due(shard, untilAt, cursor),
        }),
        queue: { send: async (sends) => sends.forEach((send) => this.#send(send)) },
        announcer: {
          announce: async (ended) => {
            this.#announced.set(ended.executionId, ended.status);
          },
        },
        dice: seededDice(seed),
        log: { note: ({ what }) => this.#note(what) },
      },
    };
  }

  #note(what: string): void {
    if (what === 'lease-ended' || what === 'dispatched') this.#interventions += 1;
    if (what === 'rounds-exhausted') this.#violations.push('S14 a look did not come to an end');
  }

  async #write(write: Write): Promise<WriteResult> {
    const before = await this.#store.read(write.executionId);
    const result = await this.#store.write(write);
    const repeated =
      write.execution?.writeId === before?.execution.writeId ||
      (write.step !== undefined && write.step.writeId === before?.steps[write.step.name]?.writeId);
    if (result === 'written' && before !== undefined && !repeated) {
      for (const problem of judge(this.#plan, before, write, this.#events.now))
        this.#violate(write.executionId, problem);
    }
    return result;
  }

  #violate(executionId: string, problem: string): void {
    this.#violations.push(`${executionId}: ${problem}`);
  }

  /** The index may show what was a while ago: items that have moved on, and not yet those that came. */
  async #due(shard: number, untilAt: number, cursor?: string) {
    const lagMs = this.#host.faults.strikes('staleIndex') ? this.#choice.between(100, 5_000) : 0;
    return this.#store.due(shard, untilAt - lagMs, cursor);
  }

  #process(lifeMs: number): Process {
    const skewMs = this.#host.faults.strikes('skewedClock') ? this.#choice.between(-400, 400) : 0;
    return { hardEndAt: this.#events.now + lifeMs, skewMs, dead: false, frozenUntil: 0 };
  }

  #send(send: Send): void {
    const { faults } = this.#host;
    if (faults.strikes('lostMessage')) return;
    const copies = faults.strikes('duplicatedMessage') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const lateMs = faults.strikes('delayedMessage') ? this.#choice.between(100, this.#longestDelayMs) : 0;
      this.#events.plan(send.delayMs + lateMs + this.#choice.between(5, 50), () => this.#deliver(send, 1));
    }
    if (faults.strikes('forgedMessage')) this.#forge(send);
  }

  /** Any hint at any time, in any queue; half of them a true message that is put into a wrong queue at once. */
  #forge(send: Send): void {
    const copied = this.#choice.chance(0.5);
    const step = this.#choice.pick(this.#plan.steps);
    const mode = this.#choice.pick(['execute', 'probe', 'undo'] as const);
    const invented = { ...send.message, step: step.name, mode, attempt: this.#choice.between(0, 3), seq: 0 };
    const agent = this.#choice.pick(AGENT_NAMES);
    const forged = { agent, message: copied ? send.message : invented, delayMs: 0 };
    this.#events.plan(copied ? 1 : this.#choice.between(1, 60_000), () => this.#deliver(forged, 1));
  }

  /** One invocation of the agent's function; no acknowledgement within the visibility time brings the message back. */
  #deliver(send: Send, receives: number): void {
    const process = this.#process(PROCESS_MS);
    const worker = {
      agent: agentOf(send.agent),
      implementation: service(this.#host, process, this.#ledger, this.#plan, send.agent),
    };
    let handled = false;
    const hardEndAt = process.hardEndAt + process.skewMs;
    const done = handleMessage(portsOf(this.#host, process), this.#plans, worker, send.message, hardEndAt);
    done.then(
      (result) => {
        handled = result === 'handled';
        // The platform keeps the process warm: what is left of the author's code goes on with the next message.
        process.hardEndAt = Number.POSITIVE_INFINITY;
      },
      () => undefined,
    );
    this.#events.plan(VISIBILITY_MS, () => {
      if (!handled && receives < MAX_RECEIVES) this.#deliver(send, receives + 1);
    });
  }

  #startTicks(): void {
    const supervisors = this.#choice.between(1, 3);
    const everyTick = (): void => {
      for (let at = 0; at < supervisors; at += 1) {
        if (this.#host.faults.strikes('noSupervisor')) continue;
        const process = this.#process(TICK_MS);
        const ports = portsOf(this.#host, process);
        const untilAt = ports.clock.now() + TICK_MS - 3_000;
        this.#events.plan(this.#choice.between(0, 2_000), () => {
          void tick(ports, this.#plans, {
            untilAt,
            sweepEveryMs: this.#choice.pick([2_000, 5_000, 15_000]),
          }).catch(() => undefined);
        });
      }
      if (!this.#over()) this.#events.plan(TICK_MS, everyTick);
    };
    this.#events.plan(this.#choice.between(0, TICK_MS), everyTick);
  }

  #startClients(): void {
    const workflow = {
      kind: 'steadfast:workflow',
      name: 'simulated',
      input: passThrough,
      plan: this.#plan,
      agents: [],
    };
    const count = this.#choice.between(1, 4);
    this.#wanted = count;
    for (let at = 0; at < count; at += 1) {
      const request = {
        workflow: 'simulated',
        input: { order: at, flag: this.#choice.chance(0.5) },
        idempotencyKey: `k${at}`,
      };
      const attempt = (): void => {
        const process = this.#process(30_000);
        const ids = {
          hash: (text: string) => text.replace(/[^a-z0-9]/g, '-').slice(-60),
          newId: () => 'unused',
        };
        const scheduler = createScheduler(
          portsOf(this.#host, process),
          [workflow as unknown as Workflow],
          ids,
        );
        let answered = false;
        start(scheduler, request).then(
          (execution) => {
            answered = true;
            this.#accepted(execution);
          },
          () => undefined,
        );
        // A client that got no answer asks again with the same key; an impatient one asks twice anyway.
        this.#events.plan(35_000, () => {
          if (!answered || this.#host.faults.strikes('repeatedStart')) attempt();
        });
      };
      this.#events.plan(this.#choice.between(0, 60_000), attempt);
    }
  }

  #accepted(execution: Execution): void {
    if (this.#ids.has(execution.id)) return;
    this.#ids.add(execution.id);
    if (!this.#host.faults.strikes('canceled')) return;
    this.#events.plan(this.#choice.between(0, 60_000), () => {
      const process = this.#process(30_000);
      const scheduler = createScheduler(portsOf(this.#host, process), [], {
        hash: (text) => text,
        newId: () => '',
      });
      cancel(scheduler, execution.id, { commandId: 'c1' }).catch(() => undefined);
    });
  }

  /** People look at open questions now and then; sometimes two at once. */
  #startPersons(): void {
    const look = (): void => {
      for (const id of this.#ids) {
        const operators = this.#host.faults.strikes('twoOperators') ? 2 : 1;
        for (let at = 0; at < operators; at += 1) {
          void answerSomething(this.#host, this.#process(30_000), this.#plan, this.#ledger, id);
        }
      }
      if (!this.#over()) this.#events.plan(this.#choice.between(20_000, 600_000), look);
    };
    this.#events.plan(60_000, look);
  }

  #open = 1;

  #over(): boolean {
    return this.#open === 0 && this.#ids.size === this.#wanted;
  }

  async #countOpen(): Promise<void> {
    let open = 0;
    for (const id of this.#ids) {
      const execution = await this.#store.readExecution(id);
      if (execution?.watchAt !== undefined) open += 1;
    }
    this.#open = this.#ids.size === this.#wanted ? open : 1;
  }

  /** Runs the world to its end. Interleaves with other worlds at every event. */
  async *run(): AsyncGenerator<void, WorldResult> {
    this.#startTicks();
    this.#startClients();
    this.#startPersons();
    for (let steps = 0; ; steps += 1) {
      if (this.#events.now >= START_AT + FAULTY_MS && !this.#host.faults.healed()) {
        this.#host.faults.heal();
        this.#healedAt = this.#events.now;
      }
      if (steps % 16 === 0) await this.#countOpen();
      if (this.#over() || this.#events.now > this.#healedAt + LIVENESS_MS || !this.#events.step()) break;
      yield;
    }
    return this.#verdict();
  }

  async #verdict(): Promise<WorldResult> {
    const ends: Record<string, number> = {};
    for (const id of this.#ids) {
      const state = await this.#store.read(id);
      if (state === undefined) continue;
      ends[state.execution.status] = (ends[state.execution.status] ?? 0) + 1;
      const announced = this.#announced.get(id) === state.execution.status;
      for (const problem of judgeEnd(this.#plan, state, this.#ledger, announced)) this.#violate(id, problem);
    }
    if (this.#ids.size < this.#wanted) this.#violations.push('L1 a start was never accepted');
    if (this.#mode !== 'all' && this.#interventions > 0) {
      this.#violations.push(`${this.#mode === 'none' ? 'C1' : 'C2'} ${this.#interventions} interventions`);
    }
    return {
      seed: this.#seed,
      violations: [...this.#violations, ...this.#ledger.violations],
      executions: this.#ids.size,
      simulatedMs: this.#events.now - START_AT,
      faults: this.#host.faults.counts,
      ends,
      interventions: this.#interventions,
      calls: this.#host.counts.calls,
    };
  }
}
