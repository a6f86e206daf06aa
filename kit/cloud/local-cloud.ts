/**
 * The options of `startCloud` and its result: a project on the local cloud, for a test or a script.
 *
 * Owns: the types. Does not own: how it is started (`start-cloud.ts`), the random kills (`random-kills.ts`).
 */

import type { KeysOf } from '../../lib/core/values/options.ts';
import type { Client, KnownWorkflows } from '../../lib/api/typed-client.ts';
import type { ArmedFault, CallFault, FaultMoment } from '../../local/control/fault.ts';

/** Which project a local cloud runs, and how. */
export interface LocalCloudOptions {
  /**
   * The folder of the CDK app, or one below it.
   * @default - the working directory
   */
  readonly project?: string;
  /**
   * The command that runs the CDK app.
   * @default - that of cdk.json
   */
  readonly app?: string;
  /** Added to the context of the app, as `cdk -c` does. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** A folder of workflow folders, of which an app of nothing else is made, in place of the project's. */
  readonly workflows?: string;
  /** The names of those that are run; with `workflows`, and for `dev.ts`. @default - all */
  readonly only?: readonly string[];
  /** An assembly that was synthesised already (`cdk.out`): nothing is synthesised. */
  readonly assembly?: string;
  /** The stack to run, where several hold a Steadfast. */
  readonly stack?: string;
  /** Which Steadfast, where the stack holds several. */
  readonly name?: string;
  /** Added to every function's environment, and before what a `dev.ts` gives. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Whether the `dev.ts` of the workflow folders are started, in a process of
   * their own, with data of their own.
   * @default true
   */
  readonly external?: boolean;
  /** Whether schedules tick: supervisors start every minute. @default true */
  readonly schedules?: boolean;
  /** Most processes of one function at a time. @default 10 */
  readonly processesPerFunction?: number;
  /** Port of the HTTP API. @default - any free one */
  readonly port?: number;
  /** Ends the start, and later the cloud, with nothing left running. */
  readonly signal?: AbortSignal;
  /** Called with the progress of the start, and with the warnings of the cloud itself. */
  readonly say?: (text: string) => void;
  /** Called with each line that a function writes. */
  readonly onLog?: (line: { readonly function: string; readonly pid: number; readonly line: string }) => void;
}

export const CLOUD = {
  project: true,
  app: true,
  context: true,
  workflows: true,
  only: true,
  assembly: true,
  stack: true,
  name: true,
  environment: true,
  external: true,
  schedules: true,
  processesPerFunction: true,
  port: true,
  signal: true,
  say: true,
  onLog: true,
} as const satisfies KeysOf<LocalCloudOptions>;

/** A running local cloud: the deployed template on this machine, and ways to break it. */
export interface LocalCloud<W extends KnownWorkflows = KnownWorkflows> {
  /** The address of the HTTP API. */
  readonly url: string;
  /** Asks again while processes are killed. */
  readonly client: Client<W>;
  /** Holds the tables, the queues and the logs. */
  readonly folder: string;
  /** The environment that every function has: of `environment`, and of each `dev.ts`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Complaints of the cloud itself: a request that no policy allows, an event that went nowhere. */
  readonly problems: readonly string[];
  /** The processes of each agent and each role. */
  readonly functions: () => readonly LocalFunctionState[];
  /**
   * SIGKILL of what performs an agent (`'charge-card'`) or a role (`'scheduler'`, `'supervisor'`): by
   * default of all processes that are at work. Of an agent in a container it is the worker, which is
   * started again, as a service does.
   * @throws Error naming the functions there are
   */
  readonly kill: (name: string, when?: FaultMoment) => ArmedFault;
  /** SIGSTOP: it is alive and silent, until it is thawed or its time is over. */
  readonly freeze: (name: string, when?: FaultMoment) => ArmedFault;
  /** SIGCONT of every frozen process of the function; returns their pids. */
  readonly thaw: (name: string) => readonly number[];
  /** The next calls of AWS by the function take `ms` longer. */
  readonly delay: (name: string, fault: CallFault & { readonly ms: number }) => ArmedFault;
  /** The next calls are refused by AWS: too many requests. */
  readonly throttle: (name: string, fault: CallFault) => ArmedFault;
  /** The next calls are executed, and not answered. */
  readonly loseReply: (name: string, fault: CallFault) => ArmedFault;
  /** kill -9 of DynamoDB, which is back after `downMs`. */
  readonly restartStore: (downMs?: number) => Promise<void>;
  /** Kills at random moments, drawn from a seed, until it is stopped. */
  readonly killAtRandom: (options: RandomKillOptions) => RandomKills;
  /** Withdraws the faults that have not struck. */
  readonly clearFaults: () => void;
  /** Calls of AWS so far. */
  readonly calls: () => readonly LocalCallCount[];
  /** Fires a schedule now. Resolves when its function has run. */
  readonly tick: (schedule: string) => Promise<void>;
  /** Puts a message into a queue, by a part of its name; returns its id. */
  readonly send: (queue: string, body: string) => string;
  /** Writes an object, with the event that follows. By a part of the bucket's name. */
  readonly putObject: (bucket: string, key: string, body: string | Buffer) => void;
  /** The buckets of the template. */
  readonly buckets: () => readonly LocalBucket[];
  /** Puts an event on a bus; returns its id. */
  readonly putEvent: (event: LocalEvent) => string;
  /** The last 1,000 events that were put on a bus. */
  readonly events: () => readonly LocalEvent[];
  /** Ends every process. The folder is deleted, unless it is to be kept. */
  readonly stop: (options?: { readonly keep?: boolean }) => Promise<void>;
}

/** A function of the template, and the processes that run it now. */
export interface LocalFunctionState {
  /** Its id in the template. */
  readonly logicalId: string;
  /** Its name, as AWS would have it. */
  readonly name: string;
  /** 'frozen': it has answered, and nothing runs in it until the next invocation, as on Lambda. */
  readonly processes: readonly { readonly pid: number; readonly state: 'busy' | 'idle' | 'frozen' }[];
  /** Invocations since the local cloud started. */
  readonly invocations: number;
}

/** How often one function has made one call to AWS. */
export interface LocalCallCount {
  /** The logical id of the function. */
  readonly caller: string;
  /** Such as 'dynamodb'. */
  readonly service: string;
  /** Such as 'UpdateItem'. */
  readonly operation: string;
  /** The table, queue, bus or bucket that was called. */
  readonly resource: string;
  /** Calls since the counts began. */
  readonly calls: number;
  /** Answered with an error. */
  readonly errors: number;
}

/** A bucket of the template, as a folder on this machine. */
export interface LocalBucket {
  /** Its id in the template. */
  readonly logicalId: string;
  /** Its name, as AWS would have it. */
  readonly name: string;
}

/** An event of the local bus. */
export interface LocalEvent {
  /** The event's sender. */
  readonly source: string;
  /** The event's type. */
  readonly detailType: string;
  /** Its body. */
  readonly detail: unknown;
}

/** Which processes are killed at random, and how often. */
export interface RandomKillOptions {
  /** The same seed, the same kills at the same times. */
  readonly seed: number;
  /** Mean time from one to the next. @default 1000 */
  readonly everyMs?: number;
  /** The processes that are killed. @default - every agent, the scheduler, and now and then a supervisor */
  readonly functions?: readonly string[];
}

/** Kills that go on until they are stopped. */
export interface RandomKills {
  /** Processes killed so far. */
  readonly count: () => number;
  /** Kills by agent or role. */
  readonly byFunction: () => Readonly<Record<string, number>>;
  /** No more kills; what has not struck is withdrawn. */
  readonly stop: () => void;
}
