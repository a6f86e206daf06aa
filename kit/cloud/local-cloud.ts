/**
 * The types of `startCloud`, which runs a project on the local cloud for a test or a script.
 *
 * Owns: the types. Does not own: the start (`start-cloud.ts`), random kills (`random-kills.ts`).
 */

import type { KeysOf } from '../../lib/core/values/options.ts';
import type { Client, KnownWorkflows } from '../../lib/api/typed-client.ts';
import type { ArmedFault, CallFault, FaultMoment } from '../../local/control/fault.ts';

/** The options of a local cloud: which project it runs, and how. */
export interface LocalCloudOptions {
  /**
   * The folder of the CDK app, or one below it.
   * @default - the working directory
   */
  readonly project?: string;
  /**
   * The command that runs the CDK app.
   * @default - the command in cdk.json
   */
  readonly app?: string;
  /** Added to the context of the app, as `cdk -c` does. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** A folder of workflow folders, that makes an app instead of the project's. Refused beside `app`. */
  readonly workflows?: string;
  /**
   * The names of the workflow folders to run, with `workflows`; and of those whose `dev.ts` is started.
   * @default - all
   */
  readonly only?: readonly string[];
  /**
   * The folder of a synthesised assembly (`cdk.out`), so that nothing is synthesised. Refused beside `app`,
   * `context` and `workflows`.
   */
  readonly assembly?: string;
  /** The stack to run, if several contain a Steadfast. */
  readonly stack?: string;
  /** The Steadfast to run, if the stack contains several. */
  readonly name?: string;
  /** Added to every function's environment; overrides variables of a `dev.ts`. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Whether the `dev.ts` of the workflow folders are started, in a separate process with separate data.
   * @default true
   */
  readonly external?: boolean;
  /** Whether schedules tick: supervisors start every minute. @default true */
  readonly schedules?: boolean;
  /** The most processes of one function at a time. @default 10 */
  readonly processesPerFunction?: number;
  /** The port of the HTTP API. @default - any free one */
  readonly port?: number;
  /** Aborts the start, and later stops the cloud; nothing is left running. */
  readonly signal?: AbortSignal;
  /** Called with the progress of the start, and with the cloud's warnings. */
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
  /**
   * A client of the API. It repeats a call without an answer for 300 s, five times as long as `createClient`
   * does by default, because processes are killed.
   */
  readonly client: Client<W>;
  /** The folder of the tables, the queues and the logs. */
  readonly folder: string;
  /** The environment that every function gets from `environment` and each `dev.ts`. */
  readonly environment: Readonly<Record<string, string>>;
  /** The cloud's problems: requests that no policy allows, events without a target. */
  readonly problems: readonly string[];
  /** The processes of each agent and each role. */
  readonly functions: () => readonly LocalFunctionState[];
  /**
   * Kills the processes of an agent (`'charge-card'`) or a role (`'scheduler'`, `'supervisor'`) by SIGKILL:
   * by default every one at work now or, if none is, every warm one. Given a moment, it waits for that: `hit`
   * of the result says what was killed. An agent in a container can be killed only now: its worker dies, idle
   * or not, and is started again, as by ECS.
   * @example
   * const { hit } = cloud.kill('charge-card', { afterCall: 1, operation: 'PutItem' });
   * export const { outcome, pids } = await hit;
   * @throws Error for a name that does not exist, which names the functions that do; for a moment of an agent
   * in a container; for `beforeCall` or `afterCall` below 1
   */
  readonly kill: (name: string, when?: FaultMoment) => ArmedFault;
  /**
   * Stops, by SIGSTOP, the processes that `kill` would end at that moment: they live and do nothing until
   * `thaw`, or until the function's timeout ends them. Agents in containers cannot be frozen.
   * @throws Error as `kill` does
   */
  readonly freeze: (name: string, when?: FaultMoment) => ArmedFault;
  /** Continues every frozen process of a function by SIGCONT; returns their pids. @throws Error as `kill` */
  readonly thaw: (name: string) => readonly number[];
  /**
   * Delays the function's next AWS calls, `calls` of them, by `ms` each.
   * @throws Error for an unknown name, `calls` below 1, or a negative `ms`
   */
  readonly delay: (name: string, fault: CallFault & { readonly ms: number }) => ArmedFault;
  /**
   * Refuses the function's next AWS calls, `calls` of them, with "too many requests", which the roles repeat.
   * @throws Error for an unknown name, or `calls` below 1
   */
  readonly throttle: (name: string, fault: CallFault) => ArmedFault;
  /**
   * Executes the function's next AWS calls, `calls` of them, and closes the connection without an answer.
   * @throws Error for an unknown name, or `calls` below 1
   */
  readonly loseReply: (name: string, fault: CallFault) => ArmedFault;
  /**
   * Kills DynamoDB by SIGKILL and starts it again, with its data, after `downMs`. Resolves when it takes
   * calls again. Not possible if `AWS_ENDPOINT_URL_DYNAMODB` names a DynamoDB of your own.
   * @param downMs in ms; 0 by default
   * @throws Error for a DynamoDB of your own
   */
  readonly restartStore: (downMs?: number) => Promise<void>;
  /**
   * Kills at random moments, computed from a seed, until it is stopped. The worker of a container is killed
   * at once, whatever it is doing.
   */
  readonly killAtRandom: (options: RandomKillOptions) => RandomKills;
  /** Withdraws the faults that have not struck. */
  readonly clearFaults: () => void;
  /** The calls to AWS so far. */
  readonly calls: () => readonly LocalCallCount[];
  /**
   * Fires a schedule now, a disabled one too. Resolves when its function has run.
   * @throws Error whose message names the schedules that exist
   */
  readonly tick: (schedule: string) => Promise<void>;
  /**
   * Puts a message into the queue whose name contains this text; returns its id.
   * @throws Error if no queue, or more than one, has such a name
   */
  readonly send: (queue: string, body: string) => string;
  /**
   * Writes an object into the bucket whose name contains this text, and announces it.
   * @throws Error if no bucket, or more than one, has such a name
   */
  readonly putObject: (bucket: string, key: string, body: string | Buffer) => void;
  /** The buckets of the template. */
  readonly buckets: () => readonly LocalBucket[];
  /** Puts an event on a bus; returns its id. */
  readonly putEvent: (event: LocalEvent) => string;
  /** The last 1,000 events that were put on a bus. */
  readonly events: () => readonly LocalEvent[];
  /** Ends every process, and deletes the folder unless `keep` is set. A second call does nothing more. */
  readonly stop: (options?: { readonly keep?: boolean }) => Promise<void>;
}

