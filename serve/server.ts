/**
 * All of Steadfast in one process, over one file: API, agents, supervisor, audit, schedules.
 *
 * Owns: starting and stopping the parts in order, and leaving nothing behind. Does not own: any of the parts.
 * `cli/` and `kit/` may import it. `lib` does not depend on it, nor it on the CDK.
 *
 * Start: the file and its lock; the queue; the API; then resuming, supervision and schedules. Stop: no new
 * call, message or evaluation; work in progress continues within its grace period; the file.
 */

import { routes } from '../lib/api/routes.ts';
import { MACHINE, type MachineTime } from '../lib/aws/clock.ts';
import { OPENAPI_FILE } from '../lib/aws/names.ts';
import { type OpenNow, openNow } from '../lib/aws/open-now.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import { tellAll } from '../lib/aws/telemetry.ts';
import { BULK } from '../lib/core/plan/built-in.ts';
import { refuse, sayable } from '../lib/core/values/errors.ts';
import { defined } from '../lib/core/values/defined.ts';
import { docsText } from '../lib/project/package-files.ts';
import type { Scheduler } from '../lib/scheduler/start.ts';
import { Grace } from '../lib/supervisor/outage.ts';
import { startFrom } from '../lib/scheduler/starter.ts';
import { byPath, type Listeners } from '../local/http/by-path.ts';
import { listenersAsBus } from './announcer.ts';
import { AwaitedEnds } from './awaited-ends.ts';
import { BlockedSteps, lineOf } from './blocked.ts';
import { newBoot } from './boot.ts';
import { ConnectionLimit } from './connections.ts';
import { EndingClock } from './ending-clock.ts';
import { valuesOf } from './folder-values.ts';
import { type Answers, answersOf, apiListener, dated, type HttpServer, listenAt, LOOPBACK } from './http.ts';
import { LatestTime } from './latest-time.ts';
import { LoopClock } from './loop-clock.ts';
import { MessageQueue } from './message-queue.ts';
import { MEASURED, serverPorts, Telemetries, withTelemetry } from './ports.ts';
import { type Outbox, outboxOf } from './outbox.ts';
import { plannedIn } from './planned.ts';
import { resume, type Resumed } from './resume.ts';
import { host, hostBulk, MOST_BULK_PAGES, type Roles, schedulerOf } from './roles.ts';
import { keepSchedules } from './schedules.ts';
import type { ServerOptions } from './server-options.ts';
import { type Database, openDatabase, TABLE_NAME } from './sqlite/client.ts';
import { auditAlways, supervise } from './supervisor.ts';
import { saidValues } from './said-values.ts';
import { JUMP_MS, jumpText, SteadyTime } from './steady-time.ts';
import { Tokens } from './tokens.ts';
import { UnkeptWrites } from './unkept-writes.ts';
import { Watchdog } from './watchdog.ts';
import { TroubleBook } from './worker-troubles.ts';
import { within } from './within.ts';
import { webhookListeners, webhookPaths } from './webhooks.ts';
import { Workers, WORKER_MEMORY_MB } from './workers.ts';

export interface Server {
  readonly url: string;
  readonly port: number;
  readonly workflows: readonly string[];
  /** The paths for webhooks, whose senders are identified by their signatures. */
  readonly webhooks: readonly string[];
  /** Answers a call from this process as a request to the port. */
  readonly answer: Answers;
  /** Resolves once the work that an earlier process left has been resumed. */
  readonly resumed: Promise<Resumed>;
  readonly stop: () => Promise<void>;
}

const CONCURRENCY = 100;
const STOP_WITHIN_MS = 20_000;
const RETENTION_MS = 30 * 24 * 3_600_000;
const METRICS_EVERY_MS = 60_000;
/** How long a stop waits for the loops: enough for an evaluation, or the rest of a page of the audit. */
const LOOPS_END_MS = 2_000;
/** The longest gap between two messages for one piece of work, including the time to take one. */
const LONGEST_GAP_MS = 30 * 60_000;

/** @throws Error with advice, after releasing everything */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host: address = LOOPBACK, tokens = Tokens.none } = options;
  if (address !== LOOPBACK && tokens.size === 0)
    throw new Error(`${address} needs tokens: without them every caller may do anything`);
  const running = new Running(options);
  try {
    return await running.start(address, tokens);
  } catch (error) {
    await running.release();
    throw error;
  }
}

