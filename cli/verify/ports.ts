/**
 * What checks ask of the deployment that they verify.
 *
 * Owns: the ports' types. Does not own: who answers: an account (`aws.ts`), a local cloud (`local.ts`), a
 * test.
 */

import type { Client } from '../../lib/api/client.ts';
import type { Clock } from '../io.ts';

/** Parts of the ports that not every deployment has; a check names those that it needs. */
export const NEEDS = [
  'account',
  'settings',
  'signature',
  'probes',
  'logs',
  'metrics',
  'alarms',
  'faults',
  'concurrency',
  'deployment',
  'release',
  'redrive',
  'time',
] as const;
export type Need = (typeof NEEDS)[number];

export interface Raw {
  readonly status: number;
  readonly text: string;
  /** The origin whose pages may read it. */
  readonly allowsOrigin?: string;
}

export interface RawOptions {
  readonly signed?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export const rawOf = async (answer: Response): Promise<Raw> => {
  const allowsOrigin = answer.headers.get('access-control-allow-origin');
  const { status } = answer;
  return { status, text: await answer.text(), ...(allowsOrigin === null ? {} : { allowsOrigin }) };
};

export interface Ports {
  /** Why it has no answer, for each need that it cannot fill. */
  readonly lacks: Partial<Readonly<Record<Need, string>>>;
  readonly clock: Clock;
  /** Tells the keys of one run from those of another. */
  readonly runId: string;
  readonly api: Client;
  /** Executions that the run has begun: id to workflow. */
  readonly begun: Map<string, string>;
  /** A request as it is, signed or not. */
  readonly raw: (method: string, path: string, options?: RawOptions) => Promise<Raw>;
  readonly settings: () => Promise<Settings>;
  readonly account: AccountFacts;
  readonly deployment: DeploymentPort;
  readonly probes: Probes;
  /** Lines of every function's log since the run began that contain any of the texts, at most a hundred. */
  readonly logs: (texts: readonly string[]) => Promise<readonly string[]>;
  /** The sum of a metric since the run began; nothing without a data point. */
  readonly metric: (name: string) => Promise<number | undefined>;
  /** The same of what DynamoDB counts of the state table. */
  readonly tableMetric: (name: string) => Promise<number | undefined>;
  readonly alarms: AlarmPort;
  readonly faults: FaultPort;
}

/** As they are, wherever they are read from. */
export interface Settings {
  readonly functions: readonly FunctionFacts[];
  readonly queues: readonly QueueFacts[];
  readonly mappings: readonly MappingFacts[];
  readonly rules: readonly RuleFacts[];
  readonly table: TableFacts;
  readonly alarms: readonly AlarmFacts[];
  /** Metrics that the dashboard draws, by `namespace/name`. */
  readonly drawn: readonly string[];
  /** Confirmed subscriptions of the alarms' topic. */
  readonly subscribers: number;
}

export interface FunctionFacts {
  readonly name: string;
  readonly runtime: string;
  readonly timeoutS: number;
  readonly recursionAllowed: boolean;
  readonly logFormat: string;
  readonly logGroup: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface QueueFacts {
  readonly name: string;
  readonly url: string;
  readonly visibilityS: number;
  readonly retentionS: number;
  readonly deadLetters?: string;
  readonly maxReceives?: number;
}

export interface MappingFacts {
  readonly id: string;
  readonly queue: string;
  readonly function: string;
  readonly enabled: boolean;
  readonly reportsItemFailures: boolean;
  readonly maxConcurrency?: number;
}

export interface RuleFacts {
  /** By which a fault names it. */
  readonly id: string;
  readonly name: string;
  readonly expression: string;
  readonly enabled: boolean;
  /** Names of the functions and queues that it calls; one for each target. */
  readonly targets: readonly string[];
}

export interface TableFacts {
  readonly name: string;
  /** Name → its keys, as 'partition/sort'. */
  readonly indexes: Readonly<Record<string, string>>;
  readonly expiresBy?: string;
  readonly recovery: boolean;
  /** Protected against deletion: a stage that keeps its data. */
  readonly keepsData?: boolean;
}

export interface AlarmFacts {
  readonly name: string;
  /** By `namespace/name`. */
  readonly metrics: readonly string[];
  readonly actions: number;
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

/** What CloudFormation does with the stack of `verify`. */
export interface DeploymentPort {
  /** What a change set of its template would replace; it is not executed. */
  readonly changeSet: () => Promise<readonly string[]>;
  /**
   * Stops it as `steadfast quiesce` does, and starts it again whatever comes of `meanwhile`.
   * @returns what still ran before that
   */
  readonly atRest: (meanwhile: () => Promise<void>) => Promise<readonly string[]>;
  /**
   * Restores the table of a stack at rest as another one, and deploys all functions with that.
   */
  readonly restoreTable: () => Promise<RestoredTable>;
  /**
   * Deploys the release before, or this one again, in the steps of `steadfast upgrade`; nothing where there
   * are problems.
   */
  readonly change: (to: 'before' | 'this') => Promise<Release>;
  /** Deletes the stack. @returns ARNs that still carry its tag */
  readonly tearDown: () => Promise<readonly string[]>;
}

export interface RestoredTable {
  readonly name: string;
  /** Names of the tables that the functions have in their environment afterwards. */
  readonly used: readonly string[];
}

export interface Release {
  readonly release: string;
  /** Why its change set was not executed: it changes nothing, or would replace what holds data. */
  readonly problems: readonly string[];
}

/** What the stack of `verify` has beside a Steadfast. */
export interface Probes {
  /** Effects under a key, each request one. */
  readonly effects: (key: string) => Promise<number>;
  readonly switchOn: (name: string) => Promise<void>;
  /** How often an end was announced on the bus, by execution. */
  readonly ends: () => Promise<ReadonlyMap<string, number>>;
  readonly putEvent: (detail: string) => Promise<void>;
  readonly send: (queueUrl: string, body: string) => Promise<void>;
  readonly requests: string;
  /** Messages that wait in a queue, or are with a reader. */
  readonly depth: (queueUrl: string) => Promise<number>;
  /** Takes the messages of a queue out of it. */
  readonly take: (queueUrl: string) => Promise<readonly string[]>;
  /** Moves what is in a dead-letter queue to a queue. */
  readonly redrive: (deadLetters: string, to: string) => Promise<void>;
  /** Fires what a schedule does, where waiting for it can be spared. @returns whether it was fired */
  readonly tick: (expression: string) => Promise<boolean>;
}

export interface AlarmPort {
  /** Changes its state, by way of `OK`: only changes are announced, and it may be raised already. */
  readonly raise: (alarm: string) => Promise<void>;
  /** The state of the alarm whose name contains the text. */
  readonly state: (text: string) => Promise<string>;
  /** Names of the alarms of which the queue on the topic has got news since it was asked last. */
  readonly news: () => Promise<readonly string[]>;
}

/** A fault that ends by itself. */
export interface Fault {
  readonly kind: 'rule' | 'mapping' | 'concurrency';
  /** ARN of a rule, id of a mapping, name of a function. */
  readonly id: string;
  readonly forMs: number;
}

export interface FaultPort {
  /** Makes it, after it is written down and its end is scheduled. */
  readonly make: (fault: Fault) => Promise<void>;
  /** Ends it now. Once more does nothing. */
  readonly end: (fault: Fault) => Promise<void>;
  /** Ends all that earlier runs have left. @returns how many */
  readonly endAll: () => Promise<number>;
}
