/** Runs the encoding with the deployed handlers, on its own library, catalogue and licence. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PermanentError } from 'steadfast';
import { crashEverywhere, type WorldEffect, testWorkflow, type WorkflowTest } from 'steadfast/testing';
import { startWorld, type World } from '../world/server.ts';
import { handler as encode } from './agents/encode-chunk.ts';
import { handler as plan } from './agents/plan-chunks.ts';
import { handler as publish } from './agents/publish-film.ts';
import { audit, type FilmAudit } from './audit.ts';
import { encodeChunk, publishFilm, type Segment } from './contracts.ts';
import { type Encoder, isInstalled } from './encoder.ts';
import { ffmpeg } from './ffmpeg.ts';
import { segmentAt, segments, uploadAt } from './library.ts';
import { standIn } from './stand-in.ts';
import { type Upload, videoChunk, videoEncoding } from './workflow.ts';
import { DEEDS, type FilmEntry } from './world.ts';

const agents = [plan, encode, publish];
const upload: Upload = { upload: 'harbour', title: 'Harbour at dawn' };
const SECONDS = 5;

let folder: string;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'videos-'));
  world = await startWorld({ port: 0, ledgerFile: join(folder, 'ledger.jsonl'), deeds: DEEDS });
  process.env['VIDEO_WORLD_URL'] = world.url;
  process.env['VIDEO_LIBRARY'] = folder;
  process.env['VIDEO_ENCODER'] = 'stand-in';
  mkdirSync(dirname(uploadAt('harbour')), { recursive: true });
  await standIn.film(uploadAt('harbour'), SECONDS);
});
afterEach(async () => {
  for (const name of ['VIDEO_WORLD_URL', 'VIDEO_LIBRARY', 'VIDEO_ENCODER']) delete process.env[name];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const ledger = (): readonly FilmEntry[] => [...world.ledger] as readonly FilmEntry[];

async function audited(by: Encoder = standIn, seconds = SECONDS): Promise<FilmAudit> {
  const files = (await segments()).map(async (file) => [file, await by.secondsOf(segmentAt(file))] as const);
  return audit(ledger(), new Map(await Promise.all(files)), seconds);
}

const behave = (rule: object): Promise<Response> =>
  fetch(`${world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) });

test('a film is cut, encoded and published as a whole', async () => {
  const run = await testWorkflow(videoEncoding, { agents }).start(upload);
  const { status, output } = await run.waitForEnd();
  expect([status, output]).toEqual(['succeeded', { page: expect.any(String), seconds: SECONDS }]);
  expect(await audited()).toEqual({
    pages: [[1080, 1080, 1080]],
    doubled: 0,
    lost: 0,
    mixed: 0,
    leftBehind: [],
  });
});

test('a film with a chunk at which the encoder stalls twice is encoded in 720 lines as a whole', async () => {
  const trial = testWorkflow(videoEncoding, { agents });
  await standIn.film(uploadAt('harbour'), 2); // one chunk
  trial.hang(encodeChunk, { times: 2 }); // its heartbeats go on
  const { status, tookMs } = await (await trial.start(upload)).waitForEnd();
  expect(status).toBe('succeeded');
  expect(trial.calls(encodeChunk).map(({ on }) => on)).toEqual(['execute', 'execute', 'undo', 'execute']);
  expect((await audited(standIn, 2)).pages).toEqual([[720]]);
  expect(tookMs).toBeLessThan(120_000);
});

test('where one chunk has no licence, all of them are encoded in 720 lines, and no file of 1080 stays', async () => {
  await behave({ service: 'licence', mode: 'decline', match: { about: 'harbour/2' } });
  const trial = testWorkflow(videoEncoding, { agents });
  expect((await (await trial.start(upload)).waitForEnd()).status).toBe('succeeded');
  expect(await audited()).toEqual({
    pages: [[720, 720, 720]],
    doubled: 0,
    lost: 0,
    mixed: 0,
    leftBehind: [],
  });
});

test('a film that lacks a chunk is not published, and nothing of it stays', async () => {
  const trial = testWorkflow(videoEncoding, { agents });
  trial.fail(encodeChunk, { times: Infinity, with: new PermanentError('no codec') });
  expect((await (await trial.start(upload)).waitForEnd()).status).toBe('compensated');
  expect(await audited()).toEqual({ pages: [], doubled: 0, lost: 0, mixed: 0, leftBehind: [] });
});

test('a page that was published without an answer is found, not published again', async () => {
  const trial = testWorkflow(videoEncoding, { agents });
  trial.loseReply(publishFilm);
  expect((await (await trial.start(upload)).waitForEnd()).status).toBe('succeeded');
  expect(await audited()).toMatchObject({ pages: [[1080, 1080, 1080]], doubled: 0 });
});

test('a film that is not there is not asked for again', async () => {
  const run = await testWorkflow(videoEncoding, { agents }).start({ ...upload, upload: 'lighthouse' });
  const { status, steps } = await run.waitForEnd();
  expect([status, steps['plan']?.attempts]).toEqual(['failed', 1]);
});

/**
 * The catalogue's entries and the library: the published pages and the existing segments, by idempotency key.
 */
