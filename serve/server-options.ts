/**
 * The options of a server.
 *
 * Does not own: the effect of each (`server.ts` names the file).
 */

import type { MachineTime } from '../lib/aws/clock.ts';
import type { Listeners } from '../local/http/by-path.ts';
import type { Listener } from './announcer.ts';
import type { EventTarget } from './signed-event.ts';
import type { Fetches } from './http.ts';
import type { Tokens } from './tokens.ts';
import type { Served } from './workflows.ts';

/** Answers a call from this process as a request to the port. */
export type Api = Fetches;

export interface ServerOptions {
  readonly served: Served;
  /** The SQLite file; created if missing. */
  readonly file: string;
  /** The port; 0 takes any free one. */
  readonly port: number;
  /** The host. @default 127.0.0.1; any other needs tokens */
  readonly host?: string;
  readonly tokens?: Tokens;
  /** How many attempts of an agent may run at the same time. @default 100 */
  readonly concurrency?: number;
  /**
   * Whether agents' code runs in separate processes, which can be killed alone, or in this one.
   * @default 'in-process', except for agents in `isolate`
   */
  readonly agents?: 'workers' | 'in-process';
  /** The memory that each of those processes may have, in MB. @default 2,048 */
  readonly workerMemoryMb?: number;
  /**
   * Agents whose attempts each have a process of their own, which can be killed.
   * @default those that declare `isolate`, or run in containers on AWS
   */
  readonly isolate?: readonly string[];
  /** How many attempts of each agent may begin, such as '50/s'. @default no limit */
  readonly rates?: Readonly<Record<string, string>>;
  /** How long an ended execution is kept. @default 30 days */
  readonly retentionMs?: number;
  /** How long attempts and calls may continue after the server is stopped. @default 20 s */
  readonly stopWithinMs?: number;
  /**
   * Whether the server may kill this process if nothing else ends an attempt (`watchdog.ts`).
   * @default false, as in a test
   */
  readonly isOwnProcess?: boolean;
  /** Writes no log lines and no metrics. @default false */
  readonly isQuiet?: boolean;
  /** Receives each line of metrics, once a minute, as CloudWatch reads it. */
  readonly onMetrics?: (line: string) => void;
  /** Further handlers on the port, by path prefix. */
  readonly beside?: (api: Api) => Listeners;
  readonly listeners?: readonly Listener[];
  /** The receiver of events, which are signed and sent at least once. @default nobody */
  readonly eventsTo?: EventTarget;
  /** Signs the events sent to the `callbackUrl` of a start. @default no start may have one */
  readonly notificationSecret?: Buffer;
  /** Whether a `callbackUrl` may be on this machine or in a private network. @default false */
  readonly allowsPrivateNotifications?: boolean;
  /** Called once when the file can no longer be read or written: the server must then end. */
  readonly onBroken?: (error: Error) => void;
  /** Called before each commit: an error that it throws counts as the disk's. For tests. */
  readonly onCommit?: () => void;
  /** The machine's time, replaced in tests. @default the machine's */
  readonly machine?: MachineTime;
}
