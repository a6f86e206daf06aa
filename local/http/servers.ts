/**
 * Listens on 127.0.0.1, explains ports in use, and stops without hanging.
 *
 * Invariants
 * - I1 a request with a foreign Host (DNS rebinding) is refused.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { isCalledHere } from './pages.ts';

export interface Listening {
  readonly port: number;
  readonly url: string;
  /** Sets the listener; before that, requests get 503. */
  serve(listener: RequestListener): void;
  close(): Promise<void>;
}

/** Listens on `port` (0: any free one). @throws Error with advice if the port is in use */
export async function listen(port: number, purpose: string): Promise<Listening> {
  let listener = notYet;
  const server = createServer({ noDelay: true }, (request, response) =>
    (isCalledHere(request.headers) ? listener : notHere)(request, response),
  );
  // Keeps idle connections of functions open: the server must not close one just when it is used.
  server.keepAliveTimeout = 600_000;
  await listening(server, port, purpose);
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: actual,
    url: `http://127.0.0.1:${actual}`,
    serve: (next) => {
      listener = next;
    },
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const notYet: RequestListener = (_request, response) => {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end('{"message":"the local cloud is starting"}');
};

const notHere: RequestListener = (_request, response) => {
  response.writeHead(403, { 'content-type': 'application/json' });
  response.end('{"message":"use localhost or 127.0.0.1 in the address: other host names are refused"}');
};

async function listening(server: Server, port: number, purpose: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} (${purpose}) is taken: stop the other program, or choose another with --port (0 takes any)`;
      reject(error.code === 'EADDRINUSE' ? new Error(taken, { cause: error }) : error);
    });
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

/** Listens on the port after `port`, or on any free one if that is in use. */
export async function listenNear(port: number, purpose: string): Promise<Listening> {
  try {
    return await listen(port + 1, purpose);
  } catch {
    return await listen(0, purpose);
  }
}
