/** A remote agent as a process: every answer, every end without an answer, and no process left behind. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAX_ANSWER_BYTES } from '../../lib/remote/contract.ts';
import { type CallKind, performed, TIME_LEFT_MS } from './performed.ts';
import { eachFolder } from '../fresh-folder.ts';

let folder: string;
eachFolder('command', (path) => (folder = path));

/** A remote agent that is a shell script. */
const script = (text: string) => ({ command: ['/bin/sh', '-c', text], folder });
const says = (line: object) => script(`cat >/dev/null; echo '${JSON.stringify(line)}'`);
const FAILURE = { code: expect.any(String), message: 'why' };

it('gets the call as one line, and is done by its answer', async () => {
  const target = script('cat >call; echo \'{"answer":"done","output":{"code":"P1"}}\'');
  const before = Date.now();
  expect(await performed(target)).toEqual({ kind: 'done', codeReturned: true, output: { code: 'P1' } });
  const text = readFileSync(join(folder, 'call'), 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(1);
  const { deadlineAt, ...call } = JSON.parse(text) as { deadlineAt: number };
  // By this machine's clock, in whole milliseconds.
  expect(deadlineAt).toBe(Math.floor(deadlineAt));
  expect(deadlineAt).toBeGreaterThanOrEqual(before + TIME_LEFT_MS);
  expect(deadlineAt).toBeLessThanOrEqual(Date.now() + TIME_LEFT_MS);
  expect(call).toEqual({
    version: 1,
    call: 'execute',
    agent: 'book-parcel',
    executionId: 'e',
    step: 'book',
    attempt: 2,
    idempotencyKey: 'e.book.abc',
    input: { size: 'S' },
  });
});

it('gets the output with an undo', async () => {
  const target = script('cat >call; echo \'{"answer":"done"}\'');
  const report = await performed(target, { call: 'undo', output: { code: 'P1' } });
  expect(report).toEqual({ kind: 'compensated', codeReturned: true });
  expect(JSON.parse(readFileSync(join(folder, 'call'), 'utf8'))).toMatchObject({
    call: 'undo',
    output: { code: 'P1' },
  });
});

it.each<[CallKind, object, object]>([
  [
    'execute',
    { answer: 'transient', message: 'why', retryAfterMs: 500 },
    {
      kind: 'failed',
      permanent: false,
      failure: { ...FAILURE, message: 'why (its service asks to wait 500 ms)' },
      retryAfterMs: 500,
    },
  ],
  ['execute', { answer: 'permanent', message: 'why' }, { kind: 'failed', permanent: true, failure: FAILURE }],
  [
    'execute',
    { answer: 'cannotTell', message: 'why' },
    { kind: 'unknown', codeReturned: true, failure: FAILURE },
  ],
  // It was accepted, and goes on after the answer: a probe's "not done" does not count for now.
  [
    'execute',
    { answer: 'running', message: 'why' },
    { kind: 'unknown', codeReturned: false, failure: FAILURE },
  ],
  [
    'probe',
    { answer: 'done', output: { code: 'P1' } },
    { kind: 'found', verdict: 'done', output: { code: 'P1' } },
  ],
  ['probe', { answer: 'notDone' }, { kind: 'found', verdict: 'not-done' }],
  ['probe', { answer: 'running' }, { kind: 'found', verdict: 'running' }],
  ['probe', { answer: 'cannotTell' }, { kind: 'found', verdict: 'cannot-tell' }],
  [
    'probe',
    { answer: 'cannotTell', message: 'why' },
    { kind: 'found', verdict: 'cannot-tell', failure: { code: 'cannot-tell', message: 'why' } },
  ],
  ['undo', { answer: 'transient', message: 'why' }, { kind: 'failed', permanent: false, failure: FAILURE }],
  ['undo', { answer: 'permanent', message: 'why' }, { kind: 'failed', permanent: true, failure: FAILURE }],
  ['undo', { answer: 'cannotTell', message: 'why' }, { kind: 'unknown', failure: FAILURE }],
])('to %s the answer %j counts as it says', async (call, line, report) => {
  expect(await performed(says(line), { call })).toMatchObject(report);
});

describe('what says nothing leaves an unknown outcome, and says what was wrong', () => {
  const unknown = (code: string, message: RegExp) => ({
    kind: 'unknown',
    codeReturned: true,
    failure: { code, message: expect.stringMatching(message) as string },
  });
  it.each<[string, string, string, RegExp]>([
    ['no JSON', 'echo charged card 4111', 'bad-answer', /is not JSON; .*stderr/],
    ['no object', 'echo "[1]"', 'bad-answer', /is not a JSON object/],
    ['neither', 'echo "{}"', 'bad-answer', /neither 'answer' nor 'progress'/],
    [
      'another word',
      'echo \'{"answer":"finished"}\'',
      'bad-answer',
      /not one of those to execute: done, accepted, transient/,
    ],
    [
      'the answer of another call',
      'echo \'{"answer":"notDone"}\'',
      'bad-answer',
      /not one of those to execute/,
    ],
    ['a message that is none', 'echo \'{"answer":"transient","message":1}\'', 'bad-answer', /'message'/],
    [
      'a wish that is none',
      'echo \'{"answer":"transient","retryAfterMs":-1}\'',
      'bad-answer',
      /'retryAfterMs'/,
    ],
    ['progress that is none', 'echo \'{"progress":{}}\'', 'bad-answer', /'progress'/],
    ['no answer', 'true', 'no-answer', /exit code 0 and without an answer/],
    ['an exit code', 'exit 3', 'no-answer', /exit code 3/],
    ['a kill', 'kill -9 $$', 'no-answer', /by SIGKILL/],
    ['half of an answer', 'printf \'{"answer":"do\'', 'bad-answer', /is not JSON/],
    [
      'too long a line',
      `head -c ${MAX_ANSWER_BYTES + 1} /dev/zero | tr '\\0' ' '`,
      'answer-too-large',
      /more than 1048576 bytes/,
    ],
  ])('%s', async (_, text, code, message) => {
    const report = await performed(script(`cat >/dev/null; ${text}`));
    expect(report).toMatchObject(unknown(code, message));
    expect(JSON.stringify(report)).not.toContain('4111');
  });

  it('an output that the agent does not declare has acted', async () => {
    expect(await performed(says({ answer: 'done', output: { code: 1 } }))).toMatchObject({
      kind: 'wrong-answer',
      failure: { code: 'bad-output' },
      answer: '{"code":1}',
    });
  });
});

it('an answer needs no end of its line, and is as long as it may be', async () => {
  const target = script('cat >/dev/null; printf \'{"answer":"done","output":{"code":"P1"}}\'');
  expect(await performed(target)).toMatchObject({ kind: 'done' });
});

it('tells its progress line by line', async () => {
  const progress: unknown[] = [];
  const target = script(
    'cat >/dev/null; echo \'{"progress":1}\'; echo; echo \'{"progress":"b"}\'; echo \'{"answer":"done","output":{"code":"P"}}\'',
  );
  expect(await performed(target, { progress: (token) => progress.push(token) })).toMatchObject({
    kind: 'done',
  });
  expect(progress).toEqual([1, 'b']);
});

it.each([
  ['in PATH', ['no-such-program'], /no program 'no-such-program' in PATH/],
  ['in the folder', ['./absent.sh'], /no program '\.\/absent\.sh' in /],
])('a program that is not %s was certainly not begun', async (_, command, message) => {
  expect(await performed({ command, folder })).toMatchObject({
    kind: 'failed',
    permanent: false,
    failure: { message: expect.stringMatching(message) as string },
  });
});

it('a folder that is not there was certainly not begun in', async () => {
  const report = await performed({ command: ['/bin/sh'], folder: join(folder, 'absent') });
  expect(report).toMatchObject({ kind: 'failed', permanent: false });
});

describe('nothing of it is left', () => {
  const isAlive = (pid: number): boolean => {
    try {
      return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  /** Resolves once the process is gone. */
  async function dead(pid: number): Promise<void> {
    while (isAlive(pid)) await new Promise((next) => setImmediate(next));
  }
  /** Starts two programs of one group, and reports their ids. */
  const PAIR = `sleep 1000 & echo "{\\"progress\\":\\"$! $$\\"}"; wait`;
  const pidsOf = (token: unknown): number[] => String(token).split(' ').map(Number);

  it('when the attempt is aborted', async () => {
    const abort = new AbortController();
    let pids: number[] = [];
    const report = await performed(script(PAIR), {
      signal: abort.signal,
      progress: (token) => {
        pids = pidsOf(token);
        abort.abort();
      },
    });
    expect(report).toMatchObject({ kind: 'unknown', codeReturned: true, failure: { code: 'aborted' } });
    expect(pids).toHaveLength(2);
    await Promise.all(pids.map(dead));
  });

  it('when the attempt was aborted before', async () => {
    const target = script('cat; touch begun; echo \'{"answer":"done"}\'');
    expect(await performed(target, { signal: AbortSignal.abort() })).toMatchObject({ kind: 'unknown' });
  });

  it('when it has answered', async () => {
    let pid = 0;
    const answer = '{"answer":"done","output":{"code":"P"}}';
    const target = script(`sleep 1000 & echo "{\\"progress\\":\\"$!\\"}"; echo '${answer}'; wait`);
    const report = await performed(target, { progress: (token) => (pid = Number(token)) });
    expect(report).toMatchObject({ kind: 'done' });
    await dead(pid);
  });

  it('but a program that has left the group, which keeps no answer back', async () => {
    let pid = 0;
    const answer = '{"answer":"done","output":{"code":"P"}}';
    // It speaks after it has left.
    const lines = ['echo "{\\"progress\\":\\"$$\\"}"', `echo '${answer}'`, 'exec sleep 1000'];
    writeFileSync(join(folder, 'left.sh'), lines.join('\n'));
    const target = script('setsid sh left.sh & wait');
    const report = await performed(target, { progress: (token) => (pid = Number(token)) });
    process.kill(pid, 'SIGKILL');
    expect(report).toMatchObject({ kind: 'done' });
    await dead(pid);
  });

  it('when the process of the attempt is killed, which it does not see itself', async () => {
    const file = join(folder, 'attempt.ts');
    const here = JSON.stringify(join(import.meta.dirname, 'performed.ts'));
    writeFileSync(
      file,
      `import { performed } from ${here};
void performed({ command: ['/bin/sh', '-c', ${JSON.stringify(PAIR)}] }, { progress: (token) => console.log(token) });`,
    );
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    await Promise.all(pidsOf(line.toString().trim()).map(dead));
  });
});
