/** A receiver of signed events, and a file for the outbox that sends them. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { openDatabase } from '../../serve/sqlite/client.ts';
import { IN_MEMORY } from '../../serve/sqlite/file.ts';

/** How long a test waits for an event. */
const LATE_MS = 20_000;

/** A status, or 'nothing' (no answer) or 'reset' (the connection breaks). */
export type Answered = number | 'nothing' | 'reset';

/**
 * @param read what to record of a request
 * @param answers by the request, and the number of requests so far
 * @param headers of each answer
 */
export async function receiverOf<Came>(
  read: (body: string, header: (name: string) => string) => Came,
  answers: (came: Came, at: number) => Answered,
  headers: Readonly<Record<string, string>> = {},
) {
  const came: Came[] = [];
  let noticed = (): void => undefined;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = read(body, (name) => String(request.headers[name]));
      came.push(one);
      const status = answers(one, came.length);
      if (status === 'reset') request.socket.destroy();
      else if (status !== 'nothing') response.writeHead(status, headers).end();
      noticed();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    came,
    origin: `http://127.0.0.1:${port}`,
    /** Waits until this many requests have come. */
    count: async (wanted: number): Promise<void> => {
      const untilAt = performance.now() + LATE_MS;
      const late = setTimeout(() => noticed(), LATE_MS);
      while (came.length < wanted && performance.now() < untilAt)
        await new Promise<void>((again) => (noticed = again));
      clearTimeout(late);
      expect(came.length).toBeGreaterThanOrEqual(wanted);
    },
    end: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A file in memory that refuses the next commands of the given names, in turn, and a log. */
export function outboxFile() {
  const { client: own, close } = openDatabase(IN_MEMORY, { onBroken: () => undefined });
  const said: (readonly [string, object])[] = [];
  const say = (what: string, fields: object): void => void said.push([what, fields]);
  const refusals: string[] = [];
  const client = {
    send: (command: object) =>
      command.constructor.name === refusals[0] && refusals.shift() !== undefined
        ? Promise.reject(new Error('the disk is full'))
        : own.send(command as never),
  } as never;
  return { client, said, refusals, logger: { warn: say, info: say, error: say } as never, close };
}
