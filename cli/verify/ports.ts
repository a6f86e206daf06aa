/**
 * What checks ask of the deployment that they verify: the types of their ports.
 *
 * Owns: the ports' types. Does not own: who answers: an account (`aws.ts`), a local cloud (`local.ts`), a
 * test.
 */

import type { Client } from '../../lib/api/client.ts';
import type { Clock } from '../io.ts';

/** Parts of the ports that not every deployment has; a check names those that it needs. */
export type Need = 'account' | 'stack' | 'signature' | 'canary' | 'probes' | 'deployment';

export interface Ports {
  /** Why it has no answer, for each need that it cannot fill. */
  readonly lacks: Partial<Readonly<Record<Need, string>>>;
  readonly clock: Clock;
  /** Tells the keys of one run from those of another. */
  readonly runId: string;
  readonly api: Client;
  /** Executions that the run has begun: id to workflow. */
  readonly begun: Map<string, string>;
  /** The status that a request without a signature is answered with. */
  readonly unsigned: (path: string) => Promise<number>;
  readonly account: AccountFacts;
  readonly stack: StackFacts;
  /** Queues of the deployment, dead letters included. */
  readonly queues: () => Promise<readonly QueueFacts[]>;
  readonly probes: Probes;
  /** Lines of every function's log since the run began that contain any of the texts, at most a hundred. */
  readonly logs: (texts: readonly string[]) => Promise<readonly string[]>;
  /** The sum of a metric since the run began; nothing without a data point. */
  readonly metric: (name: string) => Promise<number | undefined>;
  /** Deletes the stack of `verify`. @returns ARNs that still carry its tag */
  readonly tearDown: () => Promise<readonly string[]>;
}

export interface QueueFacts {
  readonly name: string;
  readonly url: string;
  /** The name of the queue that its dead letters go to. */
  readonly deadLetters?: string;
  /** Messages that wait in it, or are with a reader. */
  readonly depth: number;
}

/** Reads of an account before anything is changed in it. */
export interface AccountFacts {
  readonly identity: () => Promise<{ readonly account: string; readonly arn: string }>;
  /** Version of the bootstrap stack; nothing without one. */
  readonly bootstrap: () => Promise<number | undefined>;
  readonly concurrency: () => Promise<{ readonly limit: number; readonly unreserved: number }>;
  /** Bytes of each resource policy of CloudWatch Logs. */
  readonly logPolicies: () => Promise<readonly number[]>;
}

/** Facts about the stack from CloudFormation and SNS. */
export interface StackFacts {
  /** Resources that are not as its template has them. */
  readonly drifted: () => Promise<readonly string[]>;
  /** Confirmed subscriptions of the alarms' topic. */
  readonly subscribers: () => Promise<number>;
}

/** Calls of what the stack of `verify` has beside a Steadfast. */
export interface Probes {
  /** Effects under a key, each request one. */
  readonly effects: (key: string) => Promise<number>;
  readonly switchOn: (name: string) => Promise<void>;
  /** How often an end was announced on the bus, by execution. */
  readonly ends: () => Promise<ReadonlyMap<string, number>>;
  readonly putEvent: (detail: string) => Promise<void>;
  readonly send: (queueUrl: string, body: string) => Promise<void>;
  readonly requests: string;
  /** Takes the messages of a queue out of it. */
  readonly take: (queueUrl: string) => Promise<readonly string[]>;
  /** Fires what a schedule does, where waiting for it can be spared. */
  readonly tick: (expression: string) => Promise<void>;
}
