/**
 * The options of `startServer` and its result: workflows behind a real HTTP API, in the test's own process.
 *
 * Owns: the types. Does not own: how it is started (`start-server.ts`), the server (`serve/`).
 */

import type { KeysOf } from '../../lib/core/values/options.ts';
import type { Client, KnownWorkflows } from '../../lib/api/typed-client.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { TestAgent } from '../workflow-test.ts';

/** The workflows of a test server, and its file. */
export interface TestServerOptions {
  /**
   * The workflows that can be started; or a folder as `steadfast serve` takes one, with its agents and
   * schedules.
   */
  readonly workflows: readonly Workflow[] | string;
  /** One for every agent of workflows that are not in a folder. */
  readonly agents?: readonly TestAgent[];
  /**
   * The SQLite file, for a test that starts a second server over it.
   * @default - in memory
   */
  readonly file?: string;
  /** Is called with each event that AWS's bus would get; one that rejects hears of it again. */
  readonly onEvent?: (event: TestServerEvent) => Promise<void> | void;
  /** How many attempts of each agent may begin, such as '50/s'. @default as many as come */
  readonly rates?: Readonly<Record<string, string>>;
  /** How long attempts may go on when it is stopped, in ms. @default 0 */
  readonly stopWithinMs?: number;
  /** Whether it writes log lines and metrics. @default false */
  readonly logs?: boolean;
}

export const SERVER = {
  workflows: true,
  agents: true,
  file: true,
  onEvent: true,
  rates: true,
  stopWithinMs: true,
  logs: true,
} as const satisfies KeysOf<TestServerOptions>;

/** An event that the server announced. */
export interface TestServerEvent {
  /** The event's sender. */
  readonly source: string;
  /** The event's type. */
  readonly detailType: string;
  /** Epoch ms. */
  readonly at: number;
  /** Its body. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A running `steadfast serve`, in a process of its own, for one test. */
export interface TestServer<W extends KnownWorkflows = KnownWorkflows> {
  /** The address of the HTTP API. */
  readonly url: string;
  /** Calls it, typed by its workflows. */
  readonly client: Client<W>;
  /** Resolves once all that an earlier server left in the file goes on. */
  readonly resumed: Promise<unknown>;
  /** Ends the process; its file is removed unless it was named. */
  readonly stop: () => Promise<void>;
}
