/**
 * `npm run bench:reset`: compares a password reset by Steadfast with one by a queue and a function, on one
 * local cloud.
 *
 * Owns: both deployments, the order of requests, the time of a reset until its mail, and its cost. Does not
 * own: the work (`examples/password-reset`), units and prices (`parts/meter.ts`, `parts/prices.ts`).
 *
 * One reset after the other, alternating between the two ways, so that other processes affect both alike. For
 * its user, a reset is over when its mail is sent; the services answer from this process, whose clock is the
 * only one. Counts are exact; on AWS each call takes longer than here, and the difference is a sum over the
 * calls on the critical path.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQSClient, SendMessageCommand } from '@aws-sdk/client-sqs';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Command } from 'commander';
import { build } from 'esbuild';
import { DEEDS, type ResetEntry } from '../examples/password-reset/world.ts';
import { startWorld, type World } from '../examples/world/server.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';
import { createApp, PROJECT_ROOT } from '../lib/infra/synth.ts';
import { SteadfastStack } from '../lib/infra/steadfast-stack.ts';
import { type Cloud, startCloud } from '../local/cloud.ts';
import { percentile } from './parts/load.ts';
import { machine } from './parts/machine.ts';
import { between, meterOf, type Reading, unitsOf } from './parts/meter.ts';
import { atLeastOne } from './parts/options.ts';
import { apiDollars, dollars, PRICES, total, type Units } from './parts/prices.ts';
import { table } from './parts/print.ts';
import { keepPresent, quiet } from './parts/stage.ts';

interface Options {
  readonly json?: true;
  readonly resets: number;
}

const WAYS = ['steadfast', 'queue'] as const;
type Way = (typeof WAYS)[number];

interface Found {
  readonly way: Way;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The time that the calls on the critical path take on AWS. */
  readonly awsMs: number;
  readonly units: Units;
  readonly usdPerMillion: number;
}

/** Calls that the mail waits for, one after the other. A function's cold start is extra. */
const IN_THE_WAY: Readonly<Record<Way, Readonly<Record<'dynamodb' | 'queueToFunction', number>>>> = {
  // Create; then for `issue` read, claim, report; then for `mail` read, claim.
  steadfast: { dynamodb: 6, queueToFunction: 2 },
  queue: { dynamodb: 0, queueToFunction: 1 },
};

/**
 * The number of resets after which the code is compiled, and as fast as in a process that has run for some
 * minutes.
 */
const WARM_RESETS = 150;

async function assembly(folder: string): Promise<string> {
  const app = createApp({ outdir: join(folder, 'cdk.out') });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['examples'],
    only: ['password-reset'],
  });
  const stack = new SteadfastStack(app, 'Reset', { workflows, removalPolicy: RemovalPolicy.DESTROY });
  await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: ['examples/password-reset/instead.ts'],
    outfile: join(folder, 'instead', 'index.mjs'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    alias: { steadfast: join(PROJECT_ROOT, 'lib/index.ts') },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const timeout = Duration.seconds(20);
  const deadLetters = new Queue(stack, 'InsteadDeadLetters', { enforceSSL: true });
  const queue = new Queue(stack, 'InsteadQueue', {
    enforceSSL: true,
    visibilityTimeout: Duration.minutes(2),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: 10 },
  });
  const instead = new LambdaFunction(stack, 'Instead', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(join(folder, 'instead')),
    memorySize: PRICES.lambda.memoryGb * 1_024,
    timeout,
  });
  instead.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
  return app.synth().directory;
}

