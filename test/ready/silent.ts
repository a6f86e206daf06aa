/** A service that takes connections and is silent, and attempts whose time to connect ends at once. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const CONNECT_WITHIN_MS = 10_000;

export interface Silent {
  /** Encrypted: without its answer no connection is made. */
  readonly url: string;
  readonly stop: () => void;
}

export async function startSilent(): Promise<Silent> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, stop: () => server.close() };
}

/** Runs an attempt whose time to connect passes at once; if nothing comes of that, the attempt is aborted. */
export async function connecting<Value>(attempt: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const real = globalThis.setTimeout;
  const over = new AbortController();
  globalThis.setTimeout = ((run: () => void, ms?: number) => {
    if (ms !== CONNECT_WITHIN_MS) return real(run, ms);
    return real(() => {
      run();
      over.abort();
    });
  }) as typeof real;
  try {
    return await attempt(over.signal);
  } finally {
    globalThis.setTimeout = real;
  }
}
