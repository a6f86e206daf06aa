/** Counts the AWS calls of each function by operation and table or queue, and their results. */
import type { AwsCall } from './aws-call.ts';

/** One line of the count. */
export interface CallCount {
  /** Logical id of the function, or `outside`. */
  readonly caller: string;
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
  readonly calls: number;
  /** The number of error answers, including those of faults. */
  readonly errors: number;
  /** DynamoDB capacity units, including those of refused writes; 0 unless measuring is on. */
  readonly capacityUnits: number;
}

type Counter = { -readonly [K in keyof CallCount]: CallCount[K] };

export class CallCounts {
  /** Whether to ask DynamoDB for consumed capacity. */
  measuresCapacity = false;
  readonly #counters = new Map<string, Counter>();

  /** Counts a call before it is served. @returns the function that records its result */
  record(call: AwsCall): Counter {
    const key = `${call.caller}|${call.service}|${call.operation}|${call.resource}`;
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      const { caller, service, operation, resource } = call;
      counter = { caller, service, operation, resource, calls: 0, errors: 0, capacityUnits: 0 };
      this.#counters.set(key, counter);
    }
    counter.calls += 1;
    return counter;
  }

  list(): CallCount[] {
    return [...this.#counters.values()].map((counter) => ({ ...counter }));
  }

  reset(): void {
    this.#counters.clear();
  }
}
