/** Rounds that wait for messages: how people see, pause, end and retry them. */

import { agent, eq, orElse, received, workflow } from 'steadfast';
import { crashEverywhere, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Note = z.object({ text: z.string() });
const Page = z.object({ text: z.string(), isLast: z.boolean() });
const writeNote = agent('write', {
  input: z.object({ message: Note, before: z.string() }),
  output: Page,
  effect: 'idempotent',
  timeout: '30s',
});
/** The service that stores the notes, and the undos that it was asked for. */
const writer = () => {
  const texts: string[] = [];
  const undone: string[] = [];
  const handler = writeNote.handler({
    execute: async (_ctx, { message, before }) => {
      texts.push(message.text);
      return { text: `${before}${message.text}`, isLast: message.text === '.' };
    },
    undo: async (_ctx, { before, message }) => {
      undone.push(`${before}${message.text}`);
    },
  });
  return { handler, texts, undone };
};
const letter = workflow('letter', { input: z.object({}), within: '9d' }, (w) => {
  const notes = w.repeat('notes', writeNote, received('opening', Note, { before: '' }), {
    next: received('note', Note, (last) => ({ before: last.text })),
    until: (last) => eq(last.isLast, true),
    maxRounds: 9,
    within: '2h',
  });
  return { text: notes.output.last.text };
});
const started = async () => {
  const { handler, texts, undone } = writer();
  const run = await testWorkflow(letter, { agents: [handler] }).start({});
  const waits = (number: number) =>
    run.until(
      ({ steps: { notes } }) => notes?.waitsUntil !== undefined && (notes.children?.try ?? 1) === number,
    );
  return { run, waits, texts, undone };
};

it('the first waits, too, if its input is a message', async () => {
  const { run, waits, texts } = await started();
  await waits(1);
  await run.send('note', { text: 'too early for the first' });
  await run.send('opening', { text: 'a' });
  await run.send('note', { text: '.' });
  expect((await run.waitForEnd()).output).toEqual({ text: 'atoo early for the first.' });
  expect(texts).toHaveLength(3);
});

it('why says which round waits for what, and which began with which message (M7)', async () => {
  const { run, waits } = await started();
  await run.send('opening', { text: 'a' }, { id: 'm-a' });
  await run.send('note', { text: 'b' }, { id: 'm-b' });
  await waits(3);
  const { steps, past } = await run.why();
  expect(steps[0]?.because).toMatch(/^round 3 waits for its message: no 'note' has come; it waits until /);
  expect(steps[0]?.next).toMatchObject({
    what: "a message 'note' comes; without one it fails",
    who: 'external-party',
  });
  expect(past.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^try 1, with message m-a/),
      expect.stringMatching(/^try 2, with message m-b/),
    ]),
  );
});

it('a cancel undoes the rounds, the latest first, and refuses what comes after (M4)', async () => {
  const { run, waits, undone } = await started();
  await run.send('opening', { text: 'a' });
  await run.send('note', { text: 'b' });
  await waits(3);
  await run.cancel('no more');
  expect((await run.waitForEnd()).status).toBe('canceled');
  expect(undone).toEqual(['ab', 'a']);
  await expect(run.send('note', { text: 'c' })).rejects.toMatchObject({ code: 'ended' });
});

it('a pause takes nothing, extends the time, and the resume takes what came', async () => {
  const { run, waits, texts } = await started();
  await run.send('opening', { text: 'a' });
  await waits(2);
  await run.pause('a break');
  await run.send('note', { text: '.' });
  expect(texts).toEqual(['a']);
  await run.resume();
  expect((await run.waitForEnd()).output).toEqual({ text: 'a.' });
});

const kept = workflow('kept', { input: z.object({}), within: '9d' }, (w) => {
  const notes = w.repeat(
    'notes',
    writeNote,
    { message: { text: 'a' }, before: '' },
    {
      next: received('note', Note, (last) => ({ before: last.text })),
      until: (last) => eq(last.isLast, true),
      maxRounds: 3,
      within: '2h',
      undo: 'none',
      mayFail: true,
    },
  );
  return { text: orElse(notes.output.last.text, 'nothing') };
});

it('a step that may fail goes on without a message in time, with what its rounds answered', async () => {
  const run = await testWorkflow(kept, { agents: [writer().handler] }).start({});
  await run.send('note', { text: 'b' });
  const end = await run.waitForEnd();
  expect([end.status, end.output]).toEqual(['succeeded', { text: 'ab' }]);
});

const failing = workflow('failing', { input: z.object({}), within: '9d' }, (w) => {
  w.repeat(
    'notes',
    writeNote,
    { message: { text: 'a' }, before: '' },
    {
      next: received('note', Note, (last) => ({ before: last.text })),
      until: (last) => eq(last.isLast, true),
      maxRounds: 3,
      within: '2h',
      undo: 'none',
    },
  );
});

it('a retry waits again for the message that did not come, and repeats no round', async () => {
  const { handler, texts } = writer();
  const run = await testWorkflow(failing, { agents: [handler] }).start({});
  expect((await run.waitForEnd()).status).toBe('failed');
  await run.retry('it will come');
  await run.send('note', { text: '.' });
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(texts).toEqual(['a', '.']);
});

it('waits, is given up and retried alike, whatever dies when', async () => {
  const report = await crashEverywhere(failing, {
    agents: [writer().handler],
    input: {},
    scenario: async (trial, input) => {
      const run = await trial.start(input);
      await run.waitForEnd();
      await run.retry('again');
      await run.send('note', { text: '.' });
      return run;
    },
  });
  expect(report.findings).toEqual([]);
  expect(report.ends).toEqual({ succeeded: report.runs + 1 });
});
