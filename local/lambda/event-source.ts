/**
 * One event source mapping: passes messages from a queue to a function, event-driven instead of by polling.
 * Does not own: visibility and redrive (the queue), processes (the function), the policies.
 *
 * Invariants
 * - I1 messages are received only when a process is free for them, so waiting does not raise their receive
 *   count. A throttled function is the exception: its messages are received and counted, as by AWS's pollers.
 * - I2 the mapping needs the permissions of the function's role on the queue, because on AWS it polls with
 *   that role.
 * - I3 a failed batch, or its failed messages, stay in flight until their visibility ends, as on AWS.
 */
import type { Clock } from '../clock.ts';
import type { ReceivedMessage } from '../sqs/message.ts';
import type { Queue } from '../sqs/queue.ts';
import { isRecord, type Json } from '../template/json.ts';
import type { MappingSpec } from '../template/stack-model.ts';
import type { InvocationResult } from './function-process.ts';
import type { LocalFunction } from './local-function.ts';

/** The parts of a function that a mapping uses. */
export type BatchTarget = Pick<LocalFunction, 'invoke' | 'freeSlots' | 'onFree'>;

/** Whether the function's role allows the mapping an action (`sqs:ReceiveMessage`, …) on its queue. */
export type MappingAccess = (action: string) => boolean;

const REGION_PART = 3;

export class EventSource {
  readonly spec: MappingSpec;
  readonly counters = { batches: 0, messages: 0, failedBatches: 0, failedMessages: 0 };
  readonly #queue: Queue;
  readonly #target: BatchTarget;
  readonly #clock: Clock;
  readonly #mayDo: MappingAccess;
  readonly #inFlight = new Set<readonly ReceivedMessage[]>();
  #stopListening: (() => void)[] = [];
  #cancelWindow: (() => void) | undefined;
  #windowEnded = false;
  #pumping = false;

  constructor(
    spec: MappingSpec,
    queue: Queue,
    target: BatchTarget,
    clock: Clock,
    mayDo: MappingAccess = () => true,
  ) {
    this.#mayDo = mayDo;
    this.spec = spec;
    this.#queue = queue;
    this.#target = target;
    this.#clock = clock;
  }

  get isReading(): boolean {
    return this.#stopListening.length > 0;
  }

  start(): void {
    // AWS reads the queue's settings when the mapping is made.
    if (!this.#mayDo('sqs:GetQueueAttributes')) return;
    const pump = () => this.#pump();
    this.#stopListening = [this.#queue.watch(pump), this.#target.onFree(pump)];
    this.#pump();
  }

  /** Stops receiving messages. Batches in progress continue. */
  stop(): void {
    for (const stop of this.#stopListening.splice(0)) stop();
    this.#cancelWindow?.();
    this.#cancelWindow = undefined;
  }

  /**
   * Makes the messages of unfinished batches visible at once, because a stop of the cloud is not their
   * failure.
   */
  giveBack(): void {
    for (const batch of this.#inFlight) {
      for (const { receiptHandle } of batch) this.#queue.changeVisibility(receiptHandle, 0);
    }
  }

  #pump(): void {
    // Receiving can call this again; the loop below already receives those messages.
    if (this.#pumping || this.#stopListening.length === 0) return;
    this.#pumping = true;
    try {
      while (this.#hasSlot() && this.#hasBatch() && this.#mayDo('sqs:ReceiveMessage')) {
        const batch = this.#queue.receiveNow(this.spec.batchSize);
        this.#windowEnded = false;
        if (batch.length === 0) break;
        void this.#dispatch(batch);
      }
    } finally {
      this.#pumping = false;
    }
  }

  #hasSlot(): boolean {
    const most = this.spec.maximumConcurrency ?? Number.POSITIVE_INFINITY;
    return this.#inFlight.size < most && this.#target.freeSlots > 0;
  }

  /** Whether to dispatch now: the batch is full, or not empty and its window is over (or there is none). */
  #hasBatch(): boolean {
    const visible = this.#queue.visibleCount();
    if (visible === 0) return false;
    if (this.spec.windowMs === 0 || this.#windowEnded || visible >= this.spec.batchSize) {
      this.#cancelWindow?.();
      this.#cancelWindow = undefined;
      return true;
    }
    this.#cancelWindow ??= this.#clock.setTimer(this.spec.windowMs, () => {
      this.#cancelWindow = undefined;
      this.#windowEnded = true;
      this.#pump();
    });
    return false;
  }

  async #dispatch(batch: readonly ReceivedMessage[]): Promise<void> {
    this.#inFlight.add(batch);
    this.counters.batches += 1;
    this.counters.messages += batch.length;
    const event = JSON.stringify({ Records: batch.map((each) => recordOf(each, this.spec.queueArn)) });
    const result = await this.#target.invoke(event);
    const ids = batch.map((each) => each.message.messageId);
    const failed = failedIds(result, ids, this.spec.reportsItemFailures);
    if (failed.size > 0) this.counters.failedBatches += 1;
    this.counters.failedMessages += failed.size;
    for (const { message, receiptHandle } of batch) {
      if (!failed.has(message.messageId) && this.#mayDo('sqs:DeleteMessage')) {
        this.#queue.delete(receiptHandle);
      }
    }
    this.#inFlight.delete(batch);
    this.#pump();
  }
}

/** Makes the record of a message in Lambda's SQS event. */
export function recordOf({ message, receiptHandle, receiveCount }: ReceivedMessage, queueArn: string): Json {
  const attributes: Record<string, string> = {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(message.sentAt),
    SenderId: message.senderId,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
  };
  if (message.traceHeader !== undefined) attributes['AWSTraceHeader'] = message.traceHeader;
  if (message.sourceArn !== undefined) attributes['DeadLetterQueueSourceArn'] = message.sourceArn;
  const messageAttributes: Record<string, Json> = {};
  for (const [name, value] of Object.entries(message.attributes)) {
    messageAttributes[name] = {
      ...(value.StringValue === undefined ? {} : { stringValue: value.StringValue }),
      ...(value.BinaryValue === undefined ? {} : { binaryValue: value.BinaryValue }),
      stringListValues: [],
      binaryListValues: [],
      dataType: value.DataType,
    };
  }
  return {
    messageId: message.messageId,
    receiptHandle,
    body: message.body,
    attributes,
    messageAttributes,
    md5OfBody: message.md5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[REGION_PART] ?? '',
  };
}

/**
 * Finds the failed messages of a batch by AWS's rules. An error fails all. An answer fails none without
 * ReportBatchItemFailures. With it, the listed messages fail, none if the answer or list is null or empty,
 * and all if an entry has no valid identifier or one outside the batch. Pure.
 */
export function failedIds(
  result: InvocationResult,
  ids: readonly string[],
  reportsItemFailures: boolean,
): ReadonlySet<string> {
  const all = new Set(ids);
  const none = new Set<string>();
  if (!result.ok) return all;
  if (!reportsItemFailures) return none;
  const answer = JSON.parse(result.payload) as Json;
  if (answer === null) return none;
  if (!isRecord(answer)) return all;
  const listed = answer['batchItemFailures'];
  if (listed === undefined || listed === null) return none;
  if (!Array.isArray(listed)) return all;
  const failed = new Set<string>();
  for (const entry of listed) {
    const id = isRecord(entry) ? entry['itemIdentifier'] : undefined;
    if (typeof id !== 'string' || !all.has(id)) return all;
    failed.add(id);
  }
  return failed;
}
