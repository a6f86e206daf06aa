/** A server at its limit of connections: it answers new callers while any connection is idle. */

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { ConnectionLimit } from '../../serve/connections.ts';
import { client } from '../api/app.ts';

/** A process with this many descriptors may have 36 connections. */
const FILES = 100;
const MOST = 36;
const MINUTE = 60_000;

let now = 1_000;
const lines: [string, object][] = [];
const line = (what: string, fields: object) => void lines.push([what, fields]);
const limit = new ConnectionLimit({ now: () => now }, { warn: line, info: line } as never, () => FILES);
const waiting: ServerResponse[] = [];
const server = createServer(({ url }, response) => {
  if (url === '/wait') waiting.push(response);
  else response.end('ok');
});
const sockets: Socket[] = [];

beforeAll(async () => {
  limit.bound(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function connected(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
  return socket;
}
/** The first line of the answer; undefined if the connection was closed. */
async function asked(path: string): Promise<string | undefined> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('error', () => undefined).on('data', (more) => (text += String(more)));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  await once(socket, 'close');
  return text.split('\r\n', 1)[0] || undefined;
}

it('closes the connection that has had no call for longest, and says so once', async () => {
  const idle: Socket[] = [];
  for (let at = 0; at < MOST - 1; at += 1) idle.push(await connected());
  // The first one has had a call since.
  idle[0]?.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(idle[0] as Socket, 'data');
  const closed = [1, 2, 3].map((at) => once(idle[at] as Socket, 'close'));
  for (let at = 0; at < 3; at += 1) await connected();
  await Promise.all(closed);
  expect(idle[0]?.destroyed).toBe(false);
  expect(await asked('/')).toBe('HTTP/1.1 200 OK');
  expect(lines).toEqual([['connections-full', { most: MOST, closed: 1, refused: 0 }]]);
  expect(limit.now()).toBeUndefined();
});

it('refuses one only while all have calls, and reports that until a minute after', async () => {
  const calls: Promise<string | undefined>[] = [];
  for (let at = 0; at < MOST; at += 1) {
    calls.push(asked('/wait'));
    await once(server, 'request');
  }
  expect(await asked('/')).toBeUndefined();
  expect(await asked('/')).toBeUndefined();
  expect(limit.now()).toEqual({ since: 1_000, refused: 2 });
  expect(lines.at(-1)).toEqual(['connections-full', expect.objectContaining({ most: MOST, refused: 1 })]);
  for (const response of waiting) response.end('ok');
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['HTTP/1.1 200 OK']));
  expect(await asked('/')).toBe('HTTP/1.1 200 OK');
  now += MINUTE;
  expect(limit.now()).toBeUndefined();
  expect(lines.at(-1)).toEqual(['connections-free-again', expect.objectContaining({ refused: 2 })]);
});

it('is a finding of `/health` while one is refused', async () => {
  const connectionTrouble = () => ({ since: 1_000, refused: 3 });
  const { get } = client(undefined, (world) => ({ ...world, connectionTrouble }));
  expect((await get('/health')).body).toMatchObject({
    status: 'degraded',
    findings: [{ kind: 'connections', since: 1_000, calls: 3 }],
  });
});
