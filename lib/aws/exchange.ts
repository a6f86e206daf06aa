/**
 * One HTTP request to AWS, and its answer.
 *
 * Owns: the connections (Node's `http.Agent`), the time limit of an attempt, asking again if an idle
 * connection was closed. Does not own: which requests are sent, and how often (`direct.ts`, `s3-values.ts`),
 * the signature (`signature.ts`).
 */

import {
  Agent as PlainAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

export interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Where a request goes. */
export interface Target {
  readonly service: string;
  readonly request: typeof plainRequest;
  readonly to: RequestOptions;
}

/** The SDK's default number of connections. Idle ones keep no process alive, and TLS sessions are resumed. */
const CONNECTIONS = { keepAlive: true, maxSockets: 50 } as const;
export const AGENTS = { plain: new PlainAgent(CONNECTIONS), tls: new TlsAgent(CONNECTIONS) };

/** @param service as errors name it */
export function targetAt(service: string, method: string, url: URL): Target {
  const isPlain = url.protocol === 'http:';
  return {
    service,
    request: isPlain ? plainRequest : tlsRequest,
    to: {
      agent: isPlain ? AGENTS.plain : AGENTS.tls,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      method,
      path: `${url.pathname}${url.search}`,
    },
  };
}

/** Node's errors for an idle connection that the other side had closed: the request was not read. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

export function exchange(
  { service, request, to }: Target,
  headers: Readonly<Record<string, string | number>>,
  body: string | Uint8Array,
  limitMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let asked: ClientRequest | undefined;
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      fail(
        Object.assign(new Error(`no answer of ${service} within ${limitMs} ms`), { name: 'TimeoutError' }),
      );
      asked?.destroy();
    }, limitMs);
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
    };
    const ask = (): void => {
      const one = request({ ...to, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', fail);
        answer.on('end', () => {
          clearTimeout(timer);
          resolve({ statusCode: answer.statusCode ?? 0, headers: answer.headers, body: joined(chunks) });
        });
      });
      asked = one;
      one.on('error', (error: NodeJS.ErrnoException) => {
        // Asking again is not a new attempt: after a pause of the process all its connections may be closed.
        if (one.reusedSocket && CLOSED.has(error.code) && !isOver) ask();
        else fail(error);
      });
      one.end(body);
    };
    ask();
  });
}

const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
