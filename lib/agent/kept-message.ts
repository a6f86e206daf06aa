/**
 * The message that a process keeps for itself instead of sending it, because it also has the agent's code.
 *
 * Owns: which message is kept, and for how long. Does not own: handling it (`carry-on.ts`), whether the
 * process has time for its attempt (`core/execution/on-message.ts`), which agents share a process.
 *
 * A kept message is a hint like any other: everything is read again, and the claim is conditional. It is kept
 * only after the report that it follows was written, so if the process dies then, that is a death between a
 * write and its messages, and the wake time makes up for it (S12). At most one message is kept: a first
 * attempt to execute, of the execution just reported. Probes, undos and later tries must wait for the
 * processes before them, and this process may outlive those.
 */

import type { Queue, Ports } from '../core/ports.ts';
import type { Send } from '../core/decisions/decision.ts';
import type { Message } from '../core/decisions/message.ts';
import { defined } from '../core/values/defined.ts';
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
  /** How long after the beginning of an invocation messages are kept. @default 10 s */
  readonly longestMs?: number;
}

/** One message carries on at most this many steps. */
const MOST_STEPS = 16;
const LONGEST_MS = 10_000;
/** An execution of a group (`fairBy`) keeps a process from other groups at most this long. */
const OF_GROUP_MS = 1_000;

/** Keeps at most one message that handling another led to, until it is handled or sent. */
export class KeptMessage {
  readonly #neighbours: Neighbours;
  readonly #leftMs: () => number;
  readonly #beganWithMs: number;
  #steps = 0;
  #kept: Send | undefined;

  /** @param leftMs time left in the invocation, however the clock is set meanwhile */
  constructor(neighbours: Neighbours, leftMs: () => number) {
    this.#neighbours = neighbours;
    this.#leftMs = leftMs;
    this.#beganWithMs = leftMs();
  }

  /** Tells a claim if the message that is handled now was kept. */
  get about(): { readonly isKept?: true } {
    return this.#steps > 0 ? { isKept: true } : {};
  }

  /** Logs the attempt if it was carried on. */
  claimed({ log }: Ports, { execution: executionId, step, attempt }: Message): void {
    if (this.#steps > 0) log.note({ what: 'carried-on', executionId, step, attempt });
  }

  /** Ports for what follows a written report: their queue keeps one message and sends the others. */
  behind(ports: Ports, executionId: string): Ports {
    const { queue } = ports;
    const send: Queue['send'] = async (sends) => {
      // A repeated evaluation sends the kept message again: leave that out.
      const others = sends.filter((one) => !this.#isKept(one) && !this.#keeps(one, executionId));
      if (others.length > 0) await queue.send(others);
    };
    return { ...ports, queue: { send, ...defined({ reaches: queue.reaches }) } };
  }

  /** Hands the message over to the caller. */
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