/** A function of the template, and the processes that run it now. */
export interface LocalFunctionState {
  /** Its id in the template. */
  readonly logicalId: string;
  /** Its name, as on AWS. */
  readonly name: string;
  /** 'frozen': it has answered, and is stopped until the next invocation, as on Lambda. */
  readonly processes: readonly { readonly pid: number; readonly state: 'busy' | 'idle' | 'frozen' }[];
  /** Invocations since the local cloud started. */
  readonly invocations: number;
}

/** The number of calls of one kind that one function made. */
export interface LocalCallCount {
  /** The logical id of the function. */
  readonly caller: string;
  /** The service, such as 'dynamodb'. */
  readonly service: string;
  /** The operation, such as 'UpdateItem'. */
  readonly operation: string;
  /** The table, queue, bus or bucket that was called. */
  readonly resource: string;
  /** The number of calls since the counts began. */
  readonly calls: number;
  /** The number of calls that were answered with an error. */
  readonly errors: number;
}

/** A bucket of the template, as a folder on this machine. */
export interface LocalBucket {
  /** Its id in the template. */
  readonly logicalId: string;
  /** Its name, as on AWS. */
  readonly name: string;
}

/** An event of the local bus. */
export interface LocalEvent {
  /** The event's sender. */
  readonly source: string;
  /** The event's type. */
  readonly detailType: string;
  /** The event's body. */
  readonly detail: unknown;
}

/** The options of random kills. */
export interface RandomKillOptions {
  /** The seed: the same one gives the same kills at the same times. */
  readonly seed: number;
  /** The mean time between two kills. @default 1000 */
  readonly everyMs?: number;
  /** The targets. @default - every agent, the scheduler, and now and then a supervisor */
  readonly functions?: readonly string[];
}

/** Random kills under way. */
export interface RandomKills {
  /** The number of processes killed so far. */
  readonly count: () => number;
  /** The number of kills for each agent or role. */
  readonly byFunction: () => Readonly<Record<string, number>>;
  /** Stops the kills, and withdraws those that have not struck. */
  readonly stop: () => void;
}
