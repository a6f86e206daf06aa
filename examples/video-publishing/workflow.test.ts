/** What the workflow does with the handlers that are deployed, a library of its own, and people who answer or do not. */

import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import {
  crashEverywhere,
  type Effect,
  type TestRun,
  testWorkflow,
  type WorkflowTest,
} from 'steadfast/testing';
import { handler as encode } from './agents/encode-rendition.ts';
import { handler as inspect } from './agents/inspect-upload.ts';
import { handler as notify } from './agents/notify-subscribers.ts';
import { handler as order } from './agents/order-transcript.ts';
import { handler as publish } from './agents/publish-video.ts';
import { catalogue, look, put } from './library.ts';
import {
  encodeRendition,
  notifySubscribers,
  orderTranscript,
  publishVideo,
  type Upload,
  videoPublishing,
} from './workflow.ts';

const agents = [inspect, encode, order, publish, notify];
const upload: Upload = { upload: 'harbour', title: 'Harbour at dawn' };
const TRANSCRIPT = { language: 'en', lines: 12 };

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'videos-'));
  process.env['VIDEO_LIBRARY'] = folder;
  process.env['VIDEO_PIECE_MS'] = '0';
  await put('uploads', 'harbour', { seconds: 95, height: 1080 });
});
afterEach(() => {
  delete process.env['VIDEO_LIBRARY'];
  delete process.env['VIDEO_PIECE_MS'];
  rmSync(folder, { recursive: true });
});

type Trial = WorkflowTest<Upload>;

/** Up to where the editor is asked: the transcriber has answered. */
async function untilRelease(trial: Trial, input: Upload): Promise<TestRun> {
  const run = await trial.start(input);
  await run.until(({ steps }) => steps['transcribe']?.children !== undefined);
  const [spoken] = await run.children('transcribe');
  await spoken?.complete('transcript', TRANSCRIPT);
  await run.untilAsked('release');
  return run;
}

async function released(trial: Trial, input: Upload): Promise<TestRun> {
  const run = await untilRelease(trial, input);
  await run.approve('release', { by: 'ann' });
  return run;
}

test('a video is encoded in all its sizes, transcribed, released and published', async () => {
  const trial = testWorkflow(videoPublishing, { agents });
  const { status, output, steps } = await (await released(trial, upload)).untilEnd();
  expect([status, output]).toEqual(['succeeded', { page: '/videos/1', by: 'local:ann' }]);
  expect(steps['encode']?.output).toMatchObject({
    total: 4,
    failed: 0,
    items: [{ height: 1080 }, {}, {}, {}],
  });
  expect(steps['embargo']?.status).toBe('skipped');
});

test('the transcriber finds the token in its order', async () => {
  const trial = testWorkflow(videoPublishing, { agents });
  const run = await trial.start(upload);
  await run.until(({ steps }) => steps['encode']?.status === 'done');
  const [spoken] = await run.children('transcribe');
  const [ordered] = trial.calls(orderTranscript);
  expect(await look('transcripts', ordered?.effectKey ?? '')).toEqual({
    upload: 'harbour',
    token: expect.stringMatching(new RegExp(`^${spoken?.id}\\.transcript\\..+`)),
  });
});

test('one size may fail, two may not', async () => {
  const spoilt = (heights: readonly number[]): Trial => {
    const trial = testWorkflow(videoPublishing, { agents });
    const { execute } = encode.worker.implementation;
    trial.replace(encodeRendition, {
      execute: async (ctx, input) => {
        if (heights.includes(input.height)) throw new PermanentError('no codec');
        return (await execute(ctx, input)) as { height: number; file: string };
      },
    });
    return trial;
  };
  const one = await (await released(spoilt([480]), upload)).untilEnd();
  expect([one.status, one.steps['encode']?.output]).toMatchObject(['succeeded', { total: 4, failed: 1 }]);
  const run = await spoilt([480, 240]).start(upload);
  expect(await run.untilEnd()).toMatchObject({
    status: 'compensated',
    failure: { code: 'child-compensated' },
  });
  expect(await readdir(join(folder, 'renditions'))).toHaveLength(3); // those of the first run
});

test('what is not to be seen before its time is not', async () => {
  const trial = testWorkflow(videoPublishing, { agents });
  const publishAt = new Date(trial.now() + 3 * 86_400_000).toISOString();
  const run = await released(trial, { ...upload, publishAt });
  await trial.skip('71h');
  expect(await catalogue()).toEqual([]);
  expect((await run.why()).next.at).toBe(Date.parse(publishAt));
  await trial.skip('2h');
  expect((await run.state()).status).toBe('succeeded');
});

test.each([
  ['the editor says no', (run: TestRun) => run.reject('release', 'the title is wrong'), 'rejected'],
  ['nobody answers for five days', async () => undefined, 'no-answer'],
])('when %s, nothing is left behind', async (_, answer, code) => {
  const run = await untilRelease(testWorkflow(videoPublishing, { agents }), upload);
  await answer(run);
  expect(await run.untilEnd()).toMatchObject({ status: 'compensated', failure: { code } });
  expect(await effects()).toEqual([]);
});

/** The library's own book: by effect key what stands there, and what was published and taken down. */
async function effects(): Promise<readonly Effect[]> {
  const shelves = ['renditions', 'transcripts', 'mails'] as const;
  const files = shelves.map(async (kind) => {
    const names = await readdir(join(folder, kind)).catch(() => []);
    return names.map((name) => ({ key: name.replace(/\.json$/, ''), kind }));
  });
  const entries = await catalogue();
  const pages = entries.filter(({ takenDown }) => takenDown === undefined);
  return [
    ...(await Promise.all(files)).flat(),
    ...pages.map(({ page, reference }) => ({
      key: reference,
      kind: 'page',
      undone: entries.filter((entry) => entry.takenDown && entry.page === page).length,
    })),
  ];
}

describe('a fault at any point loses and doubles nothing', () => {
  it('on the way to the subscribers', async () => {
    const report = await crashEverywhere(videoPublishing, {
      input: upload,
      agents,
      effects,
      scenario: released,
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
    expect(report.runs).toBeGreaterThan(100);
  });

  it('nor on the way back', async () => {
    const report = await crashEverywhere(videoPublishing, {
      input: upload,
      agents,
      effects,
      scenario: (trial, input) => {
        trial.fail(notifySubscribers, { times: Infinity, with: new PermanentError('the list is gone') });
        return released(trial, input);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});

test('a page that was published without an answer is found, not published again', async () => {
  const trial = testWorkflow(videoPublishing, { agents });
  trial.loseReply(publishVideo);
  expect((await (await released(trial, upload)).untilEnd()).status).toBe('succeeded');
  expect(await readFile(join(folder, 'catalogue.jsonl'), 'utf8')).toMatch(/^[^\n]+\n$/);
});
