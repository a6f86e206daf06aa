/** The commands about incidents, and what other commands print about an open one. */

import { type Answer, eachFakeApi, ok, type Ran, steadfast } from './fake-api.ts';
import { AT, incident, open } from './an-incident.ts';

const api = eachFakeApi();

const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
});
const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

const answerIt = (): string => `npx steadfast resolve e1 2 --choice … --url ${api.url}`;

test('show names the open question and the answers that are safe now', async () => {
  const choices = [{ choice: 'retry', needs: 'nothingHappened' }, { choice: 'undo-all' }];
  api.answers.push(ok({ ...open, incidents: [{ ...incident, choices }] }));
  const { out } = await cli('show', 'e1');
  expect(out).toContain('charge: declined (retry, undo-all)\n');
  expect(out).toMatch(/^deadline {4}2026-01-02 03:19:05Z, passed .+ ago$/m);
  expect(out).toContain(`answer      ${answerIt()}\n`);
});

test("show says what is in effect, and before the choice what 'keep' leaves", async () => {
  const first = Array.from({ length: 20 }, (_, at) => ({ step: `s${at}`, effect: 'stands' }));
  const standing = { stands: 23, mayStand: 0, first, view: '/executions/e1' };
  const choices = [{ choice: 'retry' }, { choice: 'keep', leaves: standing }];
  api.answers.push(ok({ ...open, standing, incidents: [{ ...incident, choices }] }));
  const { out } = await cli('show', 'e1');
  expect(out).toMatch(/^in effect +s0, .*, s19 and 3 more: GET \/executions\/e1$/m);
  expect(out).toMatch(/^'keep' leaves +in effect: s0, /m);
  const nothing = { stands: 0, mayStand: 0, first: [], view: '/executions/e1' };
  const ended = { ...open, status: 'compensated', endedAt: AT + 1, standing: nothing };
  api.answers.push(ok(ended));
  expect((await cli('show', 'e1')).out).toMatch(/^in effect +nothing$/m);
  // While it simply runs, its steps say everything.
  api.answers.push(ok({ ...open, status: 'running', standing }));
  expect((await cli('show', 'e1')).out).not.toContain('in effect');
});

test('show does not tell how to answer what is answered', async () => {
  api.answers.push(ok({ ...open, incidents: [{ ...incident, closedAt: AT, closedBy: 'answer' }] }));
  expect((await cli('show', 'e1')).out).not.toContain('resolve');
});

describe('--wait', () => {
  const asked = { ...open, incidents: [{ ...incident, choices: [{ choice: 'undo-all' }] }] };
  const end = { ...open, status: 'succeeded', endedAt: AT + 1_000 };

  test.each([[['show', 'e1', '--wait']], [['start', 'order', '--wait']]])(
    '%j says an open question once, and goes on waiting',
    async (args) => {
      if (args[0] === 'start') api.answers.push(ok({ executionId: 'e1', status: 'running' }, 202));
      api.answers.push(ok({ ...open, status: 'running' }), ok(asked), ok(asked), ok(end));
      const { exitCode, out, err } = await cli(...args);
      expect(exitCode).toBe(0);
      const started = args[0] === 'start' ? `e1  running\nSee it: ${api.url}/console/#/executions/e1\n` : '';
      const question = `incident 2 is open: charge: declined (undo-all)\nAnswer it: ${answerIt()}\n`;
      expect(err).toBe(`${started}${question}`);
      expect(out).toContain('status     succeeded');
      expect(api.answers).toEqual([]);
    },
  );

  test('with --json the question is JSON too', async () => {
    api.answers.push(ok(asked), ok(end));
    const { out, err } = await cli('show', 'e1', '--wait', '--json');
    expect(JSON.parse(err)).toEqual({ incident: asked.incidents[0], answer: answerIt() });
    expect(JSON.parse(out)).toEqual(end);
  });

  const release = {
    name: 'release',
    kind: 'approval',
    status: 'waiting',
    attempt: 0,
    waitsUntil: AT + 9_000,
  };
  const approved = { ...open, incidents: [], steps: [{ ...release, token: 'e1.release.secret' }] };
  const approve = (): string => `npx steadfast approve e1 release --url ${api.url}`;

  test('says an open approval once, and how it is given', async () => {
    const early = { ...approved, steps: [{ ...release, waitsUntil: undefined, token: 'e1.release.secret' }] };
    api.answers.push(ok(early), ok(approved), ok(approved), ok(end));
    const { err } = await cli('show', 'e1', '--wait');
    expect(err).toMatch(/^approval 'release' waits for an answer, (time is over|until .*)\nApprove it: /);
    expect(err.match(/Approve it/g)).toHaveLength(1);
    expect(err).toContain(`Approve it: ${approve()} (or reject)\n`);
  });

  test('with --json the approval is JSON, without its token', async () => {
    api.answers.push(ok(approved), ok(end));
    const { err } = await cli('show', 'e1', '--wait', '--json');
    expect(JSON.parse(err)).toEqual({ approval: release, answer: approve() });
  });
});

test('resolve sends the choice with what it needs, and tells why it was refused', async () => {
  api.answers.push(ok({ executionId: 'e1', status: 'running' }, 202));
  const given = [
    '--choice',
    'retry-with-input',
    '--input',
    '{"a":1}',
    '--nothing-happened',
    '--reason',
    'checked',
  ];
  expect((await cli('resolve', 'e1', '2', ...given)).out).toBe(
    `e1  running\nSee what follows: npx steadfast why e1 --url ${api.url}\n`,
  );
  expect(api.asked.at(-1)).toEqual({
    method: 'POST',
    path: '/executions/e1/incidents/2/resolve',
    body: { choice: 'retry-with-input', reason: 'checked', input: { a: 1 }, nothingHappened: true },
  });
  api.answers.push(refusal(409, 'already-resolved', "incident 2 was resolved with 'skip' by a person"));
  const late = await cli('resolve', 'e1', '2', '--choice', 'keep');
  expect([late.exitCode, late.err]).toEqual([1, "incident 2 was resolved with 'skip' by a person\n"]);
  expect((await cli('resolve', 'e1', 'two', '--choice', 'keep')).exitCode).toBe(2);
  expect((await cli('resolve', 'e1', '2')).exitCode).toBe(2);
});

test.each([
  [
    'unsafe-choice',
    `an attempt may have acted: 'retry' needs "nothingHappened": true from a person who has checked`,
    'If you have checked, add --nothing-happened',
  ],
  ['unsafe-choice', "'retry-with-input' needs an input", 'Give an input with --input JSON or --input @file'],
  ['unsafe-choice', "'give-output' needs an output", 'Give an output with --output JSON or --output @file'],
  [
    'bad-input',
    "the output does not fit agent 'charge-card': id: wanted",
    'Give a valid one with --output JSON or --output @file; its schema is in its agent’s declaration',
  ],
  [
    'bad-input',
    "the input does not fit agent 'charge-card': id: wanted",
    'Give a valid one with --input JSON or --input @file; its schema is in the workflow’s workflow.ts',
  ],
])('a refused answer is explained in the words of the command line: %s %s', async (code, message, hint) => {
  api.answers.push(refusal(409, code, message));
  const { exitCode, err } = await cli('resolve', 'e1', '2', '--choice', 'retry');
  expect([exitCode, err]).toEqual([1, `${message}\n${hint}\n`]);
});
