/**
 * Runs the batch and a single file with the deployed handlers, buckets in memory and a warehouse of their
 * own.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import { crashEverywhere, type WorldEffect, type TestRun, testWorkflow } from 'steadfast/testing';
import { handler as extract } from './agents/extract-object.ts';
import { handler as load } from './agents/load-rows.ts';
import { handler as byLine } from './agents/transform-by-line.ts';
import { handler as transform } from './agents/transform-file.ts';
import { type Buckets, startBuckets } from './bucket-in-memory.ts';
import { loadRows, type SourceObject, transformByLine, transformFile } from './contracts.ts';
import { rowsFinding } from './example.ts';
import { manifestOf, type Sample, sampleFile, sorted } from './sample.ts';
import { etlFile, etlFromS3 } from './workflow.ts';
import { startWorld, type World } from './world.ts';

const agents = [extract, transform, byLine, load];
const FILE: SourceObject = { bucket: 'drop', key: sampleFile(1, 5).key };
const BATCH: SourceObject = { bucket: 'drop', key: 'incoming/2026-03-01.manifest' };

let folder: string;
let world: World;
let buckets: Buckets;

beforeAll(async () => {
  buckets = await startBuckets();
  process.env['AWS_ENDPOINT_URL_S3'] = buckets.url;
  process.env['AWS_REGION'] = 'us-east-1';
  process.env['AWS_ACCESS_KEY_ID'] = process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
});
afterAll(() => buckets.stop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warehouse-'));
  world = await startWorld({ port: 0, file: join(folder, 'sales.sqlite') });
  process.env['WAREHOUSE_URL'] = world.url;
  buckets.objects.clear();
});
afterEach(async () => {
  await world.stop();
  rmSync(folder, { recursive: true });
});

function put(files: readonly Sample[]): void {
  for (const { key, text } of files) buckets.objects.set(`/drop/${key}`, text);
  buckets.objects.set(`/drop/${BATCH.key}`, manifestOf(files));
}

/**
 * Everything that the executions have made: copies and results by their idempotency keys, and loads,
 * including dropped ones.
 */
function effects(): WorldEffect[] {
  const made = [...buckets.objects.keys()].flatMap((place) => {
    const [, key, kind] = /^\/drop\/work\/(.*)\.(copy|ready)$/.exec(place) ?? [];
    return key === undefined || kind === undefined ? [] : [{ key, kind }];
  });
  const loads = world.warehouse
    .loads()
    .map(({ label, drops }) => ({ key: label, kind: 'load', undone: drops }));
  return [...made, ...loads];
}

const fiftyFiles = (bad: readonly number[]): readonly Sample[] =>
  Array.from({ length: 50 }, (_, number) => sampleFile(number, 20, bad.includes(number)));

test('a batch with one bad file in fifty is loaded, row by row what the good ones say', async () => {
  const files = fiftyFiles([17]);
  put(files);
  const run = await testWorkflow(etlFromS3, { agents }).start(BATCH);
  expect(await run.waitForEnd()).toMatchObject({
    status: 'succeeded',
    output: { files: 50, pages: 1 },
  });
  expect(world.warehouse.rows()).toEqual(sorted(files.flatMap(({ rows }) => rows)));
  expect(effects().filter(({ kind }) => kind === 'load')).toHaveLength(49);
});

const shortFiles = (count: number, bad: readonly number[] = []): readonly Sample[] =>
  Array.from({ length: count }, (_, number) => sampleFile(number, 2, bad.includes(number)));

test('a manifest of more than a page is read in rounds, from the bytes that the first one read', async () => {
  const all = shortFiles(120);
  put(all);
  const trial = testWorkflow(etlFromS3, { agents });
  const run = await trial.start(BATCH);
  await run.until(() => world.warehouse.loads().length > 50);
  // Rewrites the manifest with other names while the second page is loaded.
  buckets.objects.set(`/drop/${BATCH.key}`, manifestOf(shortFiles(3)));
  const { status, output } = await run.waitForEnd();
  expect([status, output]).toEqual(['succeeded', { files: 120, pages: 3 }]);
  expect(world.warehouse.rows()).toEqual(sorted(all.flatMap(({ rows }) => rows)));
});

test('a page with two bad files takes back the pages before it, the latest first', async () => {
  put(shortFiles(60, [52, 53]));
  const run = await testWorkflow(etlFromS3, { agents }).start(BATCH);
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(world.warehouse.rows()).toEqual([]);
  expect(effects().filter(({ undone }) => undone !== 1)).toEqual([]);
});

