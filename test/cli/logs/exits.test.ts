/**
 * `why`, in command line and console, shows the exit code of an attempt's process, if the logs on this
 * machine have it.
 */

import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionView, Reasons } from '../../../lib/api/answers.ts';
import { exitLines, fetchWithExits, type Served, withExits } from '../../../cli/logs/exits.ts';
import { platformLine } from '../../../local/lambda/platform-line.ts';
import type { LogLine } from '../../../lib/view/log-line.ts';
import { AT } from './lines.ts';

const functionOf = (part: string): string => `App-AppAgents${part}Function0123ABCD`;
const KILLED = 'Runtime exited with error: signal: killed';
const SILENT = 'attempt 1, 6 s: ended with an unknown outcome: the attempt went silent and its lease ended';
const attempt = (
  claimedAt: number,
  at: number,
  code: string,
  more: object = {},
): Reasons['past'][number] => ({
  at: AT + at,
  what: SILENT,
  step: 'charge',
  evidence: { mode: 'execute', claimedAt: AT + claimedAt, failure: { code, message: '' }, ...more },
});
const past = [
  { at: AT, what: 'started', evidence: {} },
  attempt(1, 6, 'lease-ended'),
  attempt(10, 16, 'lease-ended'),
  attempt(20, 26, 'lease-ended', { mode: 'undo' }),
  attempt(30, 36, 'timeout'),
];
const reasons = { past } as unknown as Reasons;
const line = (at: number, exitCode: number, more: object = {}): LogLine => ({
  at: AT + at,
  level: 'WARN',
  source: 'Pay',
  executionId: 'e1',
  entry: { message: 'process-exits', step: 'charge', mode: 'execute', exitCode, ...more },
});
const lines = [line(2, 3), line(12, 7, { message: 'other' }), line(22, 1), line(32, 2)];

it('are shown at the attempt in which the process ended, and at no other', async () => {
  const { past: shown } = await withExits(reasons, undefined, { next: async () => lines });
  expect(shown.map(({ what }) => what)).toEqual([
    'started',
    `${SILENT}: its process ended with exit code 3`,
    SILENT,
    SILENT,
    SILENT,
  ]);
});

it('of a process that had no time to write are read from the local cloud’s line in the log of its agent', async () => {
  const killed = (at: number, agent: string): LogLine | undefined => {
    const error = { errorType: 'Runtime.ExitError', errorMessage: `RequestId: r1 Error: ${KILLED}` };
    const result = { ok: false, kind: 'exit', error } as const;
    const text = platformLine(result, 'r1', new Date(AT + at)) ?? '';
    return exitLines('e1')(text, functionOf(agent));
  };
  const view = { steps: [{ name: 'charge', agent: 'pay' }] } as unknown as ExecutionView;
  const others = [killed(4, 'prepay'), killed(5, 'paypal'), killed(8, 'pay')];
  const next = async (): Promise<LogLine[]> => [...others, killed(14, 'pay')].map((one) => one!);
  const functions = ['prepay', 'paypal', 'pay'].map((agent) => ({
    name: functionOf(agent),
    agents: [agent],
  }));
  const { past: said } = await withExits(reasons, view, { next }, functions);
  expect(said.map(({ what }) => what.replace(SILENT, ''))).toEqual([
    'started',
    '',
    ' (a process of pay ended meanwhile: signal: killed)',
    '',
    '',
  ]);
});

it('of a process that several agents share say so, and no process of others is blamed', async () => {
  const error = { errorType: 'Runtime.ExitError', errorMessage: `RequestId: r1 Error: ${KILLED}` };
  const text = platformLine({ ok: false, kind: 'exit', error } as const, 'r1', new Date(AT + 14)) ?? '';
  const view = { steps: [{ name: 'charge', agent: 'pay' }] } as unknown as ExecutionView;
  const next = async (): Promise<LogLine[]> => [exitLines('e1')(text, functionOf('Hostatnight'))!];
  const agents = ['ship', 'pay', 'mail'];
  const saidOf = async (...functions: readonly Served[]): Promise<string | undefined> =>
    (await withExits(reasons, view, { next }, functions)).past[2]?.what;
  const shared = (others: string): string =>
    `${SILENT} (a process that pay shares with ${others} ended meanwhile: signal: killed)`;
  expect(await saidOf({ name: functionOf('Hostatnight'), agents })).toBe(shared('2 other agents'));
  const two = agents.slice(1);
  expect(await saidOf({ name: functionOf('Hostatnight'), agents: two })).toBe(shared('1 other agent'));
  const other = { name: functionOf('Hostatnight'), agents: ['ship'] };
  expect(await saidOf(other, { name: functionOf('pay'), agents: ['pay'] })).toBe(SILENT);
  expect(await saidOf()).toBe(SILENT);
});

it('reads no log where nothing went silent, and says the same where none can be read', async () => {
  const none = async (): Promise<never> => {
    throw new Error('there are no logs');
  };
  expect(await withExits(reasons, undefined, { next: none })).toEqual(reasons);
  const calm = { past: past.slice(0, 1) } as unknown as Reasons;
  expect(await withExits(calm, undefined, { next: none })).toBe(calm);
});

it('is in what the API of this machine answers, as soon as the log has it, and in no other answer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'exits-'));
  const file = join(folder, `${functionOf('pay')}.log`);
  const killed = (at: number): string => {
    const error = { errorType: 'Runtime.ExitError', errorMessage: `RequestId: r1 Error: ${KILLED}` };
    return `${platformLine({ ok: false, kind: 'exit', error } as const, 'r1', new Date(AT + at)) ?? ''}\n`;
  };
  await writeFile(file, killed(8));
  const asked: string[] = [];
  const send = (async (url: string) => {
    asked.push(new URL(url).pathname);
    if (url.endsWith('/_local/')) return Response.json({ logs: folder });
    if (url.endsWith('/_local/functions'))
      return Response.json([{ name: functionOf('pay'), agents: ['pay'] }]);
    if (url.endsWith('/why')) return Response.json({ ...reasons, executionId: 'e1' });
    return Response.json({ steps: [{ name: 'charge', agent: 'pay' }] });
  }) as typeof fetch;
  const answering = fetchWithExits(send, folder);
  const whats = async (): Promise<string[]> => {
    const answer = (await (await answering('http://127.0.0.1:1/executions/e1/why')).json()) as Reasons;
    return answer.past.map(({ what }) => what.replace(SILENT, ''));
  };
  expect((await whats()).filter((what) => what.includes('killed'))).toEqual([]);
  await appendFile(file, killed(14));
  for (let page = 0; page < 2; page += 1)
    expect((await whats())[2]).toBe(' (a process of pay ended meanwhile: signal: killed)');
  // The command line does not know the folder: the cloud was perhaps started with another one, or elsewhere.
  const by = await fetchWithExits(send)('http://127.0.0.1:1/executions/e1/why');
  expect(((await by.json()) as Reasons).past[2]?.what).toContain('signal: killed');
  asked.splice(0);
  await answering('http://127.0.0.1:1/executions/e1');
  expect(asked).toEqual(['/executions/e1']);
});