async function expireAll(database: Database, { now }: EndingClock): Promise<void> {
  while ((await database.expire(now())) > 0);
}

/** Functions of the file that the loops use besides their ports. */
interface FileCalls {
  readonly expire: () => unknown;
  readonly open: () => Promise<OpenNow>;
  readonly outbox: Outbox | undefined;
}

const NONE: Resumed['missing'] = new Map();

/** How long a failure to store a large value is reported: no later call may prove that the fault is gone. */
const VALUES_LAST_MS = 60_000;

class Running {
  readonly #options: ServerOptions;
  readonly #stopping = new AbortController();
  readonly #telemetries: Telemetries;
  readonly #own: Telemetry;
  readonly #boot = newBoot();
  readonly #machine: MachineTime;
  readonly #time: SteadyTime;
  readonly #clock: EndingClock;
  readonly #undo: (() => unknown)[] = [];
  #stopped: Promise<void> | undefined;
  readonly #grace = new Grace();
  readonly #troubles = new TroubleBook();
  readonly #connections: ConnectionLimit;
  #timeSkipped: () => void = () => undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#telemetries = new Telemetries(options.isQuiet ?? false, options.onMetrics);
    this.#own = this.#telemetries.of({ role: 'server' });
    this.#machine = options.machine ?? MACHINE;
    this.#time = new SteadyTime((byMs, skippedMs) => this.#jumped(byMs, skippedMs), this.#machine);
    this.#clock = new EndingClock(this.#time.now, () => this.#time.aheadMs);
    this.#connections = new ConnectionLimit(this.#clock, this.#own.logger);
  }

  /** @param byMs below zero: the machine's clock was set back */
  #jumped(byMs: number, skippedMs: number): void {
    this.#own.logger.warn('clock-jumped', { ms: byMs, aheadMs: this.#time.aheadMs, detail: jumpText(byMs) });
    // Gives the attempts in progress the length of a lease to send heartbeats again.
    if (skippedMs >= JUMP_MS) this.#away(skippedMs);
  }

  /** Called when the event loop was blocked for this long. */
  #stood(ms: number, blocked: BlockedSteps): void {
    blocked.noticed(ms);
    // In this process, a separate thread ends authors' code (`watchdog.ts`).
    if (this.#areApart) this.#away(ms);
  }

  #away(ms: number): void {
    this.#grace.wasAway(this.#time.now(), ms);
    this.#timeSkipped();
  }

  async start(address: string, tokens: Tokens): Promise<Server> {
    const { served, port, beside } = this.#options;
    const { roles, loop, ...calls } = await this.#roles();
    const scheduler = schedulerOf(roles, served.workflows, this.#options.notificationSecret !== undefined);
    this.#hostAgents(roles, loop);
    hostBulk(roles, scheduler);
    const measured = this.#options.onMetrics && MEASURED;
    const routed = routes(scheduler, roles.ports.receipts, openapi, async () => served.forms, measured);
    const api = dated(routed, this.#time.now);
    const parts = { now: this.#time.now, metrics: () => this.#telemetries.text() };
    const listeners = { ...beside?.(api), ...this.#webhooks(scheduler) };
    const listener = byPath(listeners, apiListener(api, tokens, parts));
    const http = await listenAt(address, port, listener, this.#connections);
    const { loops, resumed } = this.#loops(roles, loop, calls);
    loops.push(...this.#schedules(scheduler, roles));
    // A failure in a loop is logged, and does not end the server.
    for (const one of loops)
      one.catch((error: unknown) => this.#own.logger.error('loop-failed', { detail: sayable(error) }));
    return {
      url: http.url,
      port: http.port,
      answer: answersOf(api),
      workflows: [...scheduler.workflows.keys()],
      webhooks: webhookPaths(served.triggers),
      resumed,
      stop: () => (this.#stopped ??= this.#stop(http, roles.queue, loops)),
    };
  }

  /** Releases in reverse order. */
  async release(): Promise<void> {
    for (const step of this.#undo.splice(0).toReversed()) await step();
  }

  get #limit(): number {
    return this.#options.concurrency ?? CONCURRENCY;
  }

  get #retentionMs(): number {
    return this.#options.retentionMs ?? RETENTION_MS;
  }

  async #roles(): Promise<FileCalls & { readonly roles: Roles; readonly loop: LoopClock }> {
    const [{ served, file, onCommit, listeners = [] }, own] = [this.#options, this.#own];
    const onBroken = (error: Error): void => {
      own.logger.error('file-broken', { detail: error.message });
      this.#options.onBroken?.(error);
    };
    // The error for log and callers: the whole sentence.
    const worded = ({ message }: Error): Error => refuse('not-kept', message);
    const unkept = new UnkeptWrites(this.#clock, own.logger);
    const unkeptValues = new UnkeptWrites(this.#clock, own.logger, VALUES_LAST_MS);
    const onCommitted = (): void => {
      unkept.onCommitted();
      latest?.changed();
    };
    let latest: LatestTime | undefined;
    const events = { onBroken, onFailed: unkept.onFailed, onCommitted, ...defined({ onCommit }) };
    const database = openDatabase(file, { ...events, worded });
    this.#undo.push(() => {
      this.#clock.end();
      database.close();
    });
    latest = await LatestTime.keeping(database.client, TABLE_NAME, this.#time, own.logger);
    this.#undo.push(() => latest?.end());
    const queue = new MessageQueue();
    const blocked = new BlockedSteps((found) => own.logger.warn('loop-blocked', lineOf(found)));
    const ends = new AwaitedEnds();
    const common = { client: database.client, clock: this.#clock };
    const execution = (id: string) => ports.store.readExecution(id);
    const sending = { ...common, logger: own.logger, wall: this.#machine.wall, execution };
    const outbox = outboxOf(this.#options, sending);
    const parts = {
      ...common,
      findAtRisk: database.findAtRisk,
      values: saidValues(await valuesOf(file), unkeptValues, worded),
      queue,
      announcer: listenersAsBus(new Set([ends.listener, ...listeners, ...(outbox ? [outbox.listener] : [])])),
      ends,
      random: this.#boot,
      storageTrouble: () => unkept.now() ?? unkeptValues.now(),
      connectionTrouble: this.#connections.now,
      issuesInParts: blocked.checking(served),
      away: () => this.#grace.away,
      workerTroubles: () => this.#troubles.now(this.#clock.now()),
      startedAt: this.#clock.now(),
      retentionMs: this.#retentionMs,
    };
    const ports = serverPorts(parts, tellAll(own.logger, own.meter));
    const loop = new LoopClock(this.#clock, (ms) => this.#stood(ms, blocked), this.#machine.elapsed);
    const planned = plannedIn(database.client, TABLE_NAME);
    const until = defined({ until: this.#watched() });
    const shared = { telemetries: this.#telemetries, queue, blocked, planned, ...until };
    const roles = { ports, plans: new Map(), ...shared };
    const agents = [...served.agents.keys()];
    return {
      roles,
      loop,
      outbox,
      expire: () => expireAll(database, this.#clock),
      open: () => openNow(database.client, TABLE_NAME, agents, this.#clock.now(), database.counted),
    };
  }

  #hostAgents(roles: Roles, loop: LoopClock): void {
    const { served, isolate = [], rates = {} } = this.#options;
    const limit = this.#limit;
    const unknown = [...isolate, ...Object.keys(rates)].find((name) => !served.agents.has(name));
    if (unknown !== undefined)
      throw new Error(`no agent is named '${unknown}'; there are ${[...served.agents.keys()].join(', ')}`);
    const workers = this.#workers(loop);
    for (const [name, { worker }] of served.agents)
      host(roles, { worker, limit, ...defined({ rate: rates[name], apart: workers.of(worker) }) });
  }

  get #areApart(): boolean {
    return this.#options.agents === 'workers';
  }

  #workers(loop: LoopClock): Workers {
    const { served, isolate = [], workerMemoryMb: memoryMb = WORKER_MEMORY_MB } = this.#options;
    const log = (what: string, fields: object): void => this.#own.logger.warn(what, { ...fields });
    const settings = { isolate, areApart: this.#areApart, memoryMb, now: loop.now, ran: loop.ran, log };
    const workers = new Workers({ agents: served.agents, ...settings, troubles: this.#troubles });
    this.#undo.push(() => workers.stop());
    this.#timeSkipped = workers.timeSkipped;
    workers.warm();
    return workers;
  }

  /** Limits attempts that run in this process; undefined if they run in processes of their own. */
  #watched(): Roles['until'] {
    if (this.#options.isOwnProcess !== true || this.#areApart) return undefined;
    const names = [...this.#options.served.agents.keys(), BULK.name];
    const watchdog = new Watchdog(names, names.length * this.#limit + MOST_BULK_PAGES);
    this.#undo.push(() => watchdog.stop());
    return (agent, deadlineAt) => watchdog.until(agent, deadlineAt - this.#clock.now());
  }

  #loops(
    { ports, plans }: Roles,
    loop: LoopClock,
    { expire, open, outbox }: FileCalls,
  ): { readonly loops: Promise<unknown>[]; readonly resumed: Promise<Resumed> } {
    const { signal } = this.#stopping;
    loop.start();
    this.#undo.push(() => loop.stop());
    const flushing = setInterval(() => this.#telemetries.flush(), METRICS_EVERY_MS);
    this.#undo.push(() => {
      clearInterval(flushing);
      this.#telemetries.flush();
    });
    const telemetry = this.#telemetries.of({ role: 'supervisor' });
    const supervisor = withTelemetry(ports, telemetry);
    const audit = this.#telemetries.of({ role: 'audit' });
    const untilAt = this.#clock.now() + LONGEST_GAP_MS + this.#longestLeaseMs;
    const resumed = resume(supervisor, plans, {
      isOurs: this.#boot.isOurs,
      untilAt,
      agentsApart: this.#areApart,
      stopping: signal,
    });
    const memory = { plans, grace: this.#grace };
    // Passes on executions whose agent is missing here: the supervisor alone would find them half a minute
    // later.
    let missing: Resumed['missing'] = NONE;
    void resumed.then((found) => (missing = found.missing)).catch(() => undefined);
    const takeMissing = (): Resumed['missing'] => {
      const met = missing;
      missing = NONE;
      return met;
    };
    const loops = [
      resumed,
      ...(outbox ? [outbox.run(signal)] : []),
      supervise({ ...supervisor, clock: loop }, memory, telemetry, { open, takeMissing }, signal),
      auditAlways(withTelemetry(ports, audit), audit, { retentionMs: this.#retentionMs }, expire, signal),
    ];
    return { loops, resumed };
  }

  #schedules(scheduler: Scheduler, { planned }: Roles): Promise<void>[] {
    const { logger } = this.#telemetries.of({ role: 'starter' });
    return keepSchedules(this.#options.served.triggers, {
      // Schedules use the machine's time, even if the server's time is ahead.
      clock: { now: this.#machine.wall, sleep: this.#clock.sleep },
      random: this.#boot,
      planned,
      start: (of, message) => startFrom(scheduler, of, message),
      log: (what, fields) => logger.warn(what, { ...fields }),
      stopping: this.#stopping.signal,
    });
  }

  #webhooks(scheduler: Scheduler): Listeners {
    const { logger } = this.#telemetries.of({ role: 'starter' });
    return webhookListeners(this.#options.served.triggers, {
      now: this.#machine.wall,
      start: (of, message) => startFrom(scheduler, of, message),
      log: (what, fields) => logger.warn(what, { ...fields }),
    });
  }

  get #longestLeaseMs(): number {
    const agents = [...this.#options.served.agents.values()];
    return Math.max(0, ...agents.map(({ worker }) => worker.agent.spec.leaseMs));
  }

  async #stop(http: HttpServer, queue: MessageQueue, loops: readonly Promise<unknown>[]): Promise<void> {
    const { stopWithinMs = STOP_WITHIN_MS } = this.#options;
    this.#stopping.abort();
    queue.stop();
    await Promise.all([http.stop(stopWithinMs), within(queue.idle(), stopWithinMs)]);
    await within(Promise.allSettled(loops), LOOPS_END_MS);
    await this.release();
  }
}

const openapi = (): Promise<string> => docsText(OPENAPI_FILE);
