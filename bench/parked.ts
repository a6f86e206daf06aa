/**
 * `npm run bench:parked`: measures processor time and memory of an idle server with many executions that wait
 * for a person, and the reads of one sweep.
 *
 * Owns: the file with these executions, the measurement. Does not own: the server (`serve/`).
 *
 * The file consists of a few executions that were started, copied under other ids.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import Sqlite from 'libsql';
import { dynamoStore } from '../lib/aws/dynamo-store.ts';
import { DEFAULT_WAKE_SHARDS } from '../lib/aws/names.ts';
import { createClient } from '../lib/client.ts';
import { openDatabase, TABLE_NAME } from '../serve/sqlite/client.ts';
import { COLUMNS } from '../serve/sqlite/schema.ts';
import { machine } from './parts/machine.ts';
import { atLeastOne } from './parts/options.ts';

interface Options {
  readonly executions: number;
  readonly seconds: number;
  readonly json?: true;
}

const ROOT = join(import.meta.dirname, '..');
const MODELS = 40;
/** The length of a process's clock tick. */
const TICK_MS = 10;
const MOST_SHARE = 0.01;
const MOST_MB = 250;
/** The audit reads the table once an hour; that takes less than one span in each minute. */
const SPAN_S = 10;
const SWEEPS = 200;

interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function serve(file: string): Promise<Serving> {
  const args = [join(ROOT, 'bin/steadfast.cjs'), 'serve', join(import.meta.dirname, 'parked/waits')];
  const child = spawn(process.execPath, [...args, '--data', file, '--port', '0'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'close');
  const url = await new Promise<string>((found, failed) => {
    let at = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      at = /^Steadfast serves at (\S+)/.exec(line)?.[1] ?? at;
      if (line.startsWith('Resumed')) found(at);
    });
    void gone.then(() => failed(new Error('the server ended')));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
  };
  return { child, url, stop };
}

async function startModels(file: string): Promise<string[]> {
  const { url, stop } = await serve(file);
  const client = createClient({ url });
  const ids: string[] = [];
  for (let at = 0; at < MODELS; at += 1)
    ids.push((await client.start('waits', { input: { text: `model ${at}` } })).executionId);
  for (const id of ids)
    while ((await client.get(id)).steps.find(({ name }) => name === 'noted')?.status !== 'done')
      await setTimeout(50);
  // Each execution is evaluated once more, after its pickup time.
  await setTimeout(5_000);
  await stop();
  return ids;
}

/** Copies executions by replacing the id in all their keys and texts. */
function copy(file: string, ids: readonly string[], executions: number): void {
  const db = new Sqlite(file);
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000');
  const columns = COLUMNS.map((name) => `, ${name}`).join('');
  const renamed = COLUMNS.map((name) => `, replace(${name}, :id, :id || n.at)`)
    .join('')
    // Keeps numbers as numbers.
    .replaceAll(
      /replace\((\w+), :id, :id \|\| n\.at\)/g,
      "iif(typeof($1) = 'text', replace($1, :id, :id || n.at), $1)",
    );
  const each = Math.ceil(executions / ids.length) - 1;
  const insert =
    db.prepare(`WITH RECURSIVE n(at) AS (VALUES (1) UNION ALL SELECT at + 1 FROM n WHERE at < ${each})
    INSERT INTO item (pk, sk, data, bytes${columns})
    SELECT replace(pk, :id, :id || n.at), replace(sk, :id, :id || n.at), replace(data, :id, :id || n.at), bytes${renamed}
    FROM item, n WHERE pk LIKE '%' || :id || '%'`);
  for (const id of ids) insert.run({ id });
  db.close();
}

const cpuMsOf = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
};
const mbOf = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** The share of a processor in each of several spans. */
async function sharesOf({ child }: Serving, seconds: number): Promise<number[]> {
  const shares: number[] = [];
  for (let at = 0; at < seconds; at += SPAN_S) {
    const before = cpuMsOf(child);
    await setTimeout(SPAN_S * 1_000);
    shares.push((cpuMsOf(child) - before) / (SPAN_S * 1_000));
  }
  return shares;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
const rounded = (value: number): number => Number(value.toFixed(4));

/** The time to read what is due in all shards, if nothing is due. */
async function sweepMs(file: string): Promise<number> {
  const { client, close } = openDatabase(file);
  const log = { note: () => undefined };
  const store = dynamoStore(client, { table: TABLE_NAME, wakeShards: DEFAULT_WAKE_SHARDS, log });
  const beganAt = performance.now();
  for (let sweep = 0; sweep < SWEEPS; sweep += 1)
    for (let shard = 0; shard < store.shards; shard += 1) await store.due(shard, Date.now());
  const ms = (performance.now() - beganAt) / SWEEPS;
  close();
  return ms;
}

async function main({ executions, seconds, json }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-parked-'));
  const file = join(folder, 'state.db');
  try {
    copy(file, await startModels(file), executions);
    const serving = await serve(file);
    await setTimeout(5_000);
    const shares = await sharesOf(serving, seconds);
    const mb = Math.round(mbOf(serving.child));
    await serving.stop();
    const result = {
      executions,
      fileMb: Math.round(statSync(file).size / 1_048_576),
      ofAProcessor: { p50: rounded(median(shares)), mean: rounded(sumOf(shares) / shares.length) },
      mb,
      sweepMs: Number((await sweepMs(file)).toFixed(3)),
      machine: machine(),
    };
    console.log(json === true ? JSON.stringify(result) : result);
    process.exitCode = median(shares) <= MOST_SHARE && mb <= MOST_MB ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const program = new Command('bench:parked')
  .description('What a server of one machine takes with many executions that wait, while nothing happens.')
  .option('--executions <n>', 'how many', atLeastOne, 100_000)
  .option('--seconds <n>', 'measured so long', atLeastOne, 240)
  .option('--json', 'one line of JSON at the end');
program.parse();
await main(program.opts<Options>());