async function main({ resets, json }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-reset-'));
  const world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  try {
    const cloud = await startCloud({
      assembly: await assembly(folder),
      dataDir: join(folder, 'data'),
      fresh: true,
      port: 0,
      schedules: false,
      environment: { RESET_WORLD_URL: world.url },
    });
    try {
      const leave = await keepPresent(cloud);
      await measure(cloud, world, resets)
        .then((found) => report(found, resets, json ?? false))
        .finally(leave);
    } finally {
      await cloud.stop();
    }
  } finally {
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(cloud: Cloud, world: World, resets: number): Promise<Found[]> {
  const ask = asked(cloud);
  let number = 0;
  const one = async (way: Way): Promise<number> => {
    number += 1;
    const account = `${way}-${number}@example.com`;
    const askedAt = performance.timeOrigin + performance.now();
    await ask[way](account);
    return (await mailed(world, account)) - askedAt;
  };
  const latencies: Record<Way, number[]> = { steadfast: [], queue: [] };
  for (let at = 0; at < WARM_RESETS; at += 1) for (const way of WAYS) await one(way);
  for (let at = 0; at < resets; at += 1) for (const way of WAYS) latencies[way].push(await one(way));
  // Units are counted in a separate run, because reporting them would lengthen the times.
  const meter = meterOf(cloud, () => 0, true);
  const found: Found[] = [];
  for (const way of WAYS) {
    await quiet(cloud, 0);
    const before = meter.read();
    for (let at = 0; at < resets; at += 1) await one(way);
    await quiet(cloud, 0);
    found.push(foundOf(way, latencies[way], between(before, meter.read()), resets));
  }
  return found;
}

/** How each way starts: the call that an application would make. */
function asked(cloud: Cloud): Readonly<Record<Way, (account: string) => Promise<void>>> {
  const queue = cloud.control.queues().find(({ name }) => name.includes('InsteadQueue'));
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const sqs = new SQSClient({ endpoint: cloud.gatewayUrl, region: 'us-east-1', credentials });
  const QueueUrl = `${cloud.gatewayUrl}/000000000000/${queue?.name}`;
  return {
    steadfast: async (account) => {
      const url = `${cloud.apiUrl}/workflows/password-reset/executions`;
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ input: { account } }) });
      if (!response.ok) throw new Error(`a start was answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    },
    queue: async (account) => {
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ account }) }));
    },
  };
}

const POLL_EVERY_MS = 1;
const MAIL_WITHIN_MS = 60_000;

/** When the mail was sent, by the service's own clock. */
async function mailed(world: World, account: string): Promise<number> {
  const giveUpAt = performance.now() + MAIL_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const mail = world.ledger.findLast(
      (entry) => entry.kind === 'mail' && (entry as ResetEntry).account === account,
    );
    if (mail !== undefined) return mail.at;
    await new Promise((soon) => setTimeout(soon, POLL_EVERY_MS));
  }
  throw new Error(`nothing was mailed to ${account}`);
}

function foundOf(way: Way, latencies: readonly number[], reading: Reading, resets: number): Found {
  const counted = unitsOf(reading, 1);
  // The messages that the application sends itself.
  const sent = way === 'queue' ? resets : 0;
  const units = { ...counted, sqsRequests: counted.sqsRequests + sent };
  const { dynamodb, queueToFunction } = PRICES.latencyMs;
  const path = IN_THE_WAY[way];
  return {
    way,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    awsMs: path.dynamodb * dynamodb + path.queueToFunction * queueToFunction,
    units: Object.fromEntries(
      Object.entries(units).map(([what, count]) => [what, count / resets]),
    ) as unknown as Units,
    usdPerMillion: total(dollars(units, resets)) + apiDollars(units, resets),
  };
}

function report(found: readonly Found[], resets: number, json: boolean): void {
  const rows = found.map(({ way, p50Ms, p99Ms, awsMs, units, usdPerMillion }) => [
    way,
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    awsMs.toFixed(0),
    units.writeUnits.toFixed(1),
    units.readUnits.toFixed(1),
    units.sqsRequests.toFixed(1),
    units.lambdaRequests.toFixed(1),
    units.events.toFixed(1),
    usdPerMillion.toFixed(2),
  ]);
  const head = ['', 'p50 ms', 'p99 ms', 'AWS adds ms', 'writes', 'reads', 'SQS', 'Lambda', 'events'];
  const on = machine();
  console.log(table([...head, '$ per million'], rows));
  console.log(
    `\n${resets} resets each, ${on.at}, commit ${on.commit ?? 'unknown'}, Node ${on.node}, ${on.processors} × ${on.model}, load ${on.load.join(', ')}`,
  );
  if (json) console.log(JSON.stringify({ reset: { resets, machine: on, ways: found } }));
}

const program = new Command('bench:reset')
  .description(
    'Runs the example password-reset by Steadfast and by a queue and a function, until the mail is sent.',
  )
  .option('--json', 'one line of JSON at the end')
  .option('--resets <n>', 'by each way', atLeastOne, 200);
await main(program.parse().opts<Options>());
