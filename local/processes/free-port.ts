/** Finds a free port for a child process that needs one as an argument. */
import { createServer } from 'node:net';

/** Finds a port of 127.0.0.1 on which no process listens now. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