async function effects(): Promise<readonly WorldEffect[]> {
  const entries = ledger();
  const pages = entries.filter(({ kind }) => kind === 'page');
  return [
    ...(await segments()).map((file) => ({ key: file.replace(/\.mpegts$/, ''), kind: 'segment' })),
    ...pages.map(({ id, reference }) => ({
      key: reference,
      kind: 'page',
      undone: entries.filter(({ of }) => of === id).length,
    })),
  ];
}

/** Above 720 lines the outcome is unknown, as after a stall. */
function dyingAt47<I>(trial: WorkflowTest<I>): WorkflowTest<I> {
  const { execute, undo } = encode.worker.implementation;
  trial.replace(encodeChunk, {
    execute: async (ctx, input) => {
      if (input.height > 720) throw new Error('killed at 47 %');
      return (await execute(ctx, input)) as Segment;
    },
    undo: async (ctx, input, output) => undo?.(ctx, input, output),
  });
  return trial;
}

describe('a fault at any point loses and doubles nothing', () => {
  test('of a chunk whose encoder dies twice', async () => {
    const report = await crashEverywhere(videoChunk, {
      input: { chunk: { upload: 'harbour', from: 0, seconds: 2 }, height: 1080 },
      agents,
      effects,
      scenario: (trial, input) => dyingAt47(trial).start(input),
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });

  test('of a film that is encoded otherwise', async () => {
    await standIn.film(uploadAt('harbour'), 2); // one chunk
    const report = await crashEverywhere(videoEncoding, {
      input: upload,
      agents,
      effects,
      scenario: (trial, input) => dyingAt47(trial).start(input),
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('of a film that is not published in the end', async () => {
    await standIn.film(uploadAt('harbour'), 2); // one chunk
    const report = await crashEverywhere(videoEncoding, {
      input: upload,
      agents,
      effects,
      scenario: (trial, input) => {
        trial.fail(publishFilm, { times: Infinity, with: new PermanentError('not for children') });
        return trial.start(input);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});

describe.each([standIn, ...(isInstalled('ffmpeg') ? [ffmpeg] : [])])('$name', (by) => {
  const film = (): string => uploadAt('lighthouse');
  const target = (): string => join(folder, 'segment');
  beforeEach(() => by.film(film(), 3));

  test('encodes what is asked of it, and says how far it is', async () => {
    const shares: number[] = [];
    const { signal } = new AbortController();
    const at = async (share: number): Promise<void> => void shares.push(share);
    const part = { source: film(), target: target(), from: 1, seconds: 2, height: 240 };
    await by.encode({ ...part, signal, at });
    expect([await by.secondsOf(film()), await by.secondsOf(target())]).toEqual([3, 2]);
    expect(shares.at(-1)).toBeGreaterThan(0.9);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  });

  test('ends with its attempt where it stands still', async () => {
    const lost = new AbortController();
    const at = (): Promise<void> =>
      new Promise((_, reject) => {
        lost.signal.addEventListener('abort', () => reject(new Error('aborted')));
        lost.abort();
      });
    const whole = { source: film(), target: target(), from: 0, seconds: 3, height: 720 };
    await expect(by.encode({ ...whole, signal: lost.signal, at })).rejects.toThrow('aborted');
  });
});
