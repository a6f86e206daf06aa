/**
 * The ports of the checks: their calls to the deployment.
 *
 * Does not own: the implementations for an account (`aws.ts`), for a local cloud (`local.ts`), and in tests.
 */

import type { Client } from '../../lib/api/client.ts';
import type { Clock } from '../io.ts';

/** Parts of the ports that not every deployment has; a check names those that it needs. */
export type Need = 'account' | 'stack' | 'signature' | 'canary' | 'probes' | 'deployment';

export interface Ports {
  /** The needs that this deployment cannot fill, each with the reason. */
  readonly lacks: Partial<Readonly<Record<Need, string>>>;
  readonly clock: Clock;
  /** A part of every key, unique for this run. */
  readonly runId: string;
  readonly api: Client;
  /** The workflow of each execution that the run has started, by id. */
  readonly begun: Map<string, string>;
  /** Makes a request without a signature. @returns the status of the answer */
  readonly unsigned: (path: string) => Promise<number>;
  readonly account: AccountFacts;
  readonly stack: StackFacts;
  /** Queues of the deployment, including those for dead letters. */
  readonly queues: () => Promise<readonly QueueFacts[]>;
  readonly probes: Probes;
  /** Lines of every function's log since the run began that contain any of the texts, at most a hundred. */
  readonly logs: (texts: readonly string[]) => Promise<readonly string[]>;
  /** The sum of a metric since the run began; undefined without a data point. */
  readonly metric: (name: string) => Promise<number | undefined>;
  /** Deletes the stack of `verify`. @returns ARNs that still have its tag */
  readonly tearDown: () => Promise<readonly string[]>;
}

export interface QueueFacts {
  readonly name: string;
  readonly url: string;
  /** The name of the queue that takes its dead letters. */
  readonly deadLetters?: string;
  /** Messages that wait in it, or are being processed. */
  readonly depth: number;
}

/** Reads an account, before anything in it is changed. */
export interface AccountFacts {
  readonly identity: () => Promise<{ readonly account: string; readonly arn: string }>;
  /** The version of the bootstrap stack; undefined if there is none. */
  readonly bootstrap: () => Promise<number | undefined>;
  readonly concurrency: () => Promise<{ readonly limit: number; readonly unreserved: number }>;
  /** Bytes of each resource policy of CloudWatch Logs. */
  readonly logPolicies: () => Promise<readonly number[]>;
}

/** Facts about the stack from CloudFormation and SNS. */
export interface StackFacts {
  /** Resources that differ from their template. */
  readonly drifted: () => Promise<readonly string[]>;
  /** Confirmed subscriptions of the alarms' topic. */
  readonly subscribers: () => Promise<number>;
}

/** Calls of resources that only the stack of `verify` has. */
export interface Probes {
  /** The number of effects under a key, one for each request. */
  readonly effects: (key: string) => Promise<number>;
  readonly switchOn: (name: string) => Promise<void>;
  /** How often the end of each execution was announced on the bus. */
  readonly ends: () => Promise<ReadonlyMap<string, number>>;
  readonly putEvent: (detail: string) => Promise<void>;
  readonly send: (queueUrl: string, body: string) => Promise<void>;
  readonly requests: string;
  /** Receives and deletes all messages of a queue. */
  readonly take: (queueUrl: string) => Promise<readonly string[]>;
  /** Fires a schedule at once, if the deployment supports that. */
  readonly tick: (expression: string) => Promise<void>;
}
