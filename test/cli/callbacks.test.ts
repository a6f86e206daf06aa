/** Answering callbacks and approvals from the command line. */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { eachFakeApi, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);
const ok = (body: unknown) => api.answers.push({ status: 200, body });
const refuse = (status: number, code: string, message: string) =>
  api.answers.push({ status, body: { error: { code, message } } });

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const open: ExecutionView = {
  executionId: 'e1',
  workflow: 'publish',
  status: 'running',
  startedAt: AT,
  plan: 'p1',
  deadlineAt: AT + 900_000,
  input: {},
  incidents: [],
  steps: [
    { name: 'pause', kind: 'wait', after: [], status: 'ready', waitsUntil: AT + 3_600_000, attempts: [] },
    {
      name: 'paid',
      kind: 'callback',
      after: [],
      status: 'waiting',
      waitsUntil: 1,
      token: 'e1.paid.k',
      attempts: [],
    },
    {
      name: 'ok',
      kind: 'approval',
      after: [],
      status: 'ready',
      waitsUntil: 1,
      token: 'e1.ok.k',
      attempts: [],
    },
    { name: 'later', kind: 'approval', after: ['ok'], status: 'pending', attempts: [] },
    {
      name: 'early',
      kind: 'approval',
      after: [],
      status: 'done',
      changedAt: AT,
      by: { kind: 'local', name: 'bob' },
      attempts: [],
    },
    {
      name: 'all',
      kind: 'map',
      after: [],
      status: 'running',
      children: {
        executionIds: ['e1.all.0', 'e1.all.1', 'e1.all.2', 'e1.all.3'],
        count: 400,
        started: 150,
        ended: { succeeded: 38, failed: 2 },
        items: { count: 9_990, begun: 3_750, ended: { succeeded: 950, failed: 50 } },
      },
      attempts: [],
    },
    {
      name: 'sub',
      kind: 'child',
      after: [],
      status: 'done',
      children: { executionIds: ['e1.sub.0'], count: 1, started: 1, ended: { succeeded: 1 } },
      attempts: [],
    },
  ],
};

describe('complete, fail and heartbeat', () => {
  test('send the token and what is given, and say how to go on', async () => {
    for (const status of ['completed', 'completed', 'failed', 'failed', 'open']) ok({ status });
    const first = await cli('complete', 'e1.x.0.paid.k', '--output', '{"amount":7}');
    expect(first).toEqual({
      exitCode: 0,
      out: `completed\nSee what follows: npx steadfast show e1.x.0 --url ${api.url}\n`,
      err: '',
    });
    await cli('complete', 'e1.paid.k');
    await cli('fail', 'e1.paid.k', '--message', 'expired');
    await cli('fail', 'e1.paid.k');
    expect((await cli('heartbeat', 'e1.paid.k', '--json')).out).toBe('{\n  "status": "open"\n}\n');
    expect(api.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/callbacks/e1.x.0.paid.k/complete', { output: { amount: 7 } }],
      ['POST', '/callbacks/e1.paid.k/complete', {}],
      ['POST', '/callbacks/e1.paid.k/fail', { message: 'expired' }],
      ['POST', '/callbacks/e1.paid.k/fail', {}],
      ['POST', '/callbacks/e1.paid.k/heartbeat', {}],
    ]);
  });

  test('say the next step when they are refused', async () => {
    refuse(404, 'unknown-callback', 'there is no callback with this token');
    const unknown = await cli('heartbeat', 'x');
    expect([unknown.exitCode, unknown.err]).toEqual([
      1,
      `there is no callback with this token\nSee the token of an open callback: npx steadfast show <execution> --url ${api.url}\n`,
    ]);
    refuse(400, 'bad-output', "the output does not fit callback 'paid': amount: wanted");
    expect((await cli('complete', 'e1.paid.k')).err).toMatch(
      /amount: wanted\nGive a valid output with --output/,
    );
    refuse(409, 'already-closed', "this callback is no longer open: 'paid' is done already");
    const late = await cli('fail', 'e1.paid.k');
    expect([late.exitCode, late.err]).toEqual([
      1,
      "this callback is no longer open: 'paid' is done already\n",
    ]);
    const bad = await cli('complete', 'e1.paid.k', '--output', '{amount}');
    expect([bad.exitCode, bad.err]).toMatchObject([2, expect.stringMatching(/^--output is not JSON/)]);
  });
});

