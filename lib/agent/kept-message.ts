/**
 * The message that a process keeps for itself, instead of sending it to an agent whose code it has as well.
 *
 * Owns: which message is kept, and for how long. Does not own: what becomes of it (`carry-on.ts`), whether
 * the process has time for its attempt (`core/execution/on-message.ts`), which agents share a process.
 *
 * A kept message is a hint like any other: all is read again, and the claim is conditional. It is kept only
 * after the report that it follows from was written; a process that dies with it dies as between a write and
 * its messages, and the wake time is there (S12). At most one is kept, of the execution just reported, for a
 * first attempt to execute: probes, undos and later tries wait for the processes before them, which this one
 * may outlive.
 */

import type { Queue, Ports } from '../core/ports.ts';
import type { Send } from '../core/decisions/decision.ts';
import type { Message } from '../core/decisions/message.ts';
import { given } from '../core/values/given.ts';
import type { Worker } from './author-code.ts';

/** An agent's code in a process, and the ports under its name. */
export interface HostedAgent {
  readonly ports: Ports;
  readonly worker: Worker;
}

/** The agents of a process to which it may hand messages itself. */
export interface Neighbours {
  readonly has: (agent: string) => boolean;
  readonly of: (send: Send) => Promise<HostedAgent>;
  /** From the beginning of an invocation; then nothing more is kept. @default 10 s */
  readonly longestMs?: number;
}

/** Steps that one message carries on at most. */
const MOST_STEPS = 16;
const LONGEST_MS = 10_000;
/** An execution of a group (`fairBy`) keeps a process from those of others no longer. */
const OF_GROUP_MS = 1_000;

/** What one message has led to that is neither handled nor sent yet: one message at most. */
export class KeptMessage {
  readonly #neighbours: Neighbours;
  readonly #leftMs: () => number;
  readonly #beganWithMs: number;
  #steps = 0;
  #kept: Send | undefined;

  /** @param leftMs what its invocation has left: a clock that is set right meanwhile moves it nowhere */
  constructor(neighbours: Neighbours, leftMs: () => number) {
    this.#neighbours = neighbours;
    this.#leftMs = leftMs;
    this.#beganWithMs = leftMs();
  }

  /** What a claim has to know of the message that is handled now. */
  get about(): { readonly isKept?: true } {
    return this.#steps > 0 ? { isKept: true } : {};
  }

  /** Says which attempts were carried on. */
  claimed({ log }: Ports, { execution: executionId, step, attempt }: Message): void {
    if (this.#steps > 0) log.note({ what: 'carried-on', executionId, step, attempt });
  }

  /** The ports of what follows from a written report: the queue keeps one message and sends the others. */
  behind(ports: Ports, executionId: string): Ports {
    const { queue } = ports;
    const send: Queue['send'] = async (sends) => {
      // An evaluation that failed halfway is made again, and sends again what is kept already.
      const others = sends.filter((one) => !this.#isKept(one) && !this.#keeps(one, executionId));
      if (others.length > 0) await queue.send(others);
    };
    return { ...ports, queue: { send, ...given({ reaches: queue.reaches }) } };
  }

  /** From now on it is the caller's. */
  take(): Send | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined) this.#steps += 1;
    return kept;
  }

  #isKept({ agent, message: { execution, step, mode, attempt } }: Send): boolean {
    const { message } = this.#kept ?? {};
    return (
      this.#kept?.agent === agent &&
      message?.execution === execution &&
      message.step === step &&
      message.mode === mode &&
      message.attempt === attempt
    );
  }

  #keeps(send: Send, executionId: string): boolean {
    const { agent, message, delayMs, group } = send;
    const { longestMs = LONGEST_MS } = this.#neighbours;
    const isFirstTry = message.mode === 'execute' && message.attempt === 1 && delayMs <= 0;
    const mostMs = group === undefined ? longestMs : Math.min(longestMs, OF_GROUP_MS);
    const keeps =
      this.#kept === undefined &&
      isFirstTry &&
      message.execution === executionId &&
      this.#steps < MOST_STEPS &&
      this.#beganWithMs - this.#leftMs() < mostMs &&
      this.#neighbours.has(agent);
    if (keeps) this.#kept = send;
    return keeps;
  }
}
