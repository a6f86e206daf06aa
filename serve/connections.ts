/**
 * Bounds the connections of a server: each takes a descriptor, and a process without a free one accepts no
 * call, opens no file and starts no process.
 *
 * Owns: how many there may be, which of them is closed for the next, and the report in log and `/health`.
 * Does not own: the calls (`http.ts`), the words of `/health` (`lib/explain/situation.ts`).
 *
 * H4 No connection is refused while another one has no call: the one that has had none for longest is closed.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Telemetry } from '../lib/aws/ports.ts';
import type { Clock } from '../lib/core/ports.ts';
import type { ConnectionTrouble } from '../lib/core/values/server-troubles.ts';

/** Descriptors that are left for files, processes of agents and calls of others, and their share of all. */
const LEAST_FREE = 64;
const FREE_SHARE = 0.25;
/** The limit is read when there are this many, because that takes milliseconds. */
const FEW = 32;
const SAID_EVERY_MS = 60_000;

/** How many files and connections the system lets this process open; undefined if that is not known. */
function openFiles(): number | undefined {
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

/** Connections that were closed or refused, without a minute in which none was. */
interface Row {
  readonly since: number;
  at: number;
  saidAt: number;
  closed: number;
  refused: number;
}

export class ConnectionLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #logger: Pick<Telemetry['logger'], 'warn' | 'info'>;
  readonly #files: () => number | undefined;
  /** The calls under way of each connection; the one that has had none for longest comes first. */
  readonly #calls = new Map<Socket, number>();
  #most: number | undefined;
  #row: Row | undefined;

  /** @param files how many descriptors the process may have */
  constructor(
    clock: Pick<Clock, 'now'>,
    logger: Pick<Telemetry['logger'], 'warn' | 'info'>,
    files: () => number | undefined = openFiles,
  ) {
    this.#clock = clock;
    this.#logger = logger;
    this.#files = files;
  }

  /** The current trouble; undefined while none is refused. */
  readonly now = (): ConnectionTrouble | undefined => {
    const { since, refused = 0 } = this.#current() ?? {};
    return since === undefined || refused === 0 ? undefined : { since, refused };
  };

  bound(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#counted(socket, 0);
      socket.once('close', () => this.#calls.delete(socket));
      this.#makeRoom(server, socket);
    });
    server.on('request', ({ socket }, response) => {
      this.#counted(socket, 1);
      response.once('close', () => {
        this.#counted(socket, -1);
        this.#makeRoom(server);
      });
    });
    server.on('drop', () => this.#met('refused'));
  }

  #counted(socket: Socket, more: number): void {
    const calls = (this.#calls.get(socket) ?? 0) + more;
    this.#calls.delete(socket);
    if (!socket.destroyed) this.#calls.set(socket, calls);
  }

  /** Closes a connection without a call if the next would be refused. */
  #makeRoom(server: Server, latest?: Socket): void {
    if (this.#calls.size < FEW && this.#most === undefined) return;
    this.#most ??= mostOf(this.#files());
    server.maxConnections = this.#most;
    if (this.#calls.size < this.#most) return;
    for (const [socket, calls] of this.#calls) {
      if (calls > 0 || socket === latest) continue;
      this.#calls.delete(socket);
      socket.destroy();
      return this.#met('closed');
    }
  }

  #met(what: 'closed' | 'refused'): void {
    const now = this.#clock.now();
    const begun = { since: now, at: now, saidAt: Number.NEGATIVE_INFINITY, closed: 0, refused: 0 };
    const row = this.#current() ?? begun;
    this.#row = row;
    row.at = now;
    row[what] += 1;
    const isFirst = what === 'refused' && row.refused === 1;
    if (!isFirst && now - row.saidAt < SAID_EVERY_MS) return;
    row.saidAt = now;
    const { closed, refused } = row;
    this.#logger.warn('connections-full', { most: this.#most, closed, refused });
  }

  #current(): Row | undefined {
    const row = this.#row;
    if (row === undefined || this.#clock.now() - row.at < SAID_EVERY_MS) return row;
    const { closed, refused } = row;
    this.#row = undefined;
    this.#logger.info('connections-free-again', { closed, refused });
    return undefined;
  }
}

/** How many connections leave descriptors for all else. */
const mostOf = (files: number = Number.POSITIVE_INFINITY): number =>
  Math.max(1, Math.floor(files - Math.max(LEAST_FREE, files * FREE_SHARE)));
