/**
 * `npm run chaos -- --serve`: one server over one file, under load, killed with SIGKILL again and again.
 *
 * Owns: the kills, the load, the judgement. Does not own: the service (`stamps.ts`), the server (`serve/`).
 *
 * Lost: a start that was answered, or a step that is done, without its stamp. Doubled: two stamps of one
 * step. Stuck: an execution that has not ended although the kills have. Resumed: the time from the start of
 * the next process until it has recorded all deaths and sent all ready messages again. Its parts: `start`,
 * until the command runs; `ready`, until it has loaded the workflows, has the lock and the file, and listens;
 * `deaths`, the rest. `call`: from the start until a step or a probe calls the service again.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient } from '../../../lib/client.ts';
import { drawsOf } from '../../../kit/cloud/random.ts';
import { type Stamps, startStamps } from './stamps.ts';

const ROOT = join(import.meta.dirname, '../../..');
const STEPS = ['one', 'two', 'three'];
const LIVES_MS = { least: 100, most: 2_500 };
/** By then every execution has ended: for each step a death's margin for clocks, settle, and a probe. */
const HEAL_MS = 120_000;
const RESUME_LIMIT_MS = 2_000;

export interface ServeChaos {
  readonly kills: number;
  readonly seed: number;
  readonly rate: number;
}

interface Resumed {
  readonly upAt: number;
  /** The server reports it, measured from the beginning of its command. */
  readonly readyMs: number;
  readonly at: number;
  readonly executions: number;
  readonly attempts: number;
}

interface Life {
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
  readonly beganAt: number;
  /** When it took calls, and when it had repaired what the process before it had left. */
  readonly resumed: Promise<Resumed>;
  /** When the service was called next. */
  readonly called: Promise<number>;
}

export async function chaosServe(
  { kills, seed, rate }: ServeChaos,
  say: (text: string) => void,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-chaos-serve-'));
  const draws = drawsOf(seed, 1);
  const stamps = await startStamps(drawsOf(seed, 2));
  const port = await freePort();
  const { program, project } = isBuilt() ? published(folder) : FROM_SOURCE;
  const live = (): Life =>
    begin([program, 'serve', project, '--data', join(folder, 'state.db')], port, stamps);
  const load = new Starts(`http://127.0.0.1:${port}`, rate);
  const parts = { start: [], ready: [], deaths: [], resumed: [], call: [] } as Record<Part, number[]>;
  let lost = 0;
  let most = 0;
  let life = live();
  try {
    await life.resumed;
    load.begin();
    for (let count = 1; count <= kills; count += 1) {
      await setTimeout(draws.between(LIVES_MS.least, LIVES_MS.most));
      life.child.kill('SIGKILL');
      await life.gone;
      life = live();
      const { upAt, readyMs, at, executions, attempts } = await life.resumed;
      const { beganAt } = life;
      parts.start.push(upAt - readyMs - beganAt);
      parts.ready.push(readyMs);
      parts.deaths.push(at - upAt);
      parts.resumed.push(at - beganAt);
      parts.call.push((await life.called) - beganAt);
      lost += attempts;
      most = Math.max(most, executions);
      if (count % 20 === 0) say(`${count} kills, ${load.ids.size} started, ${lost} attempts lost so far`);
    }
    await load.end();
    const failures = await judged(`http://127.0.0.1:${port}`, load, stamps);
    const ms = Object.fromEntries(Object.entries(parts).map(([part, all]) => [part, sharesOf(all)]));
    const late = ms['resumed']?.p99 ?? 0;
    if (late > RESUME_LIMIT_MS)
      failures.push(`resumed after ${late} ms at p99; ${RESUME_LIMIT_MS} are allowed`);
    for (const failure of failures) say(`FAILED   ${failure}`);
    const counts = { program, kills, started: load.ids.size, attemptsLost: lost, mostOpen: most };
    console.log(JSON.stringify({ serve: { ...counts, ms, failures: failures.length } }, null, 2));
    return failures.length === 0 ? 0 : 1;
  } finally {
    load.stop();
    life.child.kill('SIGKILL');
    await life.gone;
    await stamps.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Part = 'start' | 'ready' | 'deaths' | 'resumed' | 'call';

function sharesOf(values: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

const STAMPING = join(import.meta.dirname, 'stamping');
const FROM_SOURCE = { program: join(ROOT, 'bin', 'steadfast.cjs'), project: STAMPING };
const isBuilt = (): boolean => existsSync(join(ROOT, 'dist', 'bin', 'steadfast.js'));

/** A project with the built package installed: it starts in a third of the time. */
function published(folder: string): typeof FROM_SOURCE {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'steadfast');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(ROOT, part), join(own, part), { recursive: true });
  // Removes the source, so that the folder contains only published files.
  rmSync(join(own, 'bin', 'steadfast.ts'));
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!existsSync(join(modules, name))) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  const project = join(folder, 'stamping');
  cpSync(STAMPING, project, { recursive: true });
  return { program: join(own, 'bin', 'steadfast.cjs'), project };
}

