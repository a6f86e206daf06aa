/**
 * `npm run bench:audit`: how fast the audit removes the records of expired executions, and the rate of starts
 * that it keeps up with.
 *
 * Owns: the measurement. Does not own: the audit (`lib/supervisor/audit.ts`); this runs the production
 * handler.
 *
 * The table contains only step records of executions that are gone, the worst case for a run: every record is
 * one removal. Processor time is the measure: a function has a share of a processor in proportion to its
 * memory, and the calls overlap. Not measured: AWS's own latency, throttling of a cold table, and reading the
 * records that are still kept, which `auditMegabytes` bounds.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteItemCommand, CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Command } from 'commander';
import { stepItem } from '../lib/aws/dynamo-items.ts';
import { ENV } from '../lib/aws/names.ts';
import { blankStep } from '../lib/core/decisions/change.ts';
import { auditHandler } from '../lib/supervisor/audit-handler.ts';
import { EmbeddedDynamo } from '../local/dynamodb/dynamo-process.ts';
import { Guardian } from '../local/processes/guardian.ts';
import { machine } from './parts/machine.ts';
import { atLeastOne } from './parts/options.ts';
import { table } from './parts/print.ts';
import { tableOf } from './parts/table.ts';

interface Options {
  readonly executions: number;
  readonly json?: true;
}

const STEPS = 4;
const NAME = 'state';
/** The memory, in MB, at which a function has one whole processor. */
const MB_OF_A_PROCESSOR = 1_769;
const MEMORIES = [384, 1_024, 1_769];
/** A run lasts 0.9 of 14 minutes, and one begins every 15. */
const AT_WORK = (0.9 * 14) / 15;
const WANTED_PER_SECOND = 100;

/** Writes step records of executions that have expired. */
async function leaveBehind(client: DynamoDBClient, executions: number): Promise<void> {
  const changedAt = Date.now() - 7 * 86_400_000;
  const items = Array.from({ length: executions * STEPS }, (_, at) =>
    stepItem(`order-${Math.floor(at / STEPS)}`, {
      ...blankStep(`step-${at % STEPS}`, { epoch: 1, life: 'life1' }),
      status: 'done',
      version: 2,
      writeId: `write-${at}`,
      attempt: 1,
      output: { receipt: 'x'.repeat(200) },
      changedAt,
    }),
  );
  for (let at = 0; at < items.length; at += 25) {
    const puts = items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [NAME]: puts } }));
  }
}

/** Runs the audit until all records are removed. */
async function measure(records: number): Promise<{ wallMs: number; cpuMs: number; runs: number }> {
  const handler = auditHandler();
  const context = { getRemainingTimeInMillis: () => 14 * 60_000, awsRequestId: 'measured' };
  const cpu = process.cpuUsage();
  const at = performance.now();
  let runs = 0;
  for (let scanned = 0; scanned < records; runs += 1) {
    const before = scanned;
    ({ scanned } = await handler({}, context as never));
    if (runs > 0 && scanned <= before)
      throw new Error(`the audit stands still at ${scanned} of ${records} records`);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - at, cpuMs: (user + system) / 1_000, runs };
}

async function main({ executions, json }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-audit-'));
  const guardian = new Guardian();
  const server = new EmbeddedDynamo(folder, join(folder, 'server.log'), guardian, console.error);
  try {
    await server.start();
    const endpoint = `http://${server.address.host}:${server.address.port}`;
    Object.assign(process.env, {
      [ENV.table]: NAME,
      [ENV.bus]: 'bus',
      [ENV.deployment]: 'measured',
      [ENV.auditPages]: '1000',
      [ENV.auditEveryMs]: String(86_400_000),
      AWS_LAMBDA_FUNCTION_NAME: 'audit',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'measured',
      AWS_SECRET_ACCESS_KEY: 'measured',
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      POWERTOOLS_LOG_LEVEL: 'WARN',
    });
    const client = new DynamoDBClient({ endpoint, region: 'us-east-1' });
    await client.send(new CreateTableCommand(tableOf(NAME)));
    const records = executions * STEPS;
    console.log(`writing ${records} records of ${executions} executions that have gone …`);
    await leaveBehind(client, executions);
    console.log('the audit runs …');
    const { wallMs, cpuMs, runs } = await measure(records);
    const perRecordMs = cpuMs / records;
    const functions = MEMORIES.map((memoryMb) => {
      const removals = (1_000 * (memoryMb / MB_OF_A_PROCESSOR)) / perRecordMs;
      return {
        memoryMb,
        removals: Math.round(removals),
        executions: Math.round((removals * AT_WORK) / STEPS),
      };
    });
    const removalsPerSecond = Math.round((records * 1_000) / wallMs);
    const rows = functions.map((one) => Object.values(one).map(String));
    console.log(
      `\n${records} records in ${runs} runs: ${removalsPerSecond} removals/s here, ${perRecordMs.toFixed(2)} ms of a processor each`,
    );
    console.log(`\n${table(['function of MB', 'removals/s', `executions/s of ${STEPS} steps`], rows)}`);
    const enough = functions.find((one) => one.executions >= WANTED_PER_SECOND);
    console.log(
      enough === undefined
        ? `\nno function of these keeps up with ${WANTED_PER_SECOND} executions a second`
        : `\n${WANTED_PER_SECOND} executions a second: ${enough.memoryMb} MB keep up`,
    );
    if (json)
      console.log(
        JSON.stringify({
          audit: { machine: machine(), records, runs, removalsPerSecond, perRecordMs, functions },
        }),
      );
  } finally {
    await server.stop();
    await guardian.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const program = new Command('bench:audit')
  .description('How fast the audit removes what expired executions have left behind.')
  .option('--json', 'one line of JSON at the end')
  .option('--executions <n>', `that have gone, of ${STEPS} steps`, atLeastOne, 10_000);
await main(program.parse().opts<Options>());
