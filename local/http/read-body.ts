/** Owns: reading a request body up to a limit. */
import type { IncomingMessage } from 'node:http';

/** The whole body, or `tooLarge` (the rest is read and dropped, so that the answer reaches the client). */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | 'tooLarge'> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limitBytes) chunks.push(chunk);
  }
  return size > limitBytes ? 'tooLarge' : Buffer.concat(chunks);
}
