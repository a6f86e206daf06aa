/** A service that takes a connection and says nothing: the time to connect is bounded, apart from the answer. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { called, charging, outcomeIn } from './service.ts';

const CONNECT_WITHIN_MS = 10_000;

let silent: Server;
let url: string;
beforeAll(async () => {
  silent = createServer((socket) => socket.on('error', () => undefined).resume());
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
});
afterAll(() => {
  silent.close();
});

it('S6 a connection that is not made within ten seconds is none, and nothing was sent', async () => {
  const real = globalThis.setTimeout;
  const attempt = new AbortController();
  globalThis.setTimeout = ((run: () => void, ms?: number) => {
    if (ms !== CONNECT_WITHIN_MS) return real(run, ms);
    return real(() => {
      run();
      attempt.abort();
    });
  }) as typeof real;
  const report = await called(charging(url), { signal: attempt.signal }).finally(() => {
    globalThis.setTimeout = real;
  });
  expect(outcomeIn(report)).toBe('transient ETIMEDOUT');
  expect(attempt.signal.aborted).toBe(true);
});
