/** Reading an execution's log lines from local files: merging, following to the end, printing safely. */

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { follow } from '../../../cli/logs/command.ts';
import { linesOf, lineText, wantedLine } from '../../../lib/view/log-line.ts';
import { LocalFiles } from '../../../cli/logs/local-files.ts';
import { eachFolder } from '../../fresh-folder.ts';
import { eachFakeApi, type Ran, steadfast } from '../fake-api.ts';
import { AT, entry, execution, messages, WANTED } from './lines.ts';

const child = { executionId: 'e1.pack.0', correlation_id: 'e1.pack.0' };

const api = eachFakeApi();
let data: string;
let logs: string;
eachFolder('logs', (path) => {
  data = path;
  logs = join(data, 'cloud', 'logs');
  mkdirSync(logs, { recursive: true });
});
const write = (name: string, ...lines: readonly string[]): void =>
  writeFileSync(join(logs, name), lines.map((line) => `${line}\n`).join(''));
const cli = (...args: string[]): Promise<Ran> =>
  steadfast(['logs', 'e1', '--data', data, '--url', api.url, ...args]);
describe('on a laptop', () => {
  beforeEach(() => {
    write(
      'Pay.log',
      entry(300, 'third'),
      'no JSON of e1',
      '"e1"',
      entry(100, 'first', { step: 'charge', attempt: 2 }),
    );
    write(
      'Scheduler.log',
      entry(200, 'second', { role: 'scheduler', agent: undefined, level: 'WARN', code: 'x', ms: 5 }),
      entry(250, 'of a child', child),
      entry(260, 'of another', { correlation_id: 'e10', executionId: 'e10' }),
      entry(270, 'names it', { correlation_id: 'e2', executionId: 'e2', parent: 'e1' }),
    );
    write('_dynamodb.log', entry(150, 'not of a function'));
    api.answers.push({ status: 200, body: execution({ endedAt: AT + 1_000, status: 'succeeded' }) });
  });

  test('the lines of all functions are merged by time', async () => {
    expect(await cli()).toEqual({
      exitCode: 0,
      err: '',
      out: [
        '2026-01-02 03:04:05.100Z  INFO   charge-card  charge #2  first\n',
        '2026-01-02 03:04:05.200Z  WARN   scheduler  second  code="x" ms=5\n',
        '2026-01-02 03:04:05.300Z  INFO   charge-card  third\n',
      ].join(''),
    });
  });

  test('--children adds those of the executions of its steps', async () => {
    const { out } = await cli('--children');
    expect(out.split('\n')[2]).toBe('2026-01-02 03:04:05.250Z  INFO   charge-card  .pack.0  of a child');
    expect(out).not.toContain('of another');
  });

  test('--level and --since leave out what is less urgent and what is older', async () => {
    expect(messages((await cli('--level', 'warn', '--json')).out)).toEqual(['second']);
    api.answers.push({ status: 200, body: execution() });
    expect(messages((await cli('--since', '2026-01-02T03:04:05.200Z', '--json')).out)).toEqual([
      'second',
      'third',
    ]);
    api.answers.push({ status: 200, body: execution() });
    const { out, err } = await cli('--since', '1m', '--level', 'error');
    expect([out, err]).toEqual([
      '',
      'no lines from level error on: a healthy step logs only at level DEBUG (docs/ALARMS.md says how to switch it on); if this API keeps its data in another folder, name it with --data. steadfast serve keeps no log lines: they are what it prints\n',
    ]);
  });

  test('--json is a line of JSON each, with all that was written', async () => {
    const [first = ''] = (await cli('--json')).out.split('\n');
    expect(JSON.parse(first)).toEqual({
      at: AT + 100,
      level: 'INFO',
      source: 'Pay',
      executionId: 'e1',
      entry: JSON.parse(entry(100, 'first', { step: 'charge', attempt: 2 })) as unknown,
    });
  });
});