describe('approve and reject', () => {
  test('find the token by the step, and send why and what', async () => {
    ok(open);
    ok({ status: 'completed', by: { kind: 'local', name: 'ann' } });
    const approved = await cli('approve', 'e1', 'ok', '--comment', 'fine');
    expect(approved.out).toBe(
      `e1  ok approved by local:ann\nSee what follows: npx steadfast show e1 --url ${api.url}\n`,
    );
    ok(open);
    ok({ status: 'failed' });
    expect((await cli('reject', 'e1', 'ok', '--reason', 'too dear')).out).toContain('e1  ok rejected\n');
    ok(open);
    ok({ status: 'failed' });
    await cli('reject', 'e1', 'ok');
    expect(api.asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body])).toEqual(
      [
        ['/callbacks/e1.ok.k/complete', { output: { comment: 'fine' } }],
        ['/callbacks/e1.ok.k/fail', { code: 'rejected', message: 'too dear' }],
        ['/callbacks/e1.ok.k/fail', { code: 'rejected', message: 'a person has rejected it' }],
      ],
    );
  });

  test.each([
    [
      'nobody',
      /has no step 'nobody'\. Its approvals are: ok, later, early\nSee its steps: npx steadfast show e1/,
    ],
    ['pause', /'pause' of execution e1 is of kind wait\. Its approvals are: ok, later, early\nSee its steps/],
    [
      'paid',
      /is of kind callback\. Its approvals are: ok, later, early\nA callback is answered with its token: npx steadfast complete e1\.paid\.k/,
    ],
    [
      'later',
      /'later' cannot be answered now: it comes after ok\nSee what happens next: npx steadfast why e1/,
    ],
    [
      'early',
      /'early' cannot be answered now: it is done since 2026-01-02 03:04:05Z, answered by local:bob\nSee what/,
    ],
  ])('of %s are refused with the next step, and nothing is sent', async (step, text) => {
    ok(open);
    const { exitCode, err } = await cli('approve', 'e1', step);
    expect([exitCode, err]).toMatchObject([1, expect.stringMatching(text)]);
    expect(api.asked).toHaveLength(1);
  });

  test('take no name of their own: who answers is what the API’s authorizer says', async () => {
    const { exitCode, err } = await cli('approve', 'e1', 'ok', '--by', 'ann');
    expect([exitCode, err]).toMatchObject([2, expect.stringContaining("unknown option '--by'")]);
    expect(api.asked).toHaveLength(0);
  });

  test('say what an execution that is over has become', async () => {
    ok({ ...open, status: 'canceled', endedAt: AT, steps: [{ ...open.steps[2], token: undefined }] });
    expect((await cli('reject', 'e1', 'ok')).err).toContain(
      'cannot be answered now: the execution is canceled',
    );
  });
});

test('show prints until when a step waits, how to answer it, and the executions of its own', async () => {
  ok(open);
  const { out } = await cli('show', 'e1');
  const at = ` --url ${api.url}`;
  expect(out).toContain(`answer     npx steadfast complete e1.paid.k --output …${at} (or fail, heartbeat)\n`);
  expect(out).toContain(`answer     npx steadfast approve e1 ok${at} (or reject)\n`);
  expect(out.slice(out.indexOf('STEP'))).toBe(
    [
      'STEP   STATUS   AGENT     NOTE',
      'pause  ready    wait      time is over',
      'paid   waiting  callback  waits for an answer, time is over',
      'ok     ready    approval  waits for an answer, time is over',
      'later  pending  approval  after ok',
      'early  done     approval',
      'all    running  map       at least 1000 of 9990 items ended, 6240 not begun',
      'sub    done     child     1 of 1 ended',
      '',
      'CHILDREN OF  STARTED             ENDED                     EXECUTIONS',
      'all          3750 of 9990 items  950 succeeded, 50 failed  e1.all.0 … e1.all.399',
      'sub          1 of 1              1 succeeded               e1.sub.0',
      '',
    ].join('\n'),
  );
  const soon = { ...open.steps[0], waitsUntil: Date.now() + 7_200_500 };
  ok({ ...open, steps: [soon] });
  expect((await cli('show', 'e1')).out).toMatch(/wait {3}until \d{4}-\S+ \S+Z, 2 h more/);
});

test('workflows prints what each kind of step is', async () => {
  const of = (name: string, more: object) => ({ name, after: [], ...more });
  const steps = [
    of('a', { kind: 'wait', forMs: 60_000 }),
    of('b', { kind: 'wait', until: { $ref: 'input', path: ['at'] } }),
    of('c', { kind: 'approval', withinMs: 172_800_000 }),
    of('d', { kind: 'child', workflow: 'inner', undo: 'required' }),
    of('e', { kind: 'map', agent: 'encode', effect: 'probed', undo: 'none' }),
  ];
  ok({ items: [{ workflow: 'w', plan: 'p', withinMs: 3_600_000, steps }] });
  expect((await cli('workflows')).out).toBe(
    [
      'WORKFLOW  WITHIN  STEP  AGENT                AFTER  EFFECT  UNDO',
      'w         1 h     a     wait 1 min',
      '                  b     wait until a time',
      '                  c     approval within 2 d',
      '                  d     child inner                         required',
      '                  e     map encode                  probed  none',
      '',
    ].join('\n'),
  );
});
