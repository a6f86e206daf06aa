/** An answer is read to its very end and no further, however it arrives; a connection in doubt is not used again. */

import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { Wire } from '../../lib/aws/wire.ts';

let server: Server;
let wire: Wire;
let connections: Socket[];
let heard: string[];
/** What is written for each request, piece by piece; `close` ends the connection. */
let answers: (readonly string[])[];

beforeEach(async () => {
  connections = [];
  heard = [];
  answers = [];
  server = createServer((socket) => {
    connections.push(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk.toString());
      void write(socket, answers.shift() ?? []);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  wire = new Wire(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
});
afterEach(async () => {
  for (const socket of connections) socket.destroy();
  await new Promise((done) => server.close(done));
});

async function write(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    if (piece === 'close') socket.end();
    else socket.write(piece);
    await new Promise((done) => setImmediate(() => setImmediate(done)));
  }
}

const post = (body = '{}', limitMs = 1_000) => wire.post('x-one: 1\r\n', body, limitMs);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nüx';

describe('a request', () => {
  it('has its host, its length in bytes and its body', async () => {
    answers = [[OK]];
    await post('{"a":"ü"}');
    const { host } = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(heard).toEqual([
      `POST / HTTP/1.1\r\nhost: ${host}\r\nx-one: 1\r\ncontent-length: 10\r\n\r\n{"a":"ü"}`,
    ]);
  });
});

describe('an answer', () => {
  it.each<[string, readonly string[]]>([
    ['at once', [OK]],
    ['byte for byte', OK.split('')],
    [
      'in chunks',
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nü', '\r\n1\r', '\nx\r\n0\r\n', '\r\n'],
    ],
    ['without a length, ended by a close', ['HTTP/1.1 200 OK\r\n\r\nü', 'x', 'close']],
  ])('that comes %s is read', async (_, pieces) => {
    answers = [pieces];
    const { head, ...rest } = await post();
    expect(rest).toEqual({ statusCode: 200, body: 'üx' });
    expect(head).toMatch(/^http\/1\.1 200 ok/);
  });

  it.each<[string, readonly string[], number]>([
    ['of its announced length', [OK], 1],
    ['with more behind it', [`${OK}HTTP/1.1 200 OK\r\n`], 2],
    ['that says close', ['HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'], 2],
    ['of an older kind', ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'], 2],
  ])('%s leaves so many connections after the next one', async (_, pieces, count) => {
    answers = [pieces, [OK]];
    await post();
    await post();
    expect(connections).toHaveLength(count);
  });

  it.each<[string, readonly string[]]>([
    ['is none', ['hello\r\n\r\n']],
    ['breaks off in its head', ['HTTP/1.1 200 OK\r\ncontent-le', 'close']],
    ['breaks off in its body', ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx', 'close']],
    [
      'breaks off between chunks',
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n', 'close'],
    ],
  ])('that %s is an error, and not one of a stale connection', async (_, pieces) => {
    answers = [[OK], pieces];
    await post();
    await expect(post()).rejects.not.toHaveProperty('stale');
  });
});

describe('a connection', () => {
  it('that was closed while nobody used it is told as stale', async () => {
    answers = [[OK], ['close']];
    await post();
    await expect(post()).rejects.toHaveProperty('stale', true);
  });

  it('on which no answer came in time is closed, and the next request has another', async () => {
    answers = [[], [OK]];
    await expect(post('{}', 20)).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(connections).toHaveLength(2);
  });

  it('carries one request at a time: many at once are answered each with its own', async () => {
    answers = Array.from({ length: 120 }, () => [OK]);
    const all = await Promise.all(Array.from({ length: 120 }, () => post()));
    expect(all.every(({ body }) => body === 'üx')).toBe(true);
    expect(connections.length).toBeLessThanOrEqual(50);
  });
});

describe('a request that waits for a connection', () => {
  it('waits no longer than its time: against a silent server all end within one limit', async () => {
    const ends = Array.from({ length: 120 }, async () =>
      post('{}', 50).then(
        () => 'answered',
        (error: Error) => error.name,
      ),
    );
    expect(await Promise.all(ends)).toEqual(Array(120).fill('TimeoutError'));
    // Waiting in turns they would have had a connection each; one whose time ends a moment later may still take one.
    expect(connections.length).toBeLessThan(100);
  });

  it('and gave up takes no connection from those that came after it', async () => {
    answers = [...Array.from({ length: 50 }, () => []), [OK]];
    const silent = Array.from({ length: 50 }, async () => post('{}', 300).catch(() => undefined));
    await expect(post('gone', 20)).rejects.toMatchObject({ name: 'TimeoutError' });
    await Promise.all(silent);
    expect(await post('after')).toMatchObject({ statusCode: 200 });
    expect(heard.filter((one) => one.endsWith('gone'))).toEqual([]);
  });
});

describe('a connection by TLS', () => {
  const pem = (name: string): string =>
    readFileSync(join(import.meta.dirname, '..', 'fixtures', 'tls', `${name}.pem`), 'utf8');
  const resumed: boolean[] = [];
  const tls = createTlsServer({ cert: pem('localhost'), key: pem('localhost-key') }, (socket) => {
    resumed.push(socket.isSessionReused());
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(OK.replace('\r\n', '\r\nconnection: close\r\n')));
  });
  const secure = (ca?: string): Wire =>
    new Wire(
      new URL(`https://localhost:${(tls.address() as AddressInfo).port}`),
      ca === undefined ? {} : { ca },
    );
  beforeAll(async () => new Promise<void>((done) => tls.listen(0, 'localhost', done)));
  afterAll(async () => new Promise((done) => tls.close(done)));

  it('resumes the session of the one before', async () => {
    const one = secure(pem('localhost'));
    for (let at = 0; at < 3; at += 1) await one.post('', '{}', 5_000);
    expect(resumed).toEqual([false, true, true]);
  });

  it('to whom nobody trusts in is none', async () => {
    await expect(secure().post('', '{}', 5_000)).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });
});
