/**
 * Runs the embedded DynamoDB: finds its binary, starts it, restarts it when it dies, stops it. Does not own:
 * tables (tables.ts), forwarding calls (proxy.ts).
 *
 * Invariants
 * - I1 it is on the guardian's list, so it does not outlive the cloud.
 * - I2 it writes its process id beside its file before it opens the file, so that a later process can end it.
 * - I3 `ready()` resolves only when the database answers at `address`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Guardian } from '../processes/guardian.ts';
import { freePort } from '../processes/free-port.ts';
import { type DatabaseFiles, databaseFilesIn } from './database-files.ts';

export interface DynamoAddress {
  readonly host: string;
  readonly port: number;
}

/** The server that takes DynamoDB's calls. */
export interface DynamoServer {
  readonly address: DynamoAddress;
  /** Whether calls are accepted now; false during a `restart`'s `downMs`. */
  readonly accepting: boolean;
  ready(): Promise<void>;
  /** Kills it (-9) and starts it again after `downMs`. Resolves when it is ready again. */
  restart(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 10_000;
const PROBE_EVERY_MS = 5;
/**
 * A server that dies earlier counts as not started; after several such deaths in a row it is not restarted.
 */
const SHORT_LIFE_MS = 1000;
const MAX_SHORT_LIVES = 3;

/** Uses the user's own DynamoDB (`AWS_ENDPOINT_URL_DYNAMODB`). */
export function outsideDynamo(endpoint: string): DynamoServer {
  const url = new URL(endpoint);
  if (url.protocol !== 'http:') {
    throw new Error(
      `AWS_ENDPOINT_URL_DYNAMODB is ${endpoint}: the local cloud forwards to http:// endpoints only`,
    );
  }
  return {
    address: { host: url.hostname, port: Number(url.port || 80) },
    accepting: true,
    ready: async () => {},
    restart: async () => {
      throw new Error(
        'the local cloud cannot restart DynamoDB, because AWS_ENDPOINT_URL_DYNAMODB points to another one',
      );
    },
    stop: async () => {},
  };
}

/** Uses the user's own server if the environment names one; otherwise starts the embedded one. */
export async function startDynamo(
  directory: string,
  logPath: string,
  guardian: Guardian,
  onProblem: (message: string) => void,
): Promise<DynamoServer> {
  const endpoint = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (endpoint !== undefined && endpoint !== '') return outsideDynamo(endpoint);
  const embedded = new EmbeddedDynamo(directory, logPath, guardian, onProblem);
  try {
    await embedded.start();
    return embedded;
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/** The embedded server as a child process. */
export class EmbeddedDynamo implements DynamoServer {
  readonly #binary: string;
  readonly #files: DatabaseFiles;
  readonly #logPath: string;
  readonly #guardian: Guardian;
  #port = 0;
  #child: ChildProcess | undefined;
  #ready: Promise<void> = Promise.resolve();
  readonly #onProblem: (message: string) => void;
  #held = false;
  #stopped = false;
  #shortLives = 0;
  /**
   * The latest restart. Restarts run one after the other, because two servers cannot use one port and file.
   */
  #restarting: Promise<void> = Promise.resolve();

  constructor(directory: string, logPath: string, guardian: Guardian, onProblem: (message: string) => void) {
    this.#binary = findBinary();
    mkdirSync(directory, { recursive: true });
    this.#files = databaseFilesIn(directory);
    this.#logPath = logPath;
    this.#guardian = guardian;
    this.#onProblem = onProblem;
  }

  get address(): DynamoAddress {
    return { host: '127.0.0.1', port: this.#port };
  }

  get accepting(): boolean {
    return !this.#held && !this.#stopped;
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    this.#launch();
    await this.#ready;
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  async restart(downMs: number): Promise<void> {
    const before = this.#restarting;
    this.#restarting = (async () => {
      await before.catch(() => {});
      await this.#restart(downMs);
    })();
    await this.#restarting;
  }

  async #restart(downMs: number): Promise<void> {
    this.#held = true;
    await this.#kill();
    if (downMs > 0) await new Promise((resolve) => setTimeout(resolve, downMs));
    if (this.#stopped) return;
    this.#held = false;
    this.#launch();
    await this.#ready;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#kill();
    rmSync(this.#files.pid, { force: true });
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      // Acknowledged writes are in SQLite's log: kill -9 loses none of them.
      child.kill('SIGKILL');
    });
  }

  #launch(): void {
    const { database, pid } = this.#files;
    const args = ['--host', '127.0.0.1', '--port', String(this.#port), '--db-path', database];
    const viaShell = ['-c', 'echo $$ > "$0" && exec "$@"', pid, this.#binary];
    const isWindows = process.platform === 'win32';
    // A shell writes its process id and then replaces itself by the database, so the id is written even if
    // this process is killed now.
    const child = spawn(isWindows ? this.#binary : '/bin/sh', isWindows ? args : [...viaShell, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: !isWindows,
      windowsHide: true,
    });
    if (isWindows) writeFileSync(pid, String(child.pid));
    this.#child = child;
    this.#guardian.guard(child);
    const log = createWriteStream(this.#logPath, { flags: 'a' });
    log.on('error', () => {});
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => log.write(`${line}\n`));
    }
    child.on('error', (error) => log.write(`${error.message}\n`));
    const launchedAt = Date.now();
    child.once('exit', (code, signal) => {
      log.end();
      if (this.#stopped || this.#held || this.#child !== child) return;
      // The process died unexpectedly. It starts again on the same port with the same file.
      this.#shortLives = Date.now() - launchedAt < SHORT_LIFE_MS ? this.#shortLives + 1 : 0;
      const isHopeless = this.#shortLives >= MAX_SHORT_LIVES;
      const next = isHopeless ? 'stays down' : 'is started again';
      this.#onProblem(`the embedded DynamoDB ended (${code ?? signal}) and ${next}: see ${this.#logPath}`);
      if (!isHopeless) this.#launch();
    });
    this.#ready = answering(this.#port, child, this.#logPath);
    // Prevents an unhandled rejection; the next caller of `ready()` gets the error.
    this.#ready.catch(() => {});
  }
}

async function answering(port: number, child: ChildProcess, logPath: string): Promise<void> {
  const giveUpAt = Date.now() + START_LIMIT_MS;
  for (;;) {
    if (await accepts(port)) return;
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null)
      throw new Error(`the embedded DynamoDB ended (${ended}) while starting: see ${logPath}`);
    if (Date.now() > giveUpAt) throw new Error(`the embedded DynamoDB did not start in time: see ${logPath}`);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

async function accepts(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function findBinary(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(manifest), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  } catch {
    throw new Error(
      `no embedded DynamoDB for this machine (${name} is not installed): run "npm install" without --omit=optional, ` +
        'or start any DynamoDB-compatible server and set AWS_ENDPOINT_URL_DYNAMODB to its http:// address',
    );
  }
}
