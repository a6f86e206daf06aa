/** A server whose system lets it open few files: idle connections keep no caller from it. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { serveProcess, type ServeProcess } from './processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-connections-'));
let server: ServeProcess;
beforeAll(async () => {
  const hello = join(import.meta.dirname, 'workflows', 'hello');
  // Loading some hundred modules of source opens more files at once than a build does.
  const few = ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'];
  server = await serveProcess([hello, '--data', join(folder, 'state.db')], {}, few);
});
afterAll(async () => {
  await server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

it('answers beside three hundred idle connections, and says how many it has closed', async () => {
  const { hostname, port } = new URL(server.url);
  const idle = Array.from({ length: 300 }, () =>
    connect(Number(port), hostname).on('error', () => undefined),
  );
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  const client = createClient({ url: server.url });
  const { executionId } = await client.start('hello', { input: { name: 'Ada' } });
  expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
  expect(await client.health()).toMatchObject({ status: 'healthy' });
  await server.wrote((lines) => lines.some((line) => /"connections-full".*"refused":0/.test(line)));
  for (const socket of idle) socket.destroy();
});
