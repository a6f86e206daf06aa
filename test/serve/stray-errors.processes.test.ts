/** Errors in the server's process that nobody catches: a schema's end nobody else's work. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { SECRET, SENDERS } from '../webhooks/senders.ts';
import { serveProcess, type ServeProcess } from './processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-stray-'));
let server: ServeProcess;
beforeAll(async () => {
  const stray = join(import.meta.dirname, 'stray');
  const env = { TEST_WEBHOOK_SECRET: SECRET };
  server = await serveProcess([stray, '--data', join(folder, 'state.db')], env);
});
afterAll(async () => {
  await server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

it('names the schema that blocked its loop', async () => {
  const client = createClient({ url: server.url });
  const { executionId } = await client.start('stray', { input: { mistake: 'blocks the loop' } });
  await server.wrote((lines) =>
    lines.some((line) => /"loop-blocked".*the input's schema of workflow 'stray'/.test(line)),
  );
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
});

it.each([
  ['forgets an await', 'nothing awaited: Error', /serve\/stray\/workflow\.ts:\d+/],
  ['throws in a timer', 'nothing caught: Error', /serve\/stray\/workflow\.ts:\d+/],
  ['rejects with a text', 'nothing awaited: ', undefined],
  ['opens a connection that breaks', 'nothing caught: Error', undefined],
  ['forgets to await a client', 'nothing awaited: ApiError', undefined],
])('a schema that %s is named in the log, and executions go on', async (mistake, detail, place) => {
  const client = createClient({ url: server.url });
  const of = (line: string): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>;
  const strays = (lines: readonly string[]): Record<string, unknown>[] =>
    lines.filter((line) => line.includes('"message":"stray-error"')).map(of);
  const { length } = strays(server.lines);
  const { executionId } = await client.start('stray', { input: { mistake } });
  const isNamed = (line: Record<string, unknown>): boolean =>
    String(line['detail']).startsWith(detail) && (place === undefined || place.test(String(line['place'])));
  await server.wrote((lines) => strays(lines).slice(length).some(isNamed));
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
});

it.each([
  ['forgets an await', 200],
  ['blocks the loop', 200],
  ['throws', 422],
])('a webhook whose schema %s is answered', async (mistake, status) => {
  const { headers, body } = SENDERS['code-host'].sends(JSON.stringify({ mistake, of: 'a webhook' }));
  const answer = await fetch(`${server.url}/webhooks/hook`, { method: 'POST', headers, body });
  expect([answer.status, await answer.text()]).toEqual([
    status,
    expect.stringContaining(status === 200 ? 'accepted' : 'bad-input'),
  ]);
});