/** The counts in the line in which a server reports that it has resumed; nothing for another line. */
export function resumedIn(line: string): Pick<Resumed, 'executions' | 'attempts'> | undefined {
  const found = /^Resumed: ([\d,]+) executions.*?; ([\d,]+) attempts/.exec(line);
  const [executions, attempts] = (found ?? []).slice(1).map((text) => Number(text.replaceAll(',', '')));
  return executions === undefined || attempts === undefined ? undefined : { executions, attempts };
}

function begin(args: readonly string[], port: number, { url, nextCall }: Stamps): Life {
  const beganAt = Date.now();
  const called = nextCall();
  const child = spawn(process.execPath, [...args, '--port', String(port)], {
    env: { ...process.env, STAMPS_URL: url, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  let [upAt, readyMs] = [0, 0];
  const resumed = new Promise<Resumed>((over, failed) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, ready] = /^Steadfast serves .*ready in (\d+) ms/.exec(line) ?? [];
      if (ready !== undefined) [upAt, readyMs] = [Date.now(), Number(ready)];
      const counts = resumedIn(line);
      if (counts !== undefined) over({ upAt, readyMs, at: Date.now(), ...counts });
    });
    void gone.then(() => failed(new Error('the server ended before it had resumed')));
  });
  // A server that is killed earlier never prints that line.
  resumed.catch(() => undefined);
  return { child, gone, beganAt, resumed, called };
}

/** Clients that repeat their starts until there is an answer, each with a key. */
class Starts {
  readonly ids = new Map<string, string>();
  readonly #client: Client;
  readonly #everyMs: number;
  readonly #underWay = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string, rate: number) {
    this.#client = createClient({ url, retryForMs: 300_000 });
    this.#everyMs = 1_000 / rate;
  }

  begin(): void {
    let index = 0;
    this.#timer = setInterval(() => {
      index += 1;
      const key = `page-${index}`;
      const start = this.#start(key).finally(() => this.#underWay.delete(start));
      this.#underWay.add(start);
    }, this.#everyMs);
  }

  /** Starts one execution; with its key it is the same start, however often it is requested. */
  async #start(key: string): Promise<void> {
    const options = { input: { page: key }, idempotencyKey: key };
    while (!this.ids.has(key)) {
      const answer = await this.#client.start('stamping', options).catch(() => undefined);
      if (answer !== undefined) this.ids.set(key, answer.executionId);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async end(): Promise<void> {
    this.stop();
    await Promise.all(this.#underWay);
  }
}

async function judged(url: string, load: Starts, { counts }: Stamps): Promise<string[]> {
  const client = createClient({ url, retryForMs: 300_000 });
  const untilAt = Date.now() + HEAL_MS;
  const failures: string[] = [];
  const expected = new Set<string>();
  for (const [key, id] of load.ids) {
    let view = await client.get(id).catch(() => undefined);
    while (view !== undefined && view.endedAt === undefined && Date.now() < untilAt) {
      await setTimeout(200);
      view = await client.get(id);
    }
    if (view === undefined) failures.push(`lost: ${key} was started as ${id}, which is not there`);
    else if (view.status !== 'succeeded') failures.push(`stuck: ${key} is ${view.status}`);
    for (const step of STEPS) expected.add(`${id}/${step}`);
  }
  const doubled = [...counts].filter(([, count]) => count > 1);
  for (const [key, count] of doubled) failures.push(`doubled: ${key} has ${count} stamps`);
  if (counts.size < expected.size) failures.push(`lost: ${counts.size} stamps of ${expected.size}`);
  return failures;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