test('a batch with two bad files in fifty leaves nothing', async () => {
  put(fiftyFiles([17, 40]));
  const run = await testWorkflow(etlFromS3, { agents }).start(BATCH);
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(world.warehouse.rows()).toEqual([]);
  expect(effects().filter(({ undone }) => undone !== 1)).toEqual([]);
});

test('a file that is named and is not there is a bad one', async () => {
  const run = await testWorkflow(etlFile, { agents }).start(FILE);
  expect(await run.waitForEnd()).toMatchObject({ status: 'failed', failure: { code: 'PermanentError' } });
});

test('a file at which the transform dies goes to another agent, and its rows are the same', async () => {
  const file = sampleFile(1, 500);
  put([file]);
  const trial = testWorkflow(etlFile, { agents });
  trial.kill(transformFile, { when: 'before', times: Infinity });
  const { status, output } = await (await trial.start(FILE)).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { load: '1', rows: 500 }]);
  expect(trial.calls(transformByLine).filter(({ on }) => on === 'execute')).toHaveLength(1);
  expect(world.warehouse.rows()).toEqual(sorted(file.rows));
});

test('a load of which no answer came is found by its label, not loaded again', async () => {
  put([sampleFile(1, 5)]);
  const trial = testWorkflow(etlFile, { agents });
  trial.loseReply(loadRows);
  expect((await (await trial.start(FILE)).waitForEnd()).status).toBe('succeeded');
  expect(world.warehouse.rows()).toHaveLength(5);
});

test('a manifest that is written again changes nothing, and so does taking it back', async () => {
  const files = [sampleFile(1, 5), sampleFile(2, 5)];
  put(files);
  const wanted = sorted(files.flatMap(({ rows }) => rows));
  const first = await testWorkflow(etlFromS3, { agents }).start(BATCH);
  expect((await first.waitForEnd()).status).toBe('succeeded');
  const again = await testWorkflow(etlFromS3, { agents }).start(BATCH, { idempotencyKey: 'written-again' });
  expect((await again.waitForEnd()).status).toBe('succeeded');
  expect(world.warehouse.loads().map(({ source, version }) => `${source} ${version}`)).toHaveLength(4);
  expect(world.warehouse.rows()).toEqual(wanted);
  for (const { id } of world.warehouse.loads().slice(2)) world.warehouse.drop(id);
  expect(world.warehouse.rows()).toEqual(wanted);
});

test('the audit of the example sees a load that is counted twice, and one that is missing', () => {
  const subject = 'written-again-1';
  const end = { status: 'succeeded' } as NonNullable<Parameters<typeof rowsFinding>[1]['end']>;
  const rows = Array.from({ length: 3 }, (_, at) => sampleFile(1_300 + at, 5)).flatMap((file) => file.rows);
  expect(rowsFinding(sorted(rows), { subject, end })).toEqual([]);
  expect(rowsFinding(sorted([...rows, ...rows]), { subject, end })).toMatchObject([{ kind: 'doubled' }]);
  expect(rowsFinding(sorted(rows.slice(1)), { subject, end })).toMatchObject([{ kind: 'lost' }]);
});

test('no output has a row in it', async () => {
  put([sampleFile(1, 500)]);
  const { steps } = await (await testWorkflow(etlFile, { agents }).start(FILE)).waitForEnd();
  for (const { output } of Object.values(steps)) expect(JSON.stringify(output).length).toBeLessThan(200);
});

describe('a fault at any point loses and doubles nothing', () => {
  const start = (trial: { start(input: SourceObject): Promise<TestRun> }): Promise<TestRun> =>
    trial.start(FILE);

  test('of a file that only the other agent can transform', async () => {
    put([sampleFile(1, 5)]);
    const report = await crashEverywhere(etlFile, {
      input: FILE,
      agents,
      effects,
      scenario: (trial) => {
        trial.kill(transformFile, { when: 'after', times: Infinity });
        return start(trial);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('of a file on its way back', async () => {
    put([sampleFile(1, 5)]);
    const report = await crashEverywhere(etlFile, {
      input: FILE,
      agents,
      effects,
      scenario: (trial) => {
        trial.fail(loadRows, { times: Infinity, with: new PermanentError('no such table') });
        return start(trial);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });

  test('of a batch', async () => {
    put([sampleFile(1, 5), sampleFile(2, 5)]);
    const report = await crashEverywhere(etlFromS3, { input: BATCH, agents, effects });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });
});
