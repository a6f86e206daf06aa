/** The console serves only log lines of executions that the API shows; a page cannot name a file. */

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshId } from '../../../lib/aws/fresh-id.ts';
import { localLogs, logsText, type ReadLogs } from '../../../cli/console/logs.ts';
import { CliError } from '../../../cli/io.ts';
import { entry, execution } from '../logs/lines.ts';
import { endAll, json, OUTSIDE, serve, type Served } from './served.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-console-logs-'));
  writeFileSync(
    join(folder, 'pay.log'),
    `${entry(0, 'asked', { step: 'pay', attempt: 2, parcel: 'p1' })}\n${entry(1, 'other', { correlation_id: 'e2' })}\n`,
  );
  writeFileSync(
    join(folder, 'ship.log'),
    `${entry(-5, 'before', { correlation_id: 'e1.ship', level: 'WARN' })}\n`,
  );
});
afterEach(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

const shows = async (logs: ReadLogs, status = 200): Promise<Served> => {
  const one = await serve({ logs });
  one.answer = json(
    status,
    status === 200 ? execution() : { error: { code: 'unknown-execution', message: 'no' } },
  );
  return one;
};
const linesIn = (text: string) => (JSON.parse(text) as { lines: Record<string, unknown>[] }).lines;

it('are those of one execution, in order of time, and on request those of the executions below it', async () => {
  const one = await shows(localLogs(folder));
  const { status, text } = await one.page('/console/logs/e1');
  expect([status, one.asked.map(({ method, path }) => `${method} ${path}`)]).toEqual([
    200,
    ['GET /executions/e1'],
  ]);
  expect(linesIn(text)).toEqual([
    expect.objectContaining({
      who: 'charge-card',
      step: 'pay',
      attempt: '2',
      message: 'asked',
      rest: 'parcel="p1"',
    }),
  ]);
  const all = await one.page('/console/logs/e1?children=true');
  expect(linesIn(all.text).map(({ message }) => message)).toEqual(['before', 'asked']);
  const warned = await one.page('/console/logs/e1?children=true&level=warn');
  expect(linesIn(warned.text).map(({ message }) => message)).toEqual(['before']);
});

it('that are followed continue after the last read; a follower that was forgotten begins again, and says so', async () => {
  const one = await shows(localLogs(folder));
  const next = async (reading: string) => {
    const { text } = await one.page(`/console/logs/e1?follow=${reading}`);
    return [linesIn(text).map(({ message }) => message), (JSON.parse(text) as { isMore?: true }).isMore];
  };
  expect(await next('r-1')).toEqual([['asked'], undefined]);
  expect(await next('r-1')).toEqual([[], true]);
  appendFileSync(join(folder, 'pay.log'), `${entry(2, 'answered', { step: 'pay' })}\n`);
  expect(await next('r-1')).toEqual([['answered'], true]);
  // Another page, another level, or no reading for a while starts again.
  expect(await next('r-2')).toEqual([['asked', 'answered'], undefined]);
  expect(await next('r-1&level=info')).toEqual([['asked', 'answered'], undefined]);
  for (let at = 0; at < 30; at += 1) await next(`other-${at}`);
  expect(await next('r-1')).toEqual([['asked', 'answered'], undefined]);
});

it('of an execution that the API does not show are not read', async () => {
  const read: string[] = [];
  const one = await shows(async ({ executionId }) => {
    read.push(executionId);
    return { lines: [], isCut: false };
  }, 404);
  const { status, code } = await one.page('/console/logs/e1');
  expect([status, code, read]).toEqual([404, 'unknown-execution', []]);
});

it.each([
  ['another method', '/console/logs/e1', { method: 'POST', body: '{}' }],
  ['a level that there is not', '/console/logs/e1?level=loud', {}],
  ['a reading with a name that none has', '/console/logs/e1?follow=../etc', {}],
  [
    'a request without the page’s token',
    '/console/logs/e1',
    { headers: { 'x-steadfast-console': undefined } },
  ],
  ['a request of another host', '/console/logs/e1', { headers: { host: 'evil.example' } }],
  ['a path', '/console/logs/../../etc/passwd', {}],
  ['an encoded path', '/console/logs/..%2f..%2fetc%2fpasswd', {}],
  ['a folder', '/console/logs/..', {}],
])('%s is refused, with nothing asked and nothing read', async (_, target, sent) => {
  const one = await shows(async () => {
    throw new Error('read');
  });
  const { status, text } = await one.page(target, sent);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect([one.asked, text.includes(OUTSIDE), text.includes('root:')]).toEqual([[], false, false]);
});

it('that cannot be read give an error in words', async () => {
  const none = await shows(localLogs(join(folder, 'gone')));
  expect(await none.page('/console/logs/e1')).toMatchObject({ status: 502, code: 'no-logs' });
  const denied = await shows(async () => {
    throw new CliError('not-allowed', 'not allowed: logs:StartQuery');
  });
  expect(await denied.page('/console/logs/e1')).toMatchObject({ status: 502, code: 'not-allowed' });
});

it('that take too long are given up, with the command that waits', async () => {
  const never = (): Promise<never> => new Promise(() => {});
  const answer = await logsText(never, execution(), { children: false, level: 'trace' }, AbortSignal.abort());
  expect(answer).toMatchObject({
    status: 504,
    code: 'no-answer',
    message: expect.stringContaining('npx steadfast logs'),
  });
});

it('are the latest thousand, and the answer says so', async () => {
  const lines = Array.from({ length: 1_500 }, (_, at) => `${entry(at, `line ${at}`)}\n`);
  writeFileSync(join(folder, 'pay.log'), lines.join(''));
  const { text } = await (await shows(localLogs(folder))).page('/console/logs/e1');
  expect([linesIn(text).length, linesIn(text)[0]?.['message'], JSON.parse(text).isCut]).toEqual([
    1_000,
    'line 500',
    true,
  ]);
});

it('show no token of a callback, if an agent has logged one', async () => {
  const token = `e1.answer.${freshId()}`;
  writeFileSync(join(folder, 'pay.log'), `${entry(0, `call ${token}`)}\n`);
  const { text } = await (await shows(localLogs(folder))).page('/console/logs/e1');
  expect(text).toContain('e1.answer.');
  expect(text).not.toContain(token);
});
