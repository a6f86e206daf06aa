/**
 * The queue of a process that is alone: messages in memory, each given to its agent's work.
 *
 * Owns: how many messages of an agent are worked on at the same time, delays, and that one that is given back
 * comes again. Does not own: what becomes of a message (`agents.ts`).
 *
 * Messages are hints: those that are lost with the process are sent again when the next one starts
 * (`resume.ts`), and the wake time makes good what is lost otherwise.
 */

import type { Queue, QueueDepth } from '../lib/core/ports.ts';
import { refuse } from '../lib/core/values/errors.ts';
import type { Send } from '../lib/core/decisions/decision.ts';
import type { Message } from '../lib/core/decisions/message.ts';

/** A message that a process cannot take now is offered again after so long. */
const GIVEN_BACK_MS = 2_000;

export type Deliver = (message: Message) => Promise<'handled' | 'give-back'>;

interface Lane {
  readonly deliver: Deliver;
  readonly limit: number;
  waiting: Message[];
  /** Those of `waiting` that were taken. */
  taken: number;
  underWork: number;
  delayed: number;
}

export class MessageQueue implements Queue {
  readonly #lanes = new Map<string, Lane>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #underWork = new Set<Promise<void>>();
  #isStopped = false;

  /** @param limit messages at the same time */
  serve(agent: string, limit: number, deliver: Deliver): void {
    this.#lanes.set(agent, { deliver, limit, waiting: [], taken: 0, underWork: 0, delayed: 0 });
  }

  readonly reaches = (agent: string): boolean => this.#lanes.has(agent);

  readonly send = async (sends: readonly Send[]): Promise<void> => {
    for (const { agent, message, delayMs } of sends) this.#take(this.#laneOf(agent), message, delayMs);
  };

  readonly depths = async (agents: readonly string[]): Promise<Readonly<Record<string, QueueDepth>>> =>
    Object.fromEntries(
      agents.flatMap((agent) => {
        const lane = this.#lanes.get(agent);
        if (lane === undefined) return [];
        const { waiting, taken, underWork, delayed } = lane;
        return [[agent, { waiting: waiting.length - taken, underWork, delayed }]];
      }),
    );

  /** Nothing more is delivered. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Resolves when nothing is under work any more. */
  async idle(): Promise<void> {
    while (this.#underWork.size > 0) await Promise.all(this.#underWork);
  }

  #laneOf(agent: string): Lane {
    const lane = this.#lanes.get(agent);
    if (lane === undefined) throw refuse('unknown-agent', `there is no agent '${agent}' here`);
    return lane;
  }

  #take(lane: Lane, message: Message, delayMs: number): void {
    if (this.#isStopped) return;
    if (delayMs <= 0) {
      lane.waiting.push(message);
      this.#deliver(lane);
      return;
    }
    lane.delayed += 1;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      lane.delayed -= 1;
      this.#take(lane, message, 0);
    }, delayMs);
    this.#timers.add(timer);
  }

  #deliver(lane: Lane): void {
    while (!this.#isStopped && lane.underWork < lane.limit && lane.taken < lane.waiting.length) {
      const message = lane.waiting[lane.taken] as Message;
      lane.taken += 1;
      // Not after each: to move what is left would cost more than the messages.
      if (lane.taken * 2 > lane.waiting.length) {
        lane.waiting = lane.waiting.slice(lane.taken);
        lane.taken = 0;
      }
      this.#begin(lane, message);
    }
  }

  #begin(lane: Lane, message: Message): void {
    lane.underWork += 1;
    const work = lane
      .deliver(message)
      .catch(() => 'give-back' as const)
      .then((how) => {
        this.#underWork.delete(work);
        lane.underWork -= 1;
        if (how === 'give-back') this.#take(lane, message, GIVEN_BACK_MS);
        this.#deliver(lane);
      });
    this.#underWork.add(work);
  }
}
