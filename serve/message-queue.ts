/**
 * The queue of a single-process server: messages in memory, each delivered to its agent's worker.
 *
 * Owns: how many messages of an agent are processed at the same time, the order of messages, delays, and the
 * return of a message that was given back. Does not own: what happens to a message (`agents.ts`).
 *
 * Messages are hints: when a process starts, it sends messages lost with the previous process again
 * (`resume.ts`). The wake time recovers any other loss.
 */

import type { Queue, QueueDepth } from '../lib/core/ports.ts';
import { refuse } from '../lib/core/values/errors.ts';
import type { Send } from '../lib/core/decisions/decision.ts';
import type { Message } from '../lib/core/decisions/message.ts';
import { FairLine } from '../local/sqs/fair-line.ts';

/** The group of all messages without one. With separate groups, each would come first. */
const NO_GROUP = 'none';
/** The delay before a returned message is delivered again. */
const GIVEN_BACK_MS = 2_000;

export type Deliver = (message: Message) => Promise<'handled' | 'give-back'>;

interface Waiting {
  readonly id: string;
  readonly message: Message;
  readonly group: string;
}

interface Lane {
  readonly deliver: Deliver;
  readonly limit: number;
  readonly waiting: FairLine<Waiting>;
  underWork: number;
  delayed: number;
}

export class MessageQueue implements Queue {
  readonly #lanes = new Map<string, Lane>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #underWork = new Set<Promise<void>>();
  #isStopped = false;
  #taken = 0;

  /** @param limit how many messages are processed at the same time */
  serve(agent: string, limit: number, deliver: Deliver): void {
    this.#lanes.set(agent, { deliver, limit, waiting: new FairLine(), underWork: 0, delayed: 0 });
  }

  readonly reaches = (agent: string): boolean => this.#lanes.has(agent);

  readonly send = async (sends: readonly Send[]): Promise<void> => {
    for (const { agent, message, delayMs, group = NO_GROUP } of sends)
      this.#take(this.#laneOf(agent), message, group, delayMs);
  };

  readonly depths = async (agents: readonly string[]): Promise<Readonly<Record<string, QueueDepth>>> =>
    Object.fromEntries(
      agents.flatMap((agent) => {
        const lane = this.#lanes.get(agent);
        if (lane === undefined) return [];
        const { waiting, underWork, delayed } = lane;
        return [[agent, { waiting: waiting.size, underWork, delayed }]];
      }),
    );

  /** Stops all deliveries. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Resolves once no message is being processed. */
  async idle(): Promise<void> {
    while (this.#underWork.size > 0) await Promise.all(this.#underWork);
  }

  #laneOf(agent: string): Lane {
    const lane = this.#lanes.get(agent);
    if (lane === undefined) throw refuse('unknown-agent', `there is no agent '${agent}' here`);
    return lane;
  }

  #take(lane: Lane, message: Message, group: string, delayMs: number): void {
    if (this.#isStopped) return;
    if (delayMs <= 0) {
      const id = String((this.#taken += 1));
      lane.waiting.add(id, { id, message, group }, group);
      this.#deliver(lane);
      return;
    }
    lane.delayed += 1;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      lane.delayed -= 1;
      this.#take(lane, message, group, 0);
    }, delayMs);
    this.#timers.add(timer);
  }

  #deliver(lane: Lane): void {
    while (!this.#isStopped && lane.underWork < lane.limit) {
      const next = lane.waiting.next();
      if (next === undefined) return;
      lane.waiting.remove(next.id, next.group);
      this.#begin(lane, next);
    }
  }

  #begin(lane: Lane, { message, group }: Waiting): void {
    lane.underWork += 1;
    lane.waiting.began(group);
    const work = lane
      .deliver(message)
      .catch(() => 'give-back' as const)
      .then((how) => {
        this.#underWork.delete(work);
        lane.underWork -= 1;
        lane.waiting.ended(group);
        if (how === 'give-back') this.#take(lane, message, group, GIVEN_BACK_MS);
        this.#deliver(lane);
      });
    this.#underWork.add(work);
  }
}
