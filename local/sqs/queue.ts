/**
 * One standard queue: visibility, delay, receive counts, redrive, retention, and notifying receivers of
 * visible messages. Does not own: the wire protocol (operations.ts), files (journal.ts).
 *
 * Why our own: the closest server on npm answers a long poll with only one message, and counts a queue's
 * depth wrongly.
 *
 * Invariants
 * - I1 a message is in exactly one state (visible, delayed, in flight) or gone.
 * - I2 a change is in the journal before its caller is answered.
 * - I3 a redriven message is in the target's journal before it leaves the source's: a crash in between
 *   duplicates it and never loses it.
 * - I4 a waiting receiver or listener is notified at the moment a message becomes visible (send, delay end,
 *   visibility end); without a waiter there is no timer.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { DueHeap } from './due-heap.ts';
import { FairLine } from './fair-line.ts';
import type { QueueJournal } from './journal.ts';
import {
  md5,
  type ReceivedMessage,
  type ReceiveRequest,
  readReceiptHandle,
  receiptHandleOf,
  type SendRequest,
  type StoredMessage,
} from './message.ts';

/** The settings of a queue; all from the template. */
export interface QueueSettings {
  readonly queueName: string;
  readonly arn: string;
  readonly visibilityTimeoutMs: number;
  readonly delayMs: number;
  readonly retentionMs: number;
  readonly receiveWaitMs: number;
  readonly maxMessageBytes: number;
}

interface Redrive {
  readonly target: Queue;
  readonly maxReceiveCount: number;
}

interface Waiter {
  readonly tryReceive: () => boolean;
}

/** The result of using a receipt handle. */
export type HandleResult = 'done' | 'invalid' | 'notInFlight';

