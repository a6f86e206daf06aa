/**
 * `npm run bench:lists`: measures a page of a list with each filter, also deep in a large table.
 *
 * Owns: the table (many executions, some open and some failed), the pages, the figures. Does not own: what a
 * page reads (`lib/aws/dynamo-list.ts`), how the console is measured (`parts/first-view.ts`). The embedded
 * DynamoDB answers on this machine: on AWS each round trip takes longer; OPERATIONS.md gives the number of
 * round trips.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Command } from 'commander';
import { agent } from 'steadfast';
import * as z from 'zod/mini';
import { routes } from '../lib/api/routes.ts';
import { dynamoStore } from '../lib/aws/dynamo-store.ts';
import { DEFAULT_WAKE_SHARDS } from '../lib/aws/names.ts';
import { transported } from '../lib/aws/transport.ts';
import type { Store } from '../lib/core/ports.ts';
import { workflow } from '../lib/author/builder/workflow.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import type { Execution } from '../lib/core/records/state.ts';
import { createScheduler, type Scheduler } from '../lib/scheduler/start.ts';
import { newExecution } from '../lib/core/execution/start.ts';
import { memoryWorld } from '../lib/memory/world.ts';
import { EmbeddedDynamo } from '../local/dynamodb/dynamo-process.ts';
import { Guardian } from '../local/processes/guardian.ts';
import { firstViewProblem, firstViews } from './parts/first-view.ts';
import { machine } from './parts/machine.ts';
import { atLeastOne } from './parts/options.ts';
import { atMost, printVerdicts } from './parts/limits.ts';
import { table } from './parts/print.ts';
import { tableOf } from './parts/table.ts';

const NAME = 'state';
const PAGE = 50;
const LIMIT_MS = 200;
/** The time, in a browser with an empty cache, until the overview's last part is on the screen. */
const FIRST_VIEW = "the console's first view";
const FIRST_VIEW_LIMIT_MS = 1_000;
const FIRST_VIEWS = 20;
const SHOWN = 'ended without success in 24 h';
const WRITERS = 32;
/** Shares of all executions. */
const OPEN_SHARE = 0.1;
const FAILED_SHARE = 0.05;
const CODES = ['card-declined', 'timeout', 'out-of-stock', 'lost', 'deadline'];
const SHOPS = 20;

interface Options {
  readonly executions: number;
  readonly pages: number;
  readonly json?: true;
}

const Order = z.object({ orderId: z.string(), shop: z.string() });
const pay = agent('pay', { effect: 'idempotent', input: Order, output: z.object({}) });
const FLOWS = ['order', 'refund', 'notice'].map(
  (name) =>
    workflow(name, { input: Order, within: '1d', tags: ['orderId', 'shop'] }, (w) => {
      w.step('pay', pay, w.input);
    }) as unknown as Workflow,
);

/** The n-th execution in its present state: succeeded, open, or failed. */
function executionOf(at: number, now: number, { hash }: Scheduler): Execution {
  const flow = FLOWS[at % FLOWS.length] as Workflow;
  const id = hash(`execution ${at}`);
  const input = { orderId: `order-${at}`, shop: `shop-${at % SHOPS}` };
  const born = { id, life: 'bench', plan: hash(flow.name), input, inputHash: 'x', writeId: 'w' };
  const startedAt = now - at * 500;
  const open = newExecution(flow.plan, born, startedAt);
  const share = (at % 100) / 100;
  if (share < OPEN_SHARE)
    return { ...open, wakeAt: now + (at % 3_600) * 1_000, deadlineAt: now + 86_400_000 };
  const { wakeAt: _, ...over } = open;
  const endedAt = startedAt + 400;
  if (share >= OPEN_SHARE + FAILED_SHARE) return { ...over, status: 'succeeded', endedAt };
  const code = CODES[at % CODES.length] ?? '';
  const cause = { kind: 'failure', at: endedAt, step: 'pay', failure: { code, message: 'no' } } as const;
  return { ...over, status: 'failed', endedAt, cause };
}

