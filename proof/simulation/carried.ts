/**
 * Functions that host several agents and carry executions on by themselves: judges which messages they keep,
 * and what becomes of these.
 *
 * Owns: which agents share a function, and judging every kept message by the writes and sends, independently
 * of the rules. Does not own: the rules (`agent/kept-message.ts`), which worlds have such functions
 * (`traits.ts`), whether an attempt was allowed (`oracle.ts`).
 */

import { isBuiltIn } from '../../lib/core/plan/built-in.ts';
import { agentSteps, type Plan } from '../../lib/core/plan/plan.ts';
import type { Note, Send, Write } from '../../lib/core/decisions/decision.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { KindCounts } from './kinds.ts';
import type { Host, Process } from './process.ts';

/** The share of chains among such a world's workflows, because they are carried on most. */
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

/** What the judge knows of the world. */
interface Seen {
  readonly table: Pick<MemoryTable, 'read'>;
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (executionId: string, problem: string) => void;
  /** Whether its agents have rates; then no message may be kept. */
  readonly hasRates: boolean;
}

interface Run {
  readonly beganAt: number;
  /** The execution whose success it wrote last. */
  reported?: string;
  handed?: Send;
  readonly sent: Set<string>;
}

/**
 * A process carries on for at most 10 s after its first message; the sends of its last step may come later.
 */
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

  /**
   * Whether a process may keep a message for the agent: not if the agent has a limit of its own or must not
   * act twice.
   */
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

  /**
   * Notes a process's write. Only the attempt's own step counts, because the evaluation may end others too.
   */
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

  /** Judges a message that a process keeps. */
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

  /** Counts executions that another process stops or pauses while a process carries them on. */
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