export class Queue {
  readonly settings: QueueSettings;
  redrive: Redrive | undefined;
  readonly #clock: Clock;
  readonly #journal: QueueJournal;
  readonly #messages = new Map<string, StoredMessage>();
  readonly #visible = new FairLine<StoredMessage>();
  readonly #hidden = new DueHeap<StoredMessage>();
  readonly #waiters = new Set<Waiter>();
  readonly #watchers = new Set<() => void>();
  #delayedCount = 0;
  #inFlightCount = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(settings: QueueSettings, clock: Clock, journal: QueueJournal) {
    this.settings = settings;
    this.#clock = clock;
    this.#journal = journal;
    for (const message of journal.load()) this.#place(message);
  }

  send(request: SendRequest): StoredMessage {
    const now = this.#clock.now();
    const delayMs = request.delayMs ?? this.settings.delayMs;
    return this.#add({
      messageId: randomUUID(),
      body: request.body,
      md5OfBody: md5(request.body),
      attributes: request.attributes ?? {},
      ...(request.group === undefined ? {} : { group: request.group }),
      senderId: request.senderId ?? 'local',
      traceHeader: request.traceHeader,
      sentAt: now,
      sourceArn: undefined,
      state: delayMs > 0 ? 'delayed' : 'visible',
      visibleAt: now + delayMs,
      receiveCount: 0,
      firstReceivedAt: undefined,
    });
  }

  /** Receives visible messages without waiting. */
  receiveNow(max: number, visibilityTimeoutMs = this.settings.visibilityTimeoutMs): ReceivedMessage[] {
    const now = this.#clock.now();
    this.#promote(now);
    const received: ReceivedMessage[] = [];
    for (
      let message = this.#visible.next();
      message !== undefined && received.length < max;
      message = this.#visible.next()
    ) {
      if (this.#expired(message, now) || this.#redriven(message)) continue;
      message.receiveCount += 1;
      message.firstReceivedAt ??= now;
      this.#hide(message, 'inFlight', now + visibilityTimeoutMs);
      this.#journal.record({ kind: 'received', message });
      const receiptHandle = receiptHandleOf(message.messageId, message.receiveCount);
      received.push({ message, receiptHandle, receiveCount: message.receiveCount });
    }
    return received;
  }

  /** Receives, waiting up to `waitMs` for a first message. */
  async receive(request: ReceiveRequest): Promise<ReceivedMessage[]> {
    const now = this.receiveNow(request.max, request.visibilityTimeoutMs);
    const waitMs = request.waitMs ?? this.settings.receiveWaitMs;
    if (now.length > 0 || waitMs <= 0 || request.signal?.aborted === true) return now;
    return await new Promise<ReceivedMessage[]>((resolve) => {
      const end = (messages: ReceivedMessage[]) => {
        cancelTimer();
        request.signal?.removeEventListener('abort', giveUp);
        this.#waiters.delete(waiter);
        resolve(messages);
      };
      const giveUp = () => end([]);
      const waiter: Waiter = {
        tryReceive: () => {
          const messages = this.receiveNow(request.max, request.visibilityTimeoutMs);
          if (messages.length > 0) end(messages);
          return messages.length > 0;
        },
      };
      const cancelTimer = this.#clock.setTimer(waitMs, giveUp);
      request.signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      this.#armTimer();
    });
  }

  /**
   * Calls back whenever a message becomes visible, until the returned function is called. Event source
   * mappings use it.
   */
  watch(onVisible: () => void): () => void {
    this.#watchers.add(onVisible);
    this.#armTimer();
    return () => this.#watchers.delete(onVisible);
  }

  /** Deletes a message. The handle of an older receive is accepted and deletes nothing, as on AWS. */
  delete(receiptHandle: string): HandleResult {
    const handle = readReceiptHandle(receiptHandle);
    if (handle === undefined) return 'invalid';
    const message = this.#messages.get(handle.messageId);
    if (message !== undefined && message.receiveCount === handle.receiveCount) this.#remove(message);
    return 'done';
  }

  changeVisibility(receiptHandle: string, visibilityTimeoutMs: number): HandleResult {
    const handle = readReceiptHandle(receiptHandle);
    if (handle === undefined) return 'invalid';
    const now = this.#clock.now();
    this.#promote(now);
    const message = this.#messages.get(handle.messageId);
    if (message?.state !== 'inFlight' || message.receiveCount !== handle.receiveCount) return 'notInFlight';
    this.#leaveState(message);
    message.state = 'visible';
    this.#hide(message, 'inFlight', now + visibilityTimeoutMs);
    this.#journal.record({ kind: 'received', message });
    this.#promote(now);
    this.#armTimer();
    return 'done';
  }

  purge(): void {
    for (const message of this.#messages.values()) this.#remove(message);
  }

  /** Messages that can be received now. */
  visibleCount(): number {
    this.#promote(this.#clock.now());
    return this.#visible.size;
  }

  counts(): { visible: number; inFlight: number; delayed: number } {
    const visible = this.visibleCount();
    return { visible, inFlight: this.#inFlightCount, delayed: this.#delayedCount };
  }

  /** The send time of the oldest message that can be received or is being processed. */
  oldestSentAt(): number | undefined {
    this.#promote(this.#clock.now());
    for (const { state, sentAt } of this.#messages.values()) if (state !== 'delayed') return sentAt;
    return undefined;
  }

  /** All messages, oldest first, without receiving them. */
  peek(): StoredMessage[] {
    this.#promote(this.#clock.now());
    return [...this.#messages.values()];
  }

  /** Stops timers and waiters and closes the journal. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#watchers.clear();
    this.#waiters.clear();
    this.#journal.close();
  }

  #add(message: StoredMessage): StoredMessage {
    this.#journal.record({ kind: 'sent', message });
    this.#place(message);
    if (message.state === 'visible') this.#notify();
    else this.#armTimer();
    return message;
  }

  #place(message: StoredMessage): void {
    this.#messages.set(message.messageId, message);
    if (message.state === 'visible') this.#visible.add(message.messageId, message, message.group);
    else this.#hide(message, message.state, message.visibleAt);
  }

  #hide(message: StoredMessage, state: 'delayed' | 'inFlight', visibleAt: number): void {
    this.#visible.remove(message.messageId, message.group);
    message.state = state;
    message.visibleAt = visibleAt;
    if (state === 'delayed') this.#delayedCount += 1;
    else {
      this.#inFlightCount += 1;
      this.#visible.began(message.group);
    }
    this.#hidden.push(visibleAt, message);
    this.#armTimer();
  }

  #remove(message: StoredMessage): void {
    this.#journal.record({ kind: 'deleted', message });
    this.#messages.delete(message.messageId);
    this.#leaveState(message);
  }

  #leaveState(message: StoredMessage): void {
    if (message.state === 'delayed') this.#delayedCount -= 1;
    if (message.state === 'inFlight') {
      this.#inFlightCount -= 1;
      this.#visible.ended(message.group);
    }
    this.#visible.remove(message.messageId, message.group);
  }

  /** Makes due messages visible, skipping outdated heap entries. */
  #promote(now: number): void {
    let promoted = false;
    for (
      let entry = this.#hidden.peek();
      entry !== undefined && entry.at <= now;
      entry = this.#hidden.peek()
    ) {
      this.#hidden.pop();
      const message = entry.item;
      const isCurrent =
        this.#messages.get(message.messageId) === message &&
        message.state !== 'visible' &&
        message.visibleAt === entry.at;
      if (!isCurrent) continue;
      this.#leaveState(message);
      message.state = 'visible';
      this.#visible.add(message.messageId, message, message.group);
      promoted = true;
    }
    // A receiver that called this may not take all of these messages, so the others must be notified.
    if (promoted && this.#isAwaited()) queueMicrotask(() => this.#notify());
  }

  #expired(message: StoredMessage, now: number): boolean {
    if (now - message.sentAt <= this.settings.retentionMs) return false;
    this.#remove(message);
    return true;
  }

  #redriven(message: StoredMessage): boolean {
    if (this.redrive === undefined || message.receiveCount < this.redrive.maxReceiveCount) return false;
    // The DLQ keeps id, send time and receive count, as SQS does.
    const moved: StoredMessage = { ...message, state: 'visible', sourceArn: this.settings.arn };
    this.redrive.target.#add(moved);
    this.#remove(message);
    return true;
  }

  #isAwaited(): boolean {
    return this.#waiters.size > 0 || this.#watchers.size > 0;
  }

  #notify(): void {
    for (const waiter of this.#waiters) {
      if (this.#visible.size === 0) break;
      waiter.tryReceive();
    }
    if (this.#visible.size > 0) for (const onVisible of this.#watchers) onVisible();
  }

  #armTimer(): void {
    const next = this.#hidden.peek();
    if (next === undefined || !this.#isAwaited() || this.#timer?.at === next.at) return;
    this.#timer?.cancel();
    const cancel = this.#clock.setTimer(next.at - this.#clock.now(), () => {
      this.#timer = undefined;
      this.#promote(this.#clock.now());
      this.#armTimer();
    });
    this.#timer = { at: next.at, cancel };
  }
}