test('what was read is not read again, and a line only when it is whole', async () => {
  const source = new LocalFiles(logs, linesOf(WANTED));
  write('Pay.log', entry(100, 'a'));
  const read = async (): Promise<unknown[]> => (await source.next()).map((line) => line.entry['message']);
  expect(await read()).toEqual(['a']);
  const [half, rest] = [entry(200, 'bö').slice(0, 40), entry(200, 'bö').slice(40)];
  appendFileSync(join(logs, 'Pay.log'), half);
  expect(await read()).toEqual([]);
  appendFileSync(join(logs, 'Pay.log'), `${rest}\n`);
  write('Ship.log', entry(150, 'c'));
  expect(await read()).toEqual(['c', 'bö']);
  write('Pay.log', entry(1, 'd'));
  expect(await read()).toEqual(['d']);
  expect(await read()).toEqual([]);
});

test('a line larger than what is read at once is whole too', async () => {
  write('Pay.log', entry(1, 'x', { blob: 'y'.repeat(3_000_000) }), entry(2, 'z'));
  expect((await new LocalFiles(logs, linesOf(WANTED)).next()).map(({ at }) => at - AT)).toEqual([1, 2]);
});

test('it follows until the execution has ended, and once more for what was written last', async () => {
  const steps: string[] = [];
  const views = [execution(), execution({ endedAt: AT + 9 })];
  await follow({
    api: {
      get: async (id, options) => {
        expect(options).toBeUndefined();
        steps.push(`get ${id}`);
        return views.shift()!;
      },
    },
    id: 'e1',
    source: {
      next: async () => {
        steps.push('next');
        return [];
      },
    },
    print: () => undefined,
    clock: {
      now: () => AT,
      sleep: async (ms) => {
        steps.push(`sleep ${ms}`);
      },
    },
    everyMs: 1_000,
    settleMs: 500,
  });
  expect(steps).toEqual(['get e1', 'next', 'sleep 1000', 'get e1', 'next', 'sleep 500', 'next']);
});

test('an execution that is over is not followed', async () => {
  write('Pay.log', entry(100, 'a'));
  api.answers.push({ status: 200, body: execution({ endedAt: AT + 1_000 }) });
  expect(messages((await cli('--follow', '--json')).out)).toEqual(['a']);
  expect(api.asked).toHaveLength(1);
});

test('no line can command a terminal, and an error is one line', () => {
  const text = entry(0, 'red \u001b[31m\n\u202e', {
    error: { name: 'Error', message: 'gone', stack: 'Error: gone\n  at x' },
    list: ['\u0007'],
  });
  const line = wantedLine(text, 'Pay', WANTED)!;
  expect(lineText(line, 'e1')).toBe(
    String.raw`2026-01-02 03:04:05.000Z  INFO   charge-card  red \u001b[31m\u000a\u202e  error="Error: gone" list=["\u0007"]` +
      '\n',
  );
});

describe('what is missing is said, with what to do', () => {
  test('an execution that there is not', async () => {
    api.answers.push({
      status: 404,
      body: { error: { code: 'unknown-execution', message: 'there is none' } },
    });
    const { exitCode, err } = await cli();
    expect([exitCode, err]).toEqual([
      1,
      `there is none\nSee the executions: npx steadfast list --url ${api.url}\n`,
    ]);
  });

  test('a folder without logs', async () => {
    rmSync(logs, { recursive: true });
    api.answers.push({ status: 200, body: execution() });
    const { exitCode, err } = await cli();
    expect([exitCode, err]).toEqual([
      1,
      `there are no logs in ${logs}; name the data folder that the API was started with: --data <folder>, or for a deployment --stack <name>; steadfast serve writes its lines to its standard output alone\n`,
    ]);
  });

  test.each<[string, string[], RegExp]>([
    [
      'the stack',
      ['--url', 'https://api.example'],
      /^https:\/\/api\.example is not on this machine: .* --stack <name>/,
    ],
    ['the API of a stack', ['--stack', 'Shop', '--url', 'http://127.0.0.1:4510'], /add --url <url>/],
    ['a stack that can be one', ['--stack', 'no/stack'], /^'no\/stack' is not a stack name/],
    ['a time', ['--since', 'yesterday'], /2h \(ago\), 09:30/],
  ])('%s', async (_, args, message) => {
    const { exitCode, err } = await cli(...args);
    expect([exitCode, message.test(err) ? err.length > 0 : err]).toEqual([2, true]);
    expect(api.asked).toEqual([]);
  });
});
