/**
 * The outside world of this example: a post office with bad days. It is closed now and then, it loses
 * answers after it has taken a letter, and it does not notice that it was sent the same letter twice.
 * Replace it by a service of yours.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What took place outside, as `crashEverywhere` wants it: by the idempotency key, of a kind,
 * and whether it was taken back.
 */
export interface Letter {
  readonly key: string;
  readonly kind: 'letter';
  undone: boolean;
}

export interface PostOffice {
  readonly url: string;
  /**
   * Every letter it ever took: one that it took twice is there twice, and one that
   * was taken back stays in the book.
   */
  readonly letters: () => readonly Letter[];
  readonly stop: () => Promise<void>;
}

/** What becomes of one letter after the other on bad days. */
export const BAD_DAYS = ['answer lost', 'fine', 'closed', 'fine'] as const;

export async function startPostOffice(days: readonly string[] = ['fine']): Promise<PostOffice> {
  const letters: Letter[] = [];
  let sent = 0;
  const server = createServer(async (request, response) => {
    const key = decodeURIComponent((request.url ?? '').split('/').at(-1) ?? '');
    await read(request);
    const standing = letters.filter((letter) => letter.key === key && !letter.undone);
    if (request.method === 'GET')
      return response.writeHead(standing.length > 0 ? 200 : 404).end(`receipt-${key}`);
    if (request.method === 'DELETE') {
      for (const letter of standing) letter.undone = true;
      return response.writeHead(204).end();
    }
    const day = days[sent % days.length];
    sent += 1;
    if (day === 'closed') return response.writeHead(503).end();
    letters.push({ key, kind: 'letter', undone: false });
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
