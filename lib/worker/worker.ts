/**
 * The worker: takes an agent's messages off its queue, has each performed in a process that can be killed,
 * and removes the message.
 *
 * Owns: how many attempts run at the same time, what happens to their messages, the shutdown. Does not own:
 * the process and its deadline (`attempt-process.ts`), the meaning of a message (`agent/message.ts`, inside
 * the process).
 *
 * Short renewals hide a message while it is handled: SQS hides one for twelve hours at most, and messages
 * that a dead worker had not begun are back within half a minute. A renewal does nothing else, because the
 * table decides: a message that comes back too early is recognised by its step's lease, and the wake time
 * finds lost work.
 *
 * W1 a message is removed only when its process has said that it was handled.
 * W2 no process outlives the worker.
 * W3 while an attempt is under way, ECS is asked to leave the task alone.
 * W4 the death of an attempt is recorded only when none of its programs is running.
 */

import { type Inbox, MAX_RECEIVED, type Received } from '../aws/sqs-inbox.ts';
import type { Clock } from '../core/ports.ts';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import type { DeadAttempt } from '../core/decisions/events.ts';
import type { AttemptProcess } from './attempt-process.ts';
import type { TaskProtection } from './task-protection.ts';

export const HIDDEN_S = 30;
const RENEW_EVERY_MS = 10_000;
/** SQS hides no message for more than twelve hours after it was received. */
const RENEW_FOR_MS = 11 * 3_600_000;
/** The time until a returned message is received again: this code cannot read it yet, or a port failed. */
const GIVEN_BACK_S = 20;
const RECEIVE_AGAIN_MS = 2_000;

export interface WorkerParts {
  readonly inbox: Inbox;
  readonly startProcess: () => AttemptProcess;
  readonly clock: Clock;
  readonly protection: TaskProtection;
  /**
   * Records that all programs of the attempt are dead. Never rejects.
   * @param stopping aborted when the worker is asked to stop
   */
  readonly recordDeath: (attempt: DeadAttempt, stopping: AbortSignalLike) => Promise<void>;
  readonly log: (what: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** How many attempts run at the same time. */
  readonly concurrency: number;
  /** How long attempts may go on after the worker is asked to stop. */
  readonly stopWithinMs: number;
}

export class Worker {
  readonly #parts: WorkerParts;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #busy = new Set<AttemptProcess>();
  readonly #idle: AttemptProcess[] = [];
  #wake: () => void = () => undefined;

  /** @param first a process that exists already */
  constructor(parts: WorkerParts, first?: AttemptProcess) {
    this.#parts = parts;
    if (first !== undefined) this.#idle.push(first);
  }

  /** Takes messages until `stop`; resolves when everything is over and no process is left. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const free = this.#parts.concurrency - this.#running.size;
      if (free > 0) await this.#take(free);
      else await this.#change();
    }
    await this.#end();
  }

  /** Takes no more messages; attempts under way get their time. */
  stop(): void {
    this.#stopping.abort();
    this.#wake();
  }

  /** Resolves when one attempt is over, or the worker must stop. */
  #change(): Promise<void> {
    return new Promise((changed) => {
      this.#wake = changed;
    });
  }

  async #take(free: number): Promise<void> {
    const { inbox, clock, log } = this.#parts;
    const { signal } = this.#stopping;
    try {
      const messages = await inbox.receive(Math.min(free, MAX_RECEIVED), HIDDEN_S, signal);
      for (const message of messages) {
        if (signal.aborted) await this.#hide(message, 0);
        else this.#begin(message);
      }
    } catch (error) {
      if (signal.aborted) return;
      log('receive-failed', { error: nameOf(error) });
      await clock.sleep(RECEIVE_AGAIN_MS, signal);
    }
  }

  #begin(message: Received): void {
    const work = this.#handle(message).finally(() => {
      this.#running.delete(work);
      this.#wake();
    });
    this.#running.add(work);
  }

  async #handle(message: Received): Promise<void> {
    const { inbox, startProcess, protection, recordDeath, log } = this.#parts;
    let process = this.#idle.pop();
    while (process?.isAlive === false) process = this.#idle.pop();
    process ??= startProcess();
    this.#busy.add(process);
    const over = new AbortController();
    const kept = this.#keepHidden(message, over.signal);
    await protection.begin();
    const { how, dead, lingers } = await process.run(message);
    const { messageId } = message;
    if (lingers) log('process-lingers', { messageId });
    if (dead !== undefined) await recordDeath(dead, this.#stopping.signal);
    over.abort();
    await Promise.all([kept, protection.end()]);
    this.#busy.delete(process);
    // The attempt may have begun. If its death was not recorded, its lease expires, and the supervisor has it
    // probed.
    if (how === 'died') {
      log('process-died', { messageId });
      if (this.#stopping.signal.aborted) await this.#hide(message, 0);
      return;
    }
    // A process that has lost its lease is not used again.
    if (process.isAlive) this.#idle.push(process);
    if (how === 'give-back')
      return await this.#hide(message, this.#stopping.signal.aborted ? 0 : GIVEN_BACK_S);
    await inbox.remove(message).catch((error: unknown) => {
      // The message comes back, and is then recognised as done.
      log('remove-failed', { messageId, error: nameOf(error) });
    });
  }

  async #keepHidden(message: Received, over: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const untilAt = clock.now() + RENEW_FOR_MS;
    for (;;) {
      await clock.sleep(RENEW_EVERY_MS, over);
      if (over.aborted || clock.now() > untilAt) return;
      await this.#hide(message, HIDDEN_S);
    }
  }

  async #hide(message: Received, seconds: number): Promise<void> {
    await this.#parts.inbox.hide(message, seconds).catch((error: unknown) => {
      this.#parts.log('hide-failed', { messageId: message.messageId, error: nameOf(error) });
    });
  }

  async #end(): Promise<void> {
    const { clock, stopWithinMs, log } = this.#parts;
    const done = new AbortController();
    const all = Promise.all(this.#running).then(() => done.abort());
    await clock.sleep(stopWithinMs, done.signal);
    if (this.#busy.size > 0) log('stopping-by-force', { attempts: this.#busy.size });
    await Promise.all([...this.#busy].map((process) => process.kill()));
    await all;
    await Promise.all(this.#idle.map((process) => process.kill()));
  }
}

const nameOf = (error: unknown): string => (Object(error) as { name?: string }).name ?? 'error';
