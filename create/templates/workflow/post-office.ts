/**
 * A post office for this machine, with bad days: it is sometimes closed, sometimes loses its answer after it
 * has taken a letter, and takes the same letter twice. Replace it with your service.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A letter that was taken. `crashEverywhere` compares these fields with what the workflow says it did. */
export interface Letter {
  readonly key: string;
  readonly kind: 'letter';
  undone: boolean;
}

export interface PostOffice {
  readonly url: string;
  /** Every letter it ever took: a duplicate is listed twice, and an undone letter stays in the list. */
  readonly letters: () => readonly Letter[];
  readonly stop: () => Promise<void>;
}

/** What happens to each letter in turn. */
export const BAD_DAYS = ['answer lost', 'fine', 'closed', 'fine'] as const;

export async function startPostOffice(days: readonly string[] = ['fine']): Promise<PostOffice> {
  const letters: Letter[] = [];
  let sent = 0;
  const server = createServer(async (request, response) => {
    const key = decodeURIComponent((request.url ?? '').split('/').at(-1) ?? '');
    await read(request);
    const current = letters.filter((letter) => letter.key === key && !letter.undone);
    if (request.method === 'GET')
      return response.writeHead(current.length > 0 ? 200 : 404).end(`receipt-${key}`);
    if (request.method === 'DELETE') {
      for (const letter of current) letter.undone = true;
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
