/**
 * `npm run bench:scale`: how cost grows with the length of a chain, with the length of a list, and with the
 * number of open executions.
 *
 * Owns: the sizes, the fitted exponents. Does not own: the counting (`parts/meter.ts`).
 *
 * Open executions are written into the table of the local cloud, not run: the reads of a sweep do not depend
 * on how the executions got there. The executions that are due at once have a first message that was never
 * sent.
 */

import { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Command, Option } from 'commander';
import { executionItem, type Item } from '../lib/aws/dynamo-items.ts';
import { DEFAULT_WAKE_SHARDS } from '../lib/aws/names.ts';
import { canonicalJson, type Json } from '../lib/core/values/json.ts';
import { newExecution } from '../lib/core/execution/start.ts';
import { printVerdicts, type Verdict } from './parts/limits.ts';
import { machine, type Machine, type Taken, takenNow } from './parts/machine.ts';
import { between, unitsOf } from './parts/meter.ts';
import { dollars, total } from './parts/prices.ts';
import { table } from './parts/print.ts';
import { keep, replaced, resultOf } from './parts/results.ts';
import { type Stage, setStage, tick } from './parts/stage.ts';
import { scaleVerdicts, SERIES } from './parts/verdicts.ts';
import { chainOf1, chainOf10, chainOf100, chainOf900 } from './workflows/load/workflow.ts';

export interface Point {
  readonly size: number;
  readonly value: number;
}

export interface Series {
  readonly what: string;
  readonly unit: string;
  readonly points: readonly Point[];
  /** value ~ size^exponent; with more than three sizes, without the smallest. */
  readonly exponent: number;
  readonly taken: Taken;
}

export interface ScaleReport {
  readonly machine: Machine;
  readonly series: readonly Series[];
  readonly limits: readonly Verdict[];
}

const PARTS = ['plans', 'chains', 'maps', 'due', 'open'] as const;
type Part = (typeof PARTS)[number];

interface Options {
  readonly json?: true;
  readonly save?: true;
  readonly part?: Part;
  readonly quick?: true;
}

const program = new Command('bench:scale')
  .description('Chains, lists and open executions of growing size.')
  .option('--json', 'one line of JSON at the end')
  .option('--save', 'for bench:report; of a part, beside what other parts have found')
  .addOption(new Option('--part <name>', 'one of them').choices(PARTS))
  .option('--quick', 'smaller sizes, in some three minutes instead of twenty');

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(options: Options): Promise<void> {
  if (options.quick && options.save)
    program.error('error: --quick measures less than the page shows: it goes without --save');
  const series: Series[] = [];
  const wanted = options.part === undefined ? PARTS : [options.part];
  if (!options.quick)
    say(`${wanted.join(', ')}: all of them take twenty minutes; --quick measures smaller sizes`);
  for (const part of wanted) {
    const beganAt = performance.now();
    series.push(...(await measure(part, options.quick === true)));
    say(`${part}: ${Math.round((performance.now() - beganAt) / 1_000)} s`);
  }
  const report: ScaleReport = { machine: machine(), series, limits: scaleVerdicts({ series }) };
  for (const { what, unit, points, exponent } of series) {
    const rows = points.map(({ size, value }) => [String(size), value.toPrecision(4)]);
    console.log(`\n${what}: exponent ${exponent.toFixed(2)}\n${table(['size', unit], rows)}`);
  }
  printVerdicts(report.limits);
  if (options.save) save(report);
  if (options.json) console.log(JSON.stringify({ scale: report }));
}

function save(report: ScaleReport): void {
  const before = resultOf('scale') as { readonly scale: ScaleReport } | undefined;
  const series = replaced(before?.scale.series ?? [], report.series, ({ what }) => what);
  keep('scale', { scale: { ...report, series, limits: scaleVerdicts({ series }) } });
}

/** Each part has a separate deployment, so that its leftovers do not affect another part. */
async function measure(part: Part, quick: boolean): Promise<Series[]> {
  if (part === 'plans') return [planSizes()];
  const capacity = part !== 'due';
  const stage = await setStage({ batchSize: 10, processes: 2, schedules: false, capacity });
  try {
    switch (part) {
      case 'chains':
        return await chains(stage);
      case 'maps':
        return await maps(stage, quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]);
      case 'due':
        return await due(stage, quick ? [1_000, 3_000] : [1_000, 10_000, 100_000]);
      case 'open':
        return await open(stage, quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000]);
    }
  } finally {
    await stage.strike();
  }
}

const seriesOf = (what: string, unit: string, points: readonly Point[]): Series => {
  say(`  ${what}: ${points.map(({ size, value }) => `${size}: ${value.toPrecision(3)}`).join(', ')} ${unit}`);
  const exponent = exponentOf(points.length > 3 ? points.slice(1) : points);
  return { what, unit, points, exponent, taken: takenNow() };
};

/** A least-squares fit through the logarithms. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(
    ({ size, value }) => [Math.log(size), Math.log(Math.max(value, Number.MIN_VALUE))] as const,
  );
  const mean = (at: 0 | 1): number => logs.reduce((sum, each) => sum + each[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const over = logs.reduce((sum, each) => sum + (each[0] - x) * (each[1] - y), 0);
  return over / logs.reduce((sum, each) => sum + (each[0] - x) ** 2, 0);
}

const CHAINS = [chainOf1, chainOf10, chainOf100, chainOf900];

const planSizes = (): Series =>
  seriesOf(
    'size of the plan of a chain',
    'bytes',
    CHAINS.map(({ plan }) => ({
      size: plan.steps.length,
      value: canonicalJson(plan as unknown as Json).length,
    })),
  );

/** Prices only the units: processor time would include that of other processes. */
async function unitsPerStep(
  stage: Stage,
  workflow: string,
  input: unknown,
  steps: number,
): Promise<{ usd: number; reads: number }> {
  await stage.quiet();
  const before = stage.meter.read();
  await stage.ended(await stage.start(workflow, input));
  await stage.quiet();
  const reading = between(before, stage.meter.read());
  const units = unitsOf({ ...reading, functions: reading.functions.map((one) => ({ ...one, cpuMs: 0 })) }, 1);
  return { usd: total(dollars(units, steps)), reads: units.readUnits / steps };
}

