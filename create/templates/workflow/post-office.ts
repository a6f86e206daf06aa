/**
 * The outside world of this example: a post office with bad days. It is closed now and then, it loses answers after it has
 * taken a letter, and it does not notice that it was sent the same letter twice. Replace it by a service of yours.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PostOffice {
  readonly url: string;
  /** Keys of the letters that it has: one that it took twice is there twice. */
  readonly letters: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** What becomes of one letter after the other on bad days. */
export const BAD_DAYS = ['answer lost', 'fine', 'closed', 'fine'] as const;

export async function startPostOffice(days: readonly string[] = ['fine']): Promise<PostOffice> {
  const letters: string[] = [];
  let sent = 0;
  const server = createServer(async (request, response) => {
    const key = decodeURIComponent((request.url ?? '').split('/').at(-1) ?? '');
    await read(request);
    if (request.method === 'GET')
      return response.writeHead(letters.includes(key) ? 200 : 404).end(`receipt-${key}`);
    if (request.method === 'DELETE') {
      const kept = letters.filter((one) => one !== key);
      letters.splice(0, letters.length, ...kept);
      return response.writeHead(204).end();
    }
    const day = days[sent % days.length];
    sent += 1;
    if (day === 'closed') return response.writeHead(503).end();
    letters.push(key);
    if (day === 'answer lost') return request.socket.destroy();
    return response.writeHead(201).end(`receipt-${key}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    letters: () => [...letters],
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<void> {
  for await (const _chunk of request);
}
