/**
 * The outside world of this example: an identity service and a mail service, each of which does once what it is asked twice
 * under one key.
 *
 * Owns: tokens, mails, when each came to be. Does not own: who asks.
 *
 *   POST /identity/tokens {key, account} · DELETE /identity/tokens/<key> · POST /mail/messages {key, account, token} · GET /ledger
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';

export interface Entry {
  readonly kind: 'token' | 'mail';
  readonly id: string;
  readonly key: string;
  readonly account: string;
  /** Epoch ms, with fractions. */
  readonly at: number;
  /** Of a token: how often it was revoked. */
  revoked: number;
}

export interface World {
  readonly url: string;
  readonly ledger: readonly Entry[];
  readonly stop: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const Asked = z.object({ key: z.string(), account: z.string(), token: z.optional(z.string()) });

/** @param port 0 for any free one */
export async function startWorld({ port }: { readonly port: number }): Promise<World> {
  const ledger: Entry[] = [];
  const server = createServer((request, response) => void serve(ledger, request, response));
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ledger, stop };
}

async function serve(ledger: Entry[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, body } = await answered(ledger, request).catch(
    (error: unknown): Answer => ({
      status: error instanceof z.core.$ZodError || error instanceof SyntaxError ? 400 : 500,
      body: { error: { message: error instanceof Error ? error.message : 'unknown error' } },
    }),
  );
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function answered(ledger: Entry[], request: IncomingMessage): Promise<Answer> {
  const [service, , key] = (request.url ?? '/').split('/').filter(Boolean).map(decodeURIComponent);
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  switch (`${request.method} ${service}`) {
    case 'GET ledger':
      return { status: 200, body: { entries: ledger } };
    case 'POST identity':
      return { status: 200, body: once(ledger, 'token', z.parse(Asked, JSON.parse(text))) };
    case 'DELETE identity':
      for (const token of standing(ledger, key)) token.revoked += 1;
      return { status: 200, body: {} };
    case 'POST mail': {
      const asked = z.parse(Asked, JSON.parse(text));
      const token = ledger.find(({ kind, id }) => kind === 'token' && id === asked.token);
      if (token === undefined || token.revoked > 0) return { status: 409, body: { error: 'no such token' } };
      return { status: 200, body: once(ledger, 'mail', asked) };
    }
    default:
      return { status: 404, body: { error: `there is no ${request.method} ${request.url}` } };
  }
}

const standing = (ledger: readonly Entry[], key: string | undefined): readonly Entry[] =>
  ledger.filter((entry) => entry.kind === 'token' && entry.key === key && entry.revoked === 0);

function once(ledger: Entry[], kind: Entry['kind'], { key, account }: z.infer<typeof Asked>): Entry {
  const known = ledger.find((entry) => entry.kind === kind && entry.key === key);
  if (known !== undefined) return known;
  const at = performance.timeOrigin + performance.now();
  const entry: Entry = { kind, id: `${kind}-${ledger.length + 1}`, key, account, at, revoked: 0 };
  ledger.push(entry);
  return entry;
}
