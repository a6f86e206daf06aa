import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';
import { worldAt } from './client.ts';

const callWorld = worldAt('WORLD_URL', 'http://127.0.0.1:1');

let server: Server | undefined;

/** An outside world that answers every request in one way. */
async function worldThat(answers: RequestListener): Promise<void> {
  const started = createServer(answers);
  server = started;
  await new Promise<void>((listening) => started.listen(0, '127.0.0.1', listening));
  process.env['WORLD_URL'] = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

afterEach(async () => {
  delete process.env['WORLD_URL'];
  const started = server;
  server = undefined;
  if (started === undefined) return;
  started.closeAllConnections();
  await new Promise((closed) => started.close(closed));
});

const ask = (signal = new AbortController().signal): Promise<unknown> =>
  callWorld({ signal }, { method: 'POST', path: '/x', body: { a: 1 } }, z.object({ id: z.string() }));

const failure = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have failed');
};

const withStatus =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end('{"error":{"message":"because"}}');

test('the answer is what the schema sees', async () => {
  await worldThat((_, response) => response.end('{"id":"charge-1","other":true}'));
  expect(await ask()).toEqual({ id: 'charge-1' });
});

test.each([429, 503])('%i: not done, try again', async (status) => {
  await worldThat(withStatus(status));
  const error = await failure(ask());
  expect(error).toBeInstanceOf(TransientError);
  expect(error).toMatchObject({
    message: `POST /x was answered ${status}: because`,
    retryAfter: undefined,
  });
});

test('Retry-After is read in seconds or as a date; nonsense is ignored', async () => {
  await worldThat(withStatus(503, { 'retry-after': '3' }));
  expect(await failure(ask())).toMatchObject({ retryAfter: 3 });
  server?.removeAllListeners('request').on('request', withStatus(503, { 'retry-after': 'soon' }));
  expect(await failure(ask())).toMatchObject({ retryAfter: undefined });
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  server?.removeAllListeners('request').on('request', withStatus(429, { 'retry-after': inAnHour }));
  const { retryAfter = 0 } = (await failure(ask())) as TransientError;
  expect(Number(retryAfter)).toBeGreaterThan(3_500);
  expect(Number(retryAfter)).toBeLessThanOrEqual(3_600);
});

test.each([402, 409, 422, 501])('%i: not done, and never will be', async (status) => {
  await worldThat(withStatus(status));
  expect(await failure(ask())).toBeInstanceOf(PermanentError);
});

test('a refused connection: nothing was sent', async () => {
  await worldThat(withStatus(200));
  await new Promise((closed) => server?.close(closed));
  server = undefined;
  expect(await failure(ask())).toBeInstanceOf(TransientError);
});

const isUnknown = (error: Error): void => {
  expect(error).not.toBeInstanceOf(TransientError);
  expect(error).not.toBeInstanceOf(PermanentError);
};

describe('unknown is', () => {
  test.each([400, 404, 500, 502])('%i', async (status) => {
    await worldThat(withStatus(status));
    isUnknown(await failure(ask()));
  });

  test('a dropped reply', async () => {
    await worldThat((_, response) => response.destroy());
    isUnknown(await failure(ask()));
  });

  test('a reply cut short, or one that makes no sense', async () => {
    await worldThat((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":', () => response.destroy());
    });
    isUnknown(await failure(ask()));
    server?.removeAllListeners('request').on('request', (_, response) => response.end('{"name":1}'));
    isUnknown(await failure(ask()));
  });

  test('a request that was aborted', async () => {
    const lost = new AbortController();
    await worldThat(() => lost.abort());
    const error = await failure(ask(lost.signal));
    isUnknown(error);
    expect(error.name).toBe('AbortError');
  });
});
