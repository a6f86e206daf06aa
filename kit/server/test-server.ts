/**
 * The types of `startServer`, which serves workflows over a real HTTP API in the test's process.
 *
 * Owns: the types. Does not own: the start (`start-server.ts`), the server (`serve/`).
 */

import type { KeysOf } from '../../lib/core/values/options.ts';
import type { Client, KnownWorkflows } from '../../lib/api/typed-client.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { TestAgent } from '../workflow-test.ts';

/** The options of a test server: its workflows, and its file. */
export interface TestServerOptions {
  /**
   * The workflows that can be started, or a folder as for `steadfast serve`, with its agents and schedules.
   */
  readonly workflows: readonly Workflow[] | string;
  /** The handlers of the workflows' agents. Those of a folder are found in it, and refused here. */
  readonly agents?: readonly TestAgent[];
  /**
   * The SQLite file, for a test that starts a second server over it.
   * @default - in memory
   */
  readonly file?: string;
  /** Called with each event that AWS's bus would get. If it rejects, the event is delivered again. */
  readonly onEvent?: (event: TestServerEvent) => Promise<void> | void;
  /**
   * Signs the events sent to the `callbackUrl` of a start, which may be on this machine; at least 24 bytes.
   * @default - a start may have no callbackUrl
   */
  readonly eventsSecret?: string;
  /** The rate of each agent's attempts, such as '50/s'. @default no limit */
  readonly rates?: Readonly<Record<string, string>>;
  /** How long attempts may continue when the server is stopped, in ms. @default 0 */
  readonly stopWithinMs?: number;
  /** Whether it writes log lines and metrics. @default false */
  readonly logs?: boolean;
}

export const SERVER = {
  workflows: true,
  agents: true,
  file: true,
  onEvent: true,
  eventsSecret: true,
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
  /** When it was announced, in epoch ms. */
  readonly at: number;
  /** The event's body. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A running `steadfast serve` for one test, in the test's own process. */
export interface TestServer<W extends KnownWorkflows = KnownWorkflows> {
  /** The address of the HTTP API. */
  readonly url: string;
  /** A client of the API, typed by its workflows. */
  readonly client: Client<W>;
  /** Resolves once the work that an earlier server left in the file has been resumed. */
  readonly resumed: Promise<unknown>;
  /** Stops the server, and removes its file unless the test named it. */
  readonly stop: () => Promise<void>;
}
