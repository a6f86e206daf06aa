/**
 * No command prints control sequences of foreign text to a terminal: each command that prints an answer is
 * tested with hostile text in all fields.
 */

import { ioOf } from '../../cli/io.ts';
import { type Answer, type FakeApi, fakeApi, steadfast } from './fake-api.ts';

/**
 * Control sequences for a new line, title, clearing, clipboard; single control characters; and characters
 * that reverse text.
 */
const HOSTILE =
  '\nhealth  all is well\n\u001b]0;owned\u0007\u001b[2J\u001b]52;c;eA==\u001b\\\u009b31m\r\b\u202egnp.exe\u2066x\u061c';
/**
 * All characters that control a terminal, except line ends and tabs, because the command line's own layout
 * uses them.
 */
const OBEYED = /(?![\n\t])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

let api: FakeApi;
beforeAll(async () => {
  api = await fakeApi();
});
afterAll(async () => api.stop());

const failure = { code: HOSTILE, message: HOSTILE };
const AT = 1_700_000_000_000;
const attempt = {
  mode: 'execute',
  number: 1,
  outcome: 'failed',
  claimedAt: AT,
  endedAt: AT,
  failure,
  agent: HOSTILE,
};
const step = {
  name: HOSTILE,
  kind: 'agent',
  agent: HOSTILE,
  status: 'failed',
  after: [HOSTILE],
  attempts: [attempt],
  failure,
  output: { [HOSTILE]: HOSTILE },
  progress: HOSTILE,
};
const caller = { kind: 'iam', name: HOSTILE };
const execution = {
  executionId: HOSTILE,
  workflow: HOSTILE,
  status: 'failed',
  startedAt: AT,
  endedAt: AT,
  deadlineAt: AT,
  startedBy: caller,
  input: HOSTILE,
  output: HOSTILE,
  cause: { kind: 'failure', step: HOSTILE, failure, at: AT, by: caller },
  code: HOSTILE,
  pauses: [{ number: 1, at: AT, reason: HOSTILE, by: caller }],
  incidents: [
    { number: 1, step: HOSTILE, openedAt: AT, deadlineAt: AT, failure, choices: [{ choice: HOSTILE }] },
  ],
  steps: [step],
};
const next = { what: HOSTILE, at: AT, who: 'agent', step: HOSTILE };
const why = {
  executionId: HOSTILE,
  status: 'failed',
  past: [{ at: AT, what: HOSTILE, step: HOSTILE, evidence: { HOSTILE } }],
  steps: [{ name: HOSTILE, status: 'failed', because: HOSTILE, next }],
  next,
  warnings: [HOSTILE],
  commands: [],
};
const breaker = { status: 'paused', since: AT, pause: { at: AT, reason: HOSTILE, by: caller } };
const agents = {
  items: [
    { name: HOSTILE, effect: 'probed', workflows: [HOSTILE], breaker, lastError: { ...failure, at: AT } },
  ],
  missing: [{ name: HOSTILE, waiting: 1, planned: 1 }],
  examined: 1,
};
const workflows = {
  items: [
    {
      workflow: HOSTILE,
      withinMs: 5,
      pause: { at: AT, reason: HOSTILE, by: caller },
      steps: [{ name: HOSTILE, kind: 'agent', agent: HOSTILE, after: [HOSTILE] }],
    },
  ],
};

/**
 * Answers that the API gives to every call of a command: one that it can read is printed, the others lead to
 * errors.
 */
const ANSWERS: Readonly<Record<string, unknown>> = {
  agents,
  tried: {
    agent: HOSTILE,
    breaker: { status: 'half-open', since: AT },
    woken: 1,
    dueAt: AT,
    first: { executionId: HOSTILE, step: HOSTILE },
  },
  execution,
  list: { items: [execution], orderedBy: 'startedAt' },
  refusal: { error: { code: HOSTILE, message: HOSTILE, details: HOSTILE } },
  why,
  workflows,
};

/** The arguments of each command; the others do not call an API. */
const ARGS: Readonly<Record<string, readonly string[]>> = {
  start: ['x'],
  show: ['x'],
  why: ['x'],
  cancel: ['x', '--reason', 'y'],
  pause: ['x', '--reason', 'y'],
  resume: ['x'],
  retry: ['x', '--reason', 'y'],
  resolve: ['x', '1', '--choice', 'keep', '--reason', 'y'],
  approve: ['x', 'y'],
  reject: ['x', 'y'],
  complete: ['x', '--output', '{}'],
  fail: ['x', '--message', 'y'],
  heartbeat: ['x'],
  'pause-agent': ['x', '--reason', 'y'],
  'resume-agent': ['x'],
  'agents try-now': ['x'],
  'pause-workflow': ['x', '--reason', 'y'],
  'resume-workflow': ['x'],
  graph: ['x'],
};
/**
 * Commands that are not run here, because they run until they are stopped or change a deployment on AWS. They
 * print in the same way.
 */
const ELSEWHERE = new Set(['dev', 'serve', 'console', 'worker', 'bulk', 'logs']);

async function commandsOf(): Promise<string[]> {
  const { out } = await steadfast(['--help']);
  const commands = out.slice(out.indexOf('Commands:')).split('\n');
  return commands.flatMap((line) => /^ {2}([a-z][a-z-]*)/.exec(line)?.[1] ?? []);
}

it('nothing that another party wrote is obeyed, whatever a command prints and however', async () => {
  const names = [...(await commandsOf()).filter((name) => !ELSEWHERE.has(name)), 'agents try-now'];
  expect(names.length).toBeGreaterThan(20);
  const shown = new Set<string>();
  for (const name of names) {
    for (const body of Object.values(ANSWERS)) {
      for (const how of [[], ['--json']]) {
        const status = 'error' in Object(body) ? 400 : 200;
        const answer: Answer = { status, body };
        api.answers.length = 0;
        for (let times = 0; times < 3; times += 1) api.answers.push(answer);
        const { out, err } = await steadfast([
          ...name.split(' '),
          ...(ARGS[name] ?? []),
          '--url',
          api.url,
          ...how,
        ]);
        expect([name, OBEYED.exec(out + err)]).toEqual([name, null]);
        expect([name, /^health  all/m.exec(out + err)]).toEqual([name, null]);
        if ((out + err).includes('owned')) shown.add(name);
      }
    }
  }
  // The hostile texts did get in.
  for (const name of ['show', 'why', 'list', 'agents', 'agents try-now', 'workflows', 'start', 'cancel'])
    expect([...shown]).toContain(name);
});

it('makes its own moves on a terminal alone', () => {
  const written: string[] = [];
  const on = (isTTY: boolean) =>
    ioOf({ out: (text) => written.push(text), err: (text) => written.push(text), env: {}, isTTY });
  on(false).move('clear');
  expect(written).toEqual([]);
  on(true).move('clear');
  on(true).out(`a\tb\n${HOSTILE}`);
  on(true).err(HOSTILE);
  expect(written[0]).toBe('\u001B[H\u001B[2J');
  expect(written.slice(1).join('')).not.toMatch(OBEYED);
  expect(written[1]).toMatch(/^a\tb\n\nhealth  all is well\n\\u001b/);
});

it('has a question of its own asked without them', async () => {
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => {
    asked.push(question);
    return '';
  };
  await ioOf({ out: () => 0, err: () => 0, env: {}, isTTY: true, ask }).ask?.(HOSTILE);
  expect(asked.join('')).not.toMatch(OBEYED);
});
