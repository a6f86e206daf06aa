/**
 * Records the metrics of AWS's own services: for a queue, its visible and in-flight messages and the age of
 * the oldest; for a function, its invocations, durations and errors. Does not own: the queues, the functions,
 * storing the metrics.
 *
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
import type { Clock } from '../clock.ts';
import type { Queue } from '../sqs/queue.ts';
import type { MetricStore } from './metric-store.ts';

/**
 * The interval of measurements. SQS measures once a minute, but a queue on a laptop may fill and empty within
 * one.
 */
const EVERY_MS = 10_000;

export class PlatformMetrics {
  readonly #queues: readonly Queue[];
  readonly #metrics: MetricStore;
  readonly #clock: Clock;
  #cancel: () => void = () => undefined;

  constructor(queues: readonly Queue[], metrics: MetricStore, clock: Clock) {
    this.#queues = queues;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  start(): void {
    for (const queue of this.#queues) this.#measure(queue);
    this.#cancel = this.#clock.setTimer(EVERY_MS, () => this.start());
  }

  stop(): void {
    this.#cancel();
  }

  #measure(queue: Queue): void {
    const { visible, inFlight, delayed } = queue.counts();
    const oldestAt = queue.oldestSentAt();
    this.#add(
      'AWS/SQS',
      { QueueName: queue.settings.queueName },
      {
        ApproximateNumberOfMessagesVisible: visible,
        ApproximateNumberOfMessagesNotVisible: inFlight,
        ApproximateNumberOfMessagesDelayed: delayed,
        ApproximateAgeOfOldestMessage:
          oldestAt === undefined ? 0 : Math.floor((this.#clock.now() - oldestAt) / 1_000),
      },
    );
  }

  /** Records the end of an event. */
  readonly called = (functionName: string, ms: number, ok: boolean): void =>
    this.#add(
      'AWS/Lambda',
      { FunctionName: functionName },
      {
        Invocations: 1,
        Errors: ok ? 0 : 1,
        Duration: ms,
      },
    );

  #add(
    namespace: string,
    dimensions: Readonly<Record<string, string>>,
    values: Readonly<Record<string, number>>,
  ): void {
    for (const [name, value] of Object.entries(values))
      this.#metrics.add({ namespace, name, dimensions }, value);
  }
}
