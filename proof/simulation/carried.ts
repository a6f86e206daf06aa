/**
 * Functions of several agents, each of which carries executions on by itself: which messages it may keep, and
 * what becomes of them.
 *
 * Owns: which agents share a function, and the judgement of every message that a process hands to itself, by
 * what was written and sent, not by the rules it checks. Does not own: the rules (`agent/kept-message.ts`),
 * which worlds have such functions (`traits.ts`), whether an attempt was allowed (`oracle.ts`).
 */

import { isBuiltIn } from '../../lib/core/plan/built-in.ts';
import { agentSteps, type Plan } from '../../lib/core/plan/plan.ts';
import type { Note, Send, Write } from '../../lib/core/decisions/decision.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { KindCounts } from './kinds.ts';
import type { Host, Process } from './process.ts';

/**
 * The share of such a world's workflows that are chains, which are carried on most. Bulk actions need people.
 */
export const chainedShare = ({ bulks }: Pick<Host, 'bulks'>): number => (bulks === undefined ? 0.7 : 0);
export const CHAINED: readonly number[] = [3, 4, 5];

/** Puts the plan's agent steps one after the other; a plan without any stays unchanged. */
export function inChain(plan: Plan): Plan {
  const steps = agentSteps(plan).map((step, at, all) => {
    const { name } = all[at - 1] ?? {};
    return { ...step, after: name === undefined ? [] : [name], input: { order: ORDER } };
  });
  return steps.length === 0 ? plan : { ...plan, steps };
}

const ORDER = { $ref: 'input', path: ['order'] };

/** The judge's view of the world. */
interface Seen {
  readonly table: Pick<MemoryTable, 'read'>;
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (executionId: string, problem: string) => void;
  /** Its agents have a rate each: none of them may be handed a message. */
  readonly hasRates: boolean;
}

interface Run {
  readonly beganAt: number;
  /** The execution of the latest success that it wrote. */
  reported?: string;
  handed?: Send;
  readonly sent: Set<string>;
}

/** A run ends within 10 s of its first message, and what follows from its last step is sent after that. */
const LONGEST_MS = 15_000;

const keyOf = ({ agent, message: { execution, step, mode, attempt } }: Send): string =>
  [agent, execution, step, mode, attempt].join('/');

export class Carried {
  readonly #seen: Seen;
  readonly #runs = new Map<Process, Run>();
  readonly #steps = new Set<string>();

  constructor(seen: Seen) {
    this.#seen = seen;
  }

  /** An agent that has a limit of its own, or must not act twice, is never handed a message. */
  readonly has = (agent: string): boolean =>
    agent !== 'agent-unsafe' && !isBuiltIn(agent) && !this.#seen.hasRates;

  began(process: Process): void {
    this.#runs.set(process, { beganAt: this.#seen.now(), sent: new Set() });
    process.onDeath = () => {
      if (this.#runs.get(process)?.handed !== undefined) this.#seen.kinds.carriedKilled += 1;
    };
  }

  over(process: Process): void {
    this.#runs.delete(process);
  }

  /** A process has written: only an attempt's own step counts, because its evaluation may end others too. */
  written(process: Process | undefined, { executionId, step, execution }: Write): void {
    const run = process && this.#runs.get(process);
    if (execution !== undefined) this.#met(process, executionId, execution);
    if (run !== undefined && step?.status === 'done' && step.attempt > 0) run.reported = executionId;
  }

  sent(process: Process, sends: readonly Send[]): void {
    const run = this.#runs.get(process);
    if (run === undefined) return;
    for (const send of sends) {
      run.sent.add(keyOf(send));
      if (run.handed === send) this.#seen.kinds.carriedToQueue += 1;
    }
  }

  /** A process hands a message to itself. */
  handed(process: Process, send: Send): void {
    const run = this.#runs.get(process);
    const { agent, message } = send;
    const { execution: id, step, mode, attempt } = message;
    const wrong = (problem: string): void => this.#seen.violate(id, `S13 '${step}' ${problem}`);
    if (run === undefined) return wrong('is carried on by a process that is over');
    if (run.reported !== id) wrong('is carried on before a success of its execution is written');
    if (run.sent.has(keyOf(send))) wrong('is carried on and was sent');
    if (mode !== 'execute' || attempt !== 1) wrong(`is carried on to ${mode}, attempt ${attempt}`);
    if (!this.has(agent)) wrong(`is carried on by '${agent}', which has a limit of its own`);
    if (process.frozenUntil === 0 && this.#seen.now() - run.beganAt > LONGEST_MS)
      wrong('is carried on for too long');
    run.handed = send;
    if (this.#seen.table.read(id)?.execution.lane !== undefined) this.#seen.kinds.carriedPlaced += 1;
  }

  /** Another process stops or pauses an execution that a process is carrying on. */
  #met(writer: Process | undefined, executionId: string, { status }: Execution): void {
    const { kinds, now } = this.#seen;
    for (const [process, { handed }] of this.#runs) {
      if (process === writer || handed?.message.execution !== executionId) continue;
      if (process.dead || process.processDeadlineAt <= now()) continue;
      if (status === 'paused') kinds.carriedPaused += 1;
      if (status === 'compensating') kinds.carriedStopped += 1;
    }
  }

  note({ what, executionId, step }: Note): void {
    const place = `${executionId}/${step}`;
    if (what === 'carried-on') {
      this.#steps.add(place);
      this.#seen.kinds.carriedOn += 1;
    }
    if (what === 'lease-ended' && this.#steps.delete(place)) this.#seen.kinds.carriedLost += 1;
  }
}