async function seed(store: Store, scheduler: Scheduler, count: number, now: number): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      await store.create(executionOf(at, now, scheduler));
      if (at > 0 && at % 20_000 === 0) console.error(`  ${at} of ${count} executions are in the table`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

type Ask = (path: string) => Promise<{ readonly items?: readonly unknown[]; readonly cursor?: string }>;

/** Reads page after page, and starts again from the first if there are too few. */
async function timesOf(ask: Ask, query: string, pages: number): Promise<number[]> {
  const times: number[] = [];
  for (let cursor: string | undefined; times.length < pages; ) {
    const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const at = performance.now();
    ({ cursor } = await ask(`/executions?${query}&limit=${PAGE}${after}`));
    times.push(performance.now() - at);
  }
  return times;
}

const quantile = (times: readonly number[], part: number): number =>
  times.toSorted((one, other) => one - other)[Math.ceil(times.length * part) - 1] ?? Number.NaN;

interface Row {
  readonly filter: string;
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
}

const rowOf = (filter: string, times: readonly number[]): Row => ({
  filter,
  n: times.length,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
});

async function overviewTimes(ask: Ask, count: number): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) {
    const begun = performance.now();
    await ask('/overview');
    times.push(performance.now() - begun);
  }
  return times;
}

async function measure(options: Options, client: DynamoDBClient): Promise<void> {
  const { executions, pages, json } = options;
  const store = dynamoStore(client, { table: NAME, wakeShards: DEFAULT_WAKE_SHARDS });
  const world = { ...memoryWorld(), store };
  const { createHash } = await import('node:crypto');
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  const now = world.clock.now();
  const scheduler = createScheduler(world, FLOWS, { hash, newId: () => 'x' });
  console.error(`writing ${executions} executions …`);
  await seed(store, scheduler, executions, now);
  const app = routes(scheduler);
  const ask: Ask = async (path) => {
    const response = await app.request(path);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Awaited<ReturnType<Ask>>;
  };
  const plan = hash('order');
  const since = now - executions * 250;
  const filters = [
    'workflow=order',
    `since=${since - 3_600_000}&until=${since}`,
    'status=open',
    'status=open&workflow=refund',
    `plan=${plan}`,
    'plan=old',
    'atRisk=true',
    'status=bad',
    'status=failed&workflow=notice',
    'code=card-declined',
    'tag=shop:shop-11',
    'tag=orderId:order-4711',
    'workflow=order&key=none',
    'status=succeeded',
    '',
  ];
  const found: Row[] = [];
  for (const filter of filters) found.push(rowOf(filter || 'none', await timesOf(ask, filter, pages)));
  found.push(rowOf('GET /overview', await overviewTimes(ask, Math.min(pages, 50))));
  const problem = firstViewProblem();
  const answer = async (request: Request): Promise<Response> => app.fetch(request);
  if (problem === undefined) found.push(rowOf(FIRST_VIEW, await firstViews(answer, SHOWN, FIRST_VIEWS)));
  else console.error(`no first view is measured: ${problem}`);
  const cells = found.map(({ filter, n, p50, p99 }) => [filter, String(n), p50.toFixed(1), p99.toFixed(1)]);
  console.log(`\n${table(['filter', 'pages', 'p50 ms', 'p99 ms'], cells)}`);
  const limits = found
    .filter(({ filter }) => filter !== 'GET /overview')
    .map(({ filter, p99 }) =>
      filter === FIRST_VIEW
        ? atMost(`${filter}: p99`, 'ms', FIRST_VIEW_LIMIT_MS, p99)
        : atMost(`a page of ${PAGE}, ${filter}: p99`, 'ms', LIMIT_MS, p99),
    );
  printVerdicts(limits);
  if (json)
    console.log(JSON.stringify({ lists: { machine: machine(), executions, pages: PAGE, found, limits } }));
}

async function main(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-lists-'));
  const guardian = new Guardian();
  const server = new EmbeddedDynamo(folder, join(folder, 'server.log'), guardian, console.error);
  try {
    await server.start();
    const client = new DynamoDBClient({
      endpoint: `http://${server.address.host}:${server.address.port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    });
    await client.send(new CreateTableCommand(tableOf(NAME)));
    await measure(options, transported(client, { transport: 'direct', requestTimeout: 60_000 }));
  } finally {
    await server.stop();
    await guardian.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const program = new Command('bench:lists')
  .description('How long a page of a list takes, by each filter, in a large table.')
  .option('--json', 'one line of JSON at the end')
  .option('--executions <n>', 'in the table; a tenth open, a twentieth failed', atLeastOne, 100_000)
  .option('--pages <n>', 'of each filter, one after the other', atLeastOne, 200);

await main(program.parse().opts<Options>());
