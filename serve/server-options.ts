/**
 * The options of a server.
 *
 * Does not own: what each of it does (`server.ts` names the file).
 */

import type { MachineTime } from '../lib/aws/clock.ts';
import type { Listeners } from '../local/http/by-path.ts';
import type { Listener } from './announcer.ts';
import type { EventTarget } from './signed-event.ts';
import type { Fetches } from './http.ts';
import type { Tokens } from './tokens.ts';
import type { Served } from './workflows.ts';

/** Answers a call in this process, as the port does. */
export type Api = Fetches;

export interface ServerOptions {
  readonly served: Served;
  /** The SQLite file; made if missing. */
  readonly file: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** @default 127.0.0.1; another needs tokens */
  readonly host?: string;
  readonly tokens?: Tokens;
  /** Attempts of an agent at the same time. @default 100 */
  readonly concurrency?: number;
  /**
   * Whether agents' code runs in processes of its own, which are ended in place of this one, or in this one.
   * @default 'in-process', but for those of `isolate`
   */
  readonly agents?: 'workers' | 'in-process';
  /** The memory that each of those processes may have, in MB. @default 2,048 */
  readonly workerMemoryMb?: number;
  /**
   * Agents each of whose attempts has a process of its own, which can be killed.
   * @default those that say `isolate`, or run in containers on AWS
   */
  readonly isolate?: readonly string[];
  /** How many attempts of each agent may begin, such as '50/s'. @default as many as come */
  readonly rates?: Readonly<Record<string, string>>;
  /** How long an ended execution is kept. @default 30 days */
  readonly retentionMs?: number;
  /** How long attempts and calls may go on when it is stopped. @default 20 s */
  readonly stopWithinMs?: number;
  /**
   * The process is the server's own: it is ended when nothing else ends an attempt (`watchdog.ts`).
   * @default false, as in a test
   */
  readonly isOwnProcess?: boolean;
  /** Writes no log lines and no metrics. @default false */
  readonly isQuiet?: boolean;
  /** Takes each line of metrics, once a minute, as CloudWatch reads it. */
  readonly onMetrics?: (line: string) => void;
  /** Further handlers on the port, by the beginning of their paths. */
  readonly beside?: (api: Api) => Listeners;
  readonly listeners?: readonly Listener[];
  /** Whom events are sent to, signed, at least once. @default nobody */
  readonly eventsTo?: EventTarget;
  /** Called once when the file can no longer be read or written: then the server is of no use. */
  readonly onBroken?: (error: Error) => void;
  /** Before each commit: what it throws counts as said by the disk. For tests. */
  readonly onCommit?: () => void;
  /** The machine's time, for tests. @default the machine's */
  readonly machine?: MachineTime;
}
