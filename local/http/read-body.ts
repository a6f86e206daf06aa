/** Reads a request body up to a limit. */
import type { IncomingMessage } from 'node:http';

/**
 * The whole body, or `tooLarge`. The rest of a large body is read and dropped, so that the client gets the
 * answer.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | 'tooLarge'> {
  const chunks: Buffer[] = [];
  let size = 0;
  await new Promise<void>((ended, failed) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
    });
    request.once('end', ended);
    request.once('error', failed);
    request.once('close', () => {
      if (!request.complete) failed(new Error('the connection was closed within a request'));
    });
  });
  if (size > limitBytes) return 'tooLarge';
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}
