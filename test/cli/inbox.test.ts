/** `inbox`: urgent questions first, equal questions in one line, and the commands for answering. */

import { eachFakeApi, ok, type Ran, steadfast } from './fake-api.ts';
import { AT, incident, open } from './an-incident.ts';

const api = eachFakeApi();

const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

test('incidents lists the open questions and what happens without an answer', async () => {
  api.answers.push(ok({ items: [{ ...incident, workflow: 'order' }] }));
  const { out } = await cli('incidents');
  expect(out.split('\n')[1]).toMatch(/^EXECUTION +INCIDENT +STEP +ABOUT +FAILURE +OPEN FOR +OTHERWISE$/);
  expect(out).toMatch(/e1 +2 +charge +order +declined .* undo-all in 0 ms/);
  api.answers.push(ok({ items: [{ ...incident, reminders: 2 }] }));
  expect((await cli('incidents')).out).toMatch(/charge +declined \(reminded 2 times\) .* undo-all in 0 ms/);
  api.answers.push(ok({ items: [] }));
  expect((await cli('inbox')).out).toBe('No open incidents, approvals or callbacks.\n');
});

test('incidents lists approvals and callbacks beside them, with what answers each', async () => {
  const approval = {
    executionId: 'e2',
    step: 'release',
    kind: 'approval',
    openedAt: AT,
    deadlineAt: AT + 3_600_000,
    otherwise: 'reject',
    reminders: 0,
  };
  const callback = { ...approval, step: 'paid', kind: 'callback', otherwise: 'fail', reminders: 2 };
  api.answers.push(ok({ items: [{ ...approval, reminders: 1 }, callback, incident] }));
  const { out } = await cli('incidents');
  expect(out).toMatch(/^e2 +approval +release +\(reminded once\) .* reject in 0 ms$/m);
  expect(out).toMatch(/^e2 +callback +paid +\(reminded 2 times\) .* fail in 0 ms$/m);
  expect(out).toContain(`  npx steadfast approve e2 release --url ${api.url} (or reject)\n`);
  expect(out).toContain(`  npx steadfast show e2 --url ${api.url} (has the token of 'paid')\n`);
  expect(out).toContain(`  ${answerIt()} (its safe answers: npx steadfast show e1 --url ${api.url})\n`);
});

test('incidents has a line for equal questions, the most urgent first, and what answers all of them', async () => {
  const asked = (at: number) => ({
    executionId: `v${at}`,
    workflow: 'trip',
    step: 'visa',
    kind: 'approval',
    openedAt: AT,
    deadlineAt: AT + 3_600_000 + at,
    otherwise: 'reject',
    reminders: 0,
    shown: { trip: `A-${at}` },
  });
  const failed = (at: number) => ({
    ...incident,
    executionId: `f${at}`,
    workflow: 'trip',
    failure: { code: 'no room', message: `hotel ${at} is full` },
  });
  const all = Array.from({ length: 93 }, (_, at) => asked(at));
  api.answers.push(ok({ items: all.slice(0, 50), cursor: 'c' }));
  api.answers.push(ok({ items: [failed(1), ...all.slice(50), failed(2)] }));
  const { out } = await cli('incidents');
  expect(out.split('\n').slice(0, 4)).toEqual([
    '95 open, the earliest deadline first',
    expect.stringMatching(/^EXECUTION +COUNT +INCIDENT +STEP +ABOUT +FAILURE +OPEN FOR +OTHERWISE$/),
    expect.stringMatching(/^v0 … +93 +approval +visa +trip .* reject, the first in 0 ms$/),
    expect.stringMatching(
      /^f1 … +2 +incident +charge +trip +hotel 1 is full .* undo-all, the first in 0 ms$/,
    ),
  ]);
  const url = `--url ${api.url}`;
  expect(out).toContain(
    `  npx steadfast bulk approve --workflow trip --status open --step visa ${url} (or reject)\n`,
  );
  expect(out).toContain(
    `  npx steadfast bulk resolve --workflow trip --status open --code 'no room' --step charge --choice … ${url} (`,
  );
  expect(out.split('\n').length).toBeLessThan(12);
  api.answers.push(ok({ items: all }));
  expect((await cli('incidents', '--each')).out.match(/^v\d+ /gm)).toHaveLength(93);
});

test('incidents says of more questions than it reads that there are more', async () => {
  const page = Array.from({ length: 100 }, (_, at) => ({
    ...incident,
    executionId: `e${at}`,
    workflow: 'trip',
  }));
  for (let at = 0; at < 5; at += 1) api.answers.push(ok({ items: page, cursor: 'c' }));
  const { out } = await cli('incidents');
  expect(out).toContain('≥ 500 open, the earliest deadline first\n');
  expect(out).toMatch(/^e0 … +≥ 500 /m);
});

test('incidents and show say what is to be approved, and obey nothing that is written there', async () => {
  const approval = {
    executionId: 'e2',
    step: 'release',
    kind: 'approval',
    openedAt: AT,
    deadlineAt: AT + 3_600_000,
    otherwise: 'reject',
    reminders: 0,
    shown: { amount: 5_200, hotel: 'Ritz\u001b[2J', room: { number: 7 } },
  };
  api.answers.push(ok({ items: [{ ...approval, workflow: 'booking', tags: { bookingId: '4711' } }] }));
  const shown = 'amount: 5200, hotel: Ritz\\u001b[2J, room: {"number":7}';
  expect((await cli('incidents')).out).toContain(`  ${shown} · booking · bookingId: 4711  `);
  const step = { name: 'release', kind: 'approval', after: [], status: 'waiting', attempts: [], token: 't' };
  api.answers.push(ok({ ...open, steps: [{ ...step, waitsUntil: AT, question: approval }] }));
  expect((await cli('show', 'e1')).out).toContain(`  release: ${shown}\n`);
});

const answerIt = (): string => `npx steadfast resolve e1 2 --choice … --url ${api.url}`;

test('incidents shortens a long failure visibly, and tells how to answer', async () => {
  const failure = (message: string) => ({ ...incident, failure: { code: 'Error', message } });
  api.answers.push(ok({ items: [failure('x'.repeat(110)), failure('y'.repeat(111))] }));
  const { out } = await cli('incidents');
  expect(out).toContain(` ${'x'.repeat(110)} `);
  expect(out).toContain(` ${'y'.repeat(109)}… `);
  expect(out).toMatch(/\n\nAnswer with:\n/);
  expect(out).toContain(`  ${answerIt()} (its safe answers: npx steadfast show e1 --url ${api.url})\n`);
});
