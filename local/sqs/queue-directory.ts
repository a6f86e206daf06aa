/** The queues of the stack by name, and their redrive links. */
import type { Clock } from '../clock.ts';
import type { QueueJournal } from './journal.ts';
import { Queue, type QueueSettings } from './queue.ts';

/** A queue as the template declares it. */
export interface QueueDeclaration extends QueueSettings {
  readonly redrive: { readonly targetArn: string; readonly maxReceiveCount: number } | undefined;
}

export class QueueDirectory {
  readonly #queues = new Map<string, Queue>();

  /** @throws Error when a redrive target is not a queue of this stack */
  constructor(
    declarations: readonly QueueDeclaration[],
    clock: Clock,
    journalOf: (queueName: string) => QueueJournal,
  ) {
    for (const declared of declarations) {
      this.#queues.set(declared.queueName, new Queue(declared, clock, journalOf(declared.queueName)));
    }
    for (const { queueName, redrive } of declarations) {
      const queue = this.byName(queueName);
      if (redrive === undefined || queue === undefined) continue;
      const target = this.byArn(redrive.targetArn);
      if (target === undefined) {
        throw new Error(
          `queue ${queueName}: its dead-letter queue ${redrive.targetArn} is not in this stack`,
        );
      }
      queue.redrive = { target, maxReceiveCount: redrive.maxReceiveCount };
    }
  }

  byName(queueName: string): Queue | undefined {
    return this.#queues.get(queueName);
  }

  byArn(arn: string): Queue | undefined {
    return this.byName(arn.slice(arn.lastIndexOf(':') + 1));
  }

  /** The queue of a URL: the last part of the path is its name, whatever the host. */
  byUrl(url: string): Queue | undefined {
    return this.byName(url.slice(url.lastIndexOf('/') + 1));
  }

  all(): Queue[] {
    return [...this.#queues.values()];
  }

  close(): void {
    for (const queue of this.all()) queue.close();
  }
}
