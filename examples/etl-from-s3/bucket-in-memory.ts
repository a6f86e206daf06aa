/**
 * Buckets in memory for the tests: the part of S3's API that the agents use, at an address for
 * `AWS_ENDPOINT_URL_S3`.
 *
 * Owns: the objects. Does not own: their events, which the local cloud sends.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Buckets {
  readonly url: string;
  /** Content by '/bucket/key'. */
  readonly objects: Map<string, string>;
  readonly stop: () => Promise<void>;
}

export async function startBuckets(): Promise<Buckets> {
  const objects = new Map<string, string>();
  const server = createServer((request, response) => void serve(objects, request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects, stop };
}

async function serve(
  objects: Map<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const place = decodeURIComponent(new URL(request.url ?? '/', 'http://s3').pathname);
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = objects.get(place);
  if (request.method === 'PUT') objects.set(place, Buffer.concat(chunks).toString('utf8'));
  else if (request.method === 'DELETE') objects.delete(place);
  else if (text === undefined) response.statusCode = 404;
  const missing = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>';
  response.end(request.method === 'GET' ? (text ?? missing) : '');
}
