/**
 * Runs a bulk retry of many failed executions on a fresh local cloud, while every process of the cloud is
 * repeatedly killed.
 *
 * Owns: the executions, the kills, the end of each execution. Does not own: the output (`bench/bulk.ts`), the
 * assertions of a test.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { BulkView } from '../../lib/api/bulk-answers.ts';
import { type Client, createClient } from '../../lib/api/client.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { DEFAULT_WAKE_SHARDS } from '../../lib/aws/names.ts';
import type { Store } from '../../lib/core/ports.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { sideBySide } from '../../lib/engine/side-by-side.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';

export interface BulkRunOptions {
  readonly executions: number;
  /** How many times everything is killed. */
  readonly kills: number;
  readonly killEveryMs: number;
  readonly say?: (text: string) => void;
}

export interface BulkRun {
  readonly bulk: BulkView;
  /** How many processes were killed. */
  readonly killed: number;
  /** How many executions there are by number of retries and final status. */
  readonly ends: Readonly<Record<string, number>>;
  readonly collectMs: number;
  /** The time from the confirmation until each execution got the command, and until each had ended. */
  readonly toldMs: number;
  readonly endedMs: number;
  /** The duration of the whole run. */
  readonly seconds: number;
}

/**
 * This many executions are started and fail by themselves; the others are written in the state that these
 * reached.
 */
const STARTED = 20;
const LANES = 32;
const ASK_EVERY_MS = 500;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function retryInBulk({
  executions,
  kills,
  killEveryMs,
  say = () => undefined,
}: BulkRunOptions): Promise<BulkRun> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-bulk-'));
  const bank = join(folder, 'bank');
  mkdirSync(bank);
  const begun = Date.now();
  say('Synthesising the template that would be deployed …');
  const { assembly } = await synthesize({
    outdir: join(folder, 'cdk.out'),
    folders: ['test/e2e/workflows'],
    only: ['declined'],
    validation: false,
  });
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    schedules: true,
    concurrencyPerFunction: 4,
    environment: { BANK: bank },
  });
  const dynamo = clientOf(cloud);
  try {
    const api = createClient({ url: cloud.apiUrl });
    const store = dynamoStore(dynamo, { table: tableOf(cloud), wakeShards: DEFAULT_WAKE_SHARDS });
    say(`Writing ${executions} failed executions …`);
    const ids = await seed(api, store, executions);
    writeFileSync(join(bank, 'open'), '');
    return {
      ...(await retried(api, store, cloud, ids, { kills, killEveryMs, say })),
      seconds: (Date.now() - begun) / 1_000,
    };
  } finally {
    dynamo.destroy();
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const tableOf = ({ resources }: Cloud): string =>
  [...resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable')?.physicalName ?? '';

const clientOf = ({ gatewayUrl }: Cloud): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: gatewayUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  });

async function seed(api: Client, store: Store, count: number): Promise<readonly string[]> {
  const first = Array.from({ length: Math.min(STARTED, count) }, (_, at) => at);
  const ids = await sideBySide(first, 4, async (order) => {
    const { executionId } = await api.start('declined', { input: { order } });
    return (await api.waitForEnd(executionId)).executionId;
  });
  const model = (await store.readExecution(ids[0] ?? '')) as Execution;
  const rest = Array.from({ length: count - ids.length }, (_, at) => at + ids.length);
  const written = await sideBySide(rest, LANES, async (order) => {
    const id = `order-${order}`;
    const { wakeAt: _, ...over } = model;
    await store.create({ ...over, id, version: 1, input: { order } }, true);
    return id;
  });
  return [...ids, ...written];
}

async function retried(
  api: Client,
  store: Store,
  cloud: Cloud,
  ids: readonly string[],
  { kills, killEveryMs, say }: Required<Omit<BulkRunOptions, 'executions'>>,
): Promise<Omit<BulkRun, 'seconds'>> {
  const made = Date.now();
  let bulk = await api.makeBulk({
    action: 'retry',
    filter: { status: 'failed' },
    reason: 'the bank is open',
  });
  while (bulk.status === 'collecting') bulk = await api.collectBulk(bulk.bulkId);
  const collectMs = Date.now() - made;
  say(`${bulk.count} collected in ${collectMs} ms; confirming, and killing everything ${kills} times …`);
  const { bulkId } = await api.confirmBulk(bulk.bulkId);
  const confirmed = Date.now();
  const killing = killAll(cloud, kills, killEveryMs);
  const shown = await until(
    () => api.bulk(bulkId),
    ({ status }) => status === 'done' || status === 'stopped',
  );
  const toldMs = Date.now() - confirmed;
  const killed = await killing;
  say(
    `${shown.progress?.acted} told after ${toldMs} ms, ${killed} processes killed; waiting for their ends …`,
  );
  const ended = await sideBySide(ids, LANES, (id) =>
    until(
      async () => store.readExecution(id),
      (one) => one?.endedAt !== undefined && one.wakeAt === undefined,
    ),
  );
  const ends: Record<string, number> = {};
  for (const one of ended) {
    const key = `${one?.retries?.length ?? 0} × ${one?.status}`;
    ends[key] = (ends[key] ?? 0) + 1;
  }
  return { bulk: await api.bulk(bulkId), killed, ends, collectMs, toldMs, endedMs: Date.now() - confirmed };
}

/** Repeats the question until the condition holds, even if a process is killed while it answers. */
async function until<Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && holds(answer)) return answer;
    await pause(ASK_EVERY_MS);
  }
}

/** Kills every process of every function with kill -9: API, supervisors, audit, agents. */
async function killAll({ control }: Cloud, times: number, everyMs: number): Promise<number> {
  let killed = 0;
  for (let time = 0; time < times; time += 1) {
    await pause(everyMs);
    for (const { pid } of control.functions().flatMap(({ processes }) => processes)) {
      try {
        process.kill(pid, 'SIGKILL');
        killed += 1;
      } catch {
        // It has ended by itself.
      }
    }
  }
  return killed;
}
