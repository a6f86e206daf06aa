/** Agents that end their process in every way, while attempts of healthy agents run. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { serveProcess, type ServeProcess } from './processes.ts';

const BAD = join(import.meta.dirname, 'workflows', 'bad');
const HEALTHY = 5;

const folder = mkdtempSync(join(tmpdir(), 'steadfast-bad-'));
/** One server for all tests; its reports are separate for each agent. */
let server: ServeProcess;
beforeAll(async () => {
  server = await serveProcess([BAD, '--data', join(folder, 'state.db'), '--worker-memory', '300']);
});
afterAll(async () => {
  await server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const tried: string[] = [];
const ended = (): Record<string, unknown>[] =>
  server.lines
    .filter((line) => line.includes('"message":"worker-ended"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it.each([
  ['rejects', 'nothing awaited: Error: nobody awaits me'],
  ['throws-later', 'nothing caught: Error: thrown later'],
  ['exits', 'it called process.exit(0)'],
  ['aborts', 'it called process.abort()'],
  ['never', 'it ignored the end of its signal'],
  ['blocks', 'it was silent for'],
  ['blocks-later', 'agents/blocks-later.ts'],
  ['is-killed', 'signal SIGKILL'],
  ['leaks', 'MB of memory that it may have (--worker-memory)'],
  [
    'fills',
    "signal SIGABRT: probably its heap of 225 MB was full ('JavaScript heap out of memory' in the output); --worker-memory gives it more",
  ],
])('one that %s fails alone, and is named (N1)', async (agent, why) => {
  const client = createClient({ url: server.url });
  const file = join(folder, `${agent}-done`);
  const had = server.lines.length;
  const others = await Promise.all(
    Array.from({ length: HEALTHY }, () => client.start('healthy', { input: { file } })),
  );
  const isWaiting = (line: string): boolean => line.includes('"message":"waiting"');
  await server.wrote((lines) => lines.slice(had).filter(isWaiting).length >= HEALTHY);
  const { executionId } = await client.start(`w-${agent}`, { input: {} });
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'failed' });
  // Only this agent is named.
  const named = ended().filter((line) => line['agent'] === agent);
  expect(named.map((line) => line['why'])).toContainEqual(expect.stringContaining(why));
  // One block ends one process, although the agent's next attempts run in separate processes.
  if (agent.startsWith('blocks')) expect(named[0]?.['times']).toBe(1);
  expect(ended().filter((line) => line['agent'] === 'waits')).toEqual([]);
  writeFileSync(file, '');
  for (const one of others) {
    const { status, steps } = await client.waitForEnd(one.executionId);
    expect(status).toBe('succeeded');
    // An interrupted attempt has used up no try.
    expect(steps[0]?.attempts.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  }
  tried.push(agent);
  const { findings } = await client.health();
  const lost = findings.find((one) => one.kind === 'lost' && one.agent === agent);
  expect(lost).toMatchObject({ file: expect.stringContaining(`agents/${agent}.ts`), failure: {} });
  // If the guilty agent was not known at once, the possible ones are named.
  const shared = findings.find(({ kind }) => kind === 'worker');
  if (shared !== undefined) expect(shared.oneOf).toContain('waits');
  expect(findings.filter((one) => one !== shared && !tried.includes(one.agent ?? ''))).toEqual([]);
  if (['is-killed', 'leaks', 'fills'].includes(agent)) expect(shared?.oneOf).toContain(agent);
});

it('one whose memory cannot be measured any more has ended nothing', async () => {
  const client = createClient({ url: server.url });
  const had = ended().length;
  const { executionId } = await client.start('w-unmeasured', { input: {} });
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
  expect(ended().slice(had)).toEqual([]);
});