async function chains(stage: Stage): Promise<Series[]> {
  const usd: Point[] = [];
  const reads: Point[] = [];
  for (const { name, plan } of CHAINS) {
    const size = plan.steps.length;
    await stage.ended(await stage.start('chain-of-1', { data: 'x' }));
    if (size < 900) await stage.ended(await stage.start(name, { data: 'x' }));
    const found = await unitsPerStep(stage, name, { data: 'x'.repeat(90) }, size);
    usd.push({ size, value: found.usd });
    reads.push({ size, value: found.reads });
  }
  return [
    seriesOf(SERIES.chain, '$ per million steps', usd),
    seriesOf('reads of a step of a chain', 'read units', reads),
  ];
}

async function maps(stage: Stage, sizes: readonly number[]): Promise<Series[]> {
  const usd: Point[] = [];
  for (const size of sizes) {
    const items = Array.from({ length: size }, () => ({ data: 'x' }));
    usd.push({ size, value: (await unitsPerStep(stage, 'mapped', { items }, size)).usd });
  }
  return [seriesOf(SERIES.map, '$ per million items', usd)];
}

/** Long enough for every message to be overdue. */
const STARTED_AGO_MS = 600_000;

/** The most items that DynamoDB takes at once. */
const BATCH = 25;

/** Writes executions into the table, without a message on its way. */
async function put(stage: Stage, from: number, to: number, wakeAt: number): Promise<void> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint: stage.cloud.gatewayUrl, region: 'us-east-1', credentials });
  const resource = [...stage.cloud.resources.values()].find(
    ({ type }) => type === 'AWS::DynamoDB::GlobalTable',
  );
  const planHash = await planOfChain1(stage);
  const write = (at: number): { PutRequest: { Item: Item } } => {
    const given = {
      id: `open-${wakeAt}-${at}`,
      life: 'bench',
      plan: planHash,
      input: { data: 'x' },
      inputHash: 'x',
      writeId: 'x',
    };
    const execution = { ...newExecution(chainOf1.plan, given, Date.now() - STARTED_AGO_MS), wakeAt };
    return { PutRequest: { Item: executionItem(execution, DEFAULT_WAKE_SHARDS) } };
  };
  let next = from;
  const writer = async (): Promise<void> => {
    while (next < to) {
      const batch = Array.from({ length: Math.min(BATCH, to - next) }, (_, part) => write(next + part));
      next += batch.length;
      if (next % 100_000 === 0) say(`  ${next} of ${to} are in the table`);
      await client.send(new BatchWriteItemCommand({ RequestItems: { [resource?.ref ?? '']: batch } }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  client.destroy();
}

async function planOfChain1(stage: Stage): Promise<string> {
  const id = await stage.start('chain-of-1', { data: 'x' });
  await stage.ended(id);
  const answer = await fetch(`${stage.cloud.apiUrl}/executions/${id}`);
  return ((await answer.json()) as { readonly plan: string }).plan;
}

async function open(stage: Stage, sizes: readonly number[]): Promise<Series[]> {
  const units: Point[] = [];
  const ms: Point[] = [];
  const later = Date.now() + 86_400_000;
  let there = 0;
  for (const size of sizes) {
    await put(stage, there, size, later);
    there = size;
    await tick(stage);
    const before = stage.meter.read();
    const beganAt = performance.now();
    for (let at = 0; at < 5; at += 1) await tick(stage);
    ms.push({ size, value: (performance.now() - beganAt) / 5 });
    units.push({ size, value: unitsOf(between(before, stage.meter.read()), 1).readUnits / 5 });
  }
  return [seriesOf(SERIES.open, 'read units', units), seriesOf('the same, on this machine', 'ms', ms)];
}

const PROGRESS_EVERY_MS = 10_000;

async function allOf(ids: readonly string[], ended: Stage['ended']): Promise<void> {
  const beganAt = performance.now();
  let count = 0;
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - beganAt) / 1_000);
    say(`  ${seconds} s: ${count} of ${ids.length} have ended`);
  }, PROGRESS_EVERY_MS);
  try {
    await Promise.all(ids.map((id) => ended(id).then(() => (count += 1))));
  } finally {
    clearInterval(progress);
  }
}

/** Runs until every message has been received. */
async function due(stage: Stage, sizes: readonly number[]): Promise<Series[]> {
  const points: Point[] = [];
  for (const size of sizes) {
    const wakeAt = Date.now() - 60_000 - size;
    await put(stage, 0, size, wakeAt);
    const last = Array.from({ length: size }, (_, at) => `open-${wakeAt}-${at}`);
    const beganAt = performance.now();
    const drained = new AbortController();
    const ticks = (async () => {
      while (!drained.signal.aborted) await tick(stage);
    })();
    try {
      await allOf(last, stage.ended);
      const seconds = (performance.now() - beganAt) / 1_000;
      say(`  ${size} due at once: all ended after ${seconds.toFixed(1)} s`);
      points.push({ size, value: seconds });
    } finally {
      drained.abort();
    }
    await ticks;
    await stage.quiet();
  }
  const rates = points.map(({ size, value }) => ({ size, value: size / value }));
  return [seriesOf(SERIES.due, 's', points), seriesOf('the same, by the second', 'executions/s', rates)];
}

await main(program.parse().opts<Options>());
