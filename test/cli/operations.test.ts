/** The operators' commands: their API calls and their output. */

import { type Answer, eachFakeApi, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const obeyed = (status: string): Answer => ({ status: 202, body: { executionId: 'e1', status } });
const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

test.each([
  [
    ['cancel', 'e1', '--no-undo'],
    { undo: false },
    'compensating',
    'See it end: npx steadfast show e1 --wait',
  ],
  [['cancel', 'e1'], {}, 'compensating', 'See its steps being undone: npx steadfast show e1 --wait'],
  [['pause', 'e1', '--within', '2h'], { within: '2h' }, 'paused', 'Resume it: npx steadfast resume e1'],
  [
    ['resume', 'e1', '--reason', 'open'],
    { reason: 'open' },
    'running',
    'See it continue: npx steadfast show e1 --wait',
  ],
  [['retry', 'e1'], {}, 'running', 'See it continue: npx steadfast show e1 --wait'],
  [
    ['retry', 'e1', '--input', '{"to":"2 Main Street"}', '--step', 'ship'],
    { input: { to: '2 Main Street' }, step: 'ship' },
    'running',
    'See it continue: npx steadfast show e1 --wait',
  ],
])('%j asks for it and says what to type next', async (args, body, status, next) => {
  api.answers.push(obeyed(status));
  const { out, exitCode } = await cli(...args);
  expect(exitCode).toBe(0);
  expect(out).toBe(`e1  ${status}\n${next} --url ${api.url}\n`);
  expect(api.asked).toEqual([{ method: 'POST', path: `/executions/e1/${args[0]}`, body }]);
});

test.each([
  [
    ['e1', 'paid', '--body', '{"amount":1}', '--message-id', 'm-1'],
    '/executions/e1/messages',
    { name: 'paid', body: { amount: 1 }, id: 'm-1' },
  ],
  [
    ['ship', 'paid', '--key', 'o-1', '--body', 'null', '--start-with', '{"n":1}'],
    '/workflows/ship/messages',
    { name: 'paid', key: 'o-1', body: null, startWith: { input: { n: 1 } } },
  ],
])('send %j sends the message and says what to type next', async (args, path, body) => {
  api.answers.push({ status: 202, body: { executionId: 'e1', id: 'm-1', order: 3, at: 1 } });
  const { out, exitCode } = await cli('send', ...args);
  expect(exitCode).toBe(0);
  expect(out).toBe(
    `e1  message 3 accepted, with the id m-1\nSee what follows: npx steadfast show e1 --url ${api.url}\n`,
  );
  expect(api.asked).toEqual([{ method: 'POST', path, body }]);
});

test.each([2, -2])(
  'how long ago is measured by the clock of the API, %i hours from this one',
  async (hours) => {
    const at = Math.floor(Date.now() / 1_000) * 1_000 + hours * 3_600_000;
    const pause = { at: at - 180_000, reason: 'the bank is closed' };
    api.answers.push({ status: 200, body: { workflow: 'pay', pause }, at });
    expect((await cli('pause-workflow', 'pay', '--reason', 'x')).out).toMatch(/paused for 3 min( \d+ s)?:/);
  },
);

test('a cancel says what is in effect, and never that something is undone where nothing will be', async () => {
  const standing = {
    stands: 2,
    mayStand: 1,
    first: [
      { step: 'charge', effect: 'stands' },
      { step: 'ship', effect: 'stands', executionId: 'e1.ship.0' },
      { step: 'book', effect: 'may-stand' },
    ],
    view: '/executions/e1',
  };
  const body = { executionId: 'e1', status: 'compensating', undo: false, standing };
  api.answers.push({ status: 202, body });
  expect((await cli('cancel', 'e1', '--no-undo')).out.split('\n').slice(0, 2)).toEqual([
    'e1  ending as it is; nothing is undone',
    'Nothing is undone; in effect: charge, ship (e1.ship.0); maybe in effect: book',
  ]);
  api.answers.push({ status: 202, body: { ...body, status: 'failed' } });
  const { out } = await cli('resolve', 'e1', '1', '--choice', 'keep');
  expect(out).toMatch(/^e1 {2}failed\nNothing is undone; in effect: charge, /);
  expect(out).not.toContain('compensating');
});

test('a refused one says why', async () => {
  const message = 'execution e1 cannot be tried again: it has ended: compensated';
  api.answers.push({ status: 409, body: { error: { code: 'not-retryable', message } } });
  const { exitCode, err } = await cli('retry', 'e1');
  expect([exitCode, err]).toEqual([1, `${message}\nSee it: npx steadfast show e1 --url ${api.url}\n`]);
});

test('a retry that is refused names the option to people, and the field to programs', async () => {
  const message = 'it has ended as \'compensated\'; start a new execution with "replaces": "e0"';
  const refusal = { status: 409, body: { error: { code: 'not-retryable', message } } };
  api.answers.push(refusal, refusal);
  expect((await cli('retry', 'e0')).err).toContain('start a new execution with --replaces e0\n');
  expect((await cli('retry', 'e0', '--json')).err).toContain('\\"replaces\\"');
});

test('start says which execution it replaces', async () => {
  api.answers.push(obeyed('running'));
  await cli('start', 'order', '--replaces', 'e0');
  expect(api.asked[0]?.body).toEqual({ input: {}, replaces: 'e0' });
});

describe('a workflow', () => {
  const pause = {
    at: Date.now() - 76.5 * 3_600_000,
    by: { kind: 'local', name: 'ann' },
    reason: 'closed',
  };

  test('is paused, and says how starts run again', async () => {
    api.answers.push({ status: 202, body: { workflow: 'order', pause } });
    const { out } = await cli('pause-workflow', 'order', '--reason', 'closed', '--within', '2h');
    expect(out).toBe(
      `order  paused for 3 d 4 h by local:ann: closed\nResume starts: npx steadfast resume-workflow order --url ${api.url}\n`,
    );
    const body = { reason: 'closed', within: '2h' };
    expect(api.asked).toEqual([{ method: 'POST', path: '/workflows/order/pause', body }]);
  });

  test('is resumed, and says what is still paused', async () => {
    api.answers.push({ status: 202, body: { workflow: 'order' } });
    expect((await cli('resume-workflow', 'order')).out).toBe(
      `order  not paused\nResume the executions that started paused one by one (resume <id>): npx steadfast list --workflow order --status paused --url ${api.url}\n`,
    );
  });

  test('that is paused is seen in the list, and a start of it says what to type next', async () => {
    api.answers.push({
      status: 200,
      body: { items: [{ workflow: 'order', withinMs: 1, steps: [], pause }] },
    });
    expect((await cli('workflows')).out).toContain('order: paused for 3 d 4 h by local:ann: closed');
    api.answers.push(obeyed('paused'));
    expect((await cli('start', 'order')).out).toContain('To run this execution: npx steadfast resume e1');
  });
});

test.each([
  [
    'pause-agent',
    { status: 'paused', since: 1, pause: { at: Date.now() - 76.5 * 3_600_000, reason: 'asked to' } },
    'pay  paused for 3 d 4 h: asked to\nResume it: npx steadfast resume-agent pay',
  ],
  ['resume-agent', { status: 'closed' }, 'pay  closed\nSee its state: npx steadfast agents'],
])('%s says how the agent is and what to type next', async (command, breaker, said) => {
  api.answers.push({ status: 202, body: { agent: 'pay', breaker } });
  expect((await cli(command, 'pay')).out).toBe(`${said} --url ${api.url}\n`);
  expect(api.asked[0]?.path).toBe(`/agents/pay/${command.split('-')[0]}`);
});

test.each([
  [
    { breaker: { status: 'half-open', since: 1 }, woken: 1, first: { executionId: 'e1', step: 'pay' } },
    /^Step pay of e1 is the trial, in about 5 s: .*at once with: npx steadfast agents try-now pay --url/m,
  ],
  [
    { breaker: { status: 'half-open', since: 1 }, woken: 0 },
    /^Nothing waits for it: the next step that needs it is the trial$/m,
  ],
  [
    { breaker: { status: 'half-open', since: 1, trialUntil: 1_700_000_000_000 }, woken: 0 },
    /^A trial is under way, until 2023-11-14 22:13:20Z at the latest/m,
  ],
  [
    { breaker: { status: 'closed' }, woken: 300, atLeast: true, first: { executionId: 'e1', step: 'pay' } },
    /^Its breaker is closed; 300 steps that still wait are sent in about 5 s; more may wait: npx steadfast/m,
  ],
  [{ breaker: { status: 'closed' }, woken: 0 }, /^Its breaker is closed, and nothing waits for it: /m],
  [
    { breaker: { status: 'paused', since: 1, pause: { at: 1, reason: 'asked to' } }, woken: 0 },
    /^Nothing is called while it is paused; resume it: npx steadfast resume-agent pay/m,
  ],
])('agents try-now says what follows: %j', async (answer, said) => {
  const due = answer.woken === 0 ? {} : { dueAt: Date.now() + 5_400 };
  api.answers.push({ status: 202, body: { agent: 'pay', ...answer, ...due } });
  const { out, exitCode } = await cli('agents', 'try-now', 'pay');
  // The result uses the server's clock, which says whole seconds.
  expect(out.replaceAll(/[56](\.\d)? s/g, '5 s')).toMatch(said);
  expect(exitCode ?? 0).toBe(0);
  expect(api.asked).toEqual([{ method: 'POST', path: '/agents/pay/try-now', body: {} }]);
});
