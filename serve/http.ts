/**
 * Serves the API on Node's HTTP server: identifies callers, reads requests, and stops.
 *
 * Owns: the checks before a body is read, the caller's name, and a stop that lets calls finish. Does not own:
 * the routes and their own limits (`lib/api/routes.ts`), tokens (`tokens.ts`).
 *
 * H1 Without tokens the server accepts only calls from this machine, addressed by its own names (no DNS
 * rebinding), and no page of another origin may write. H2 With tokens, a call without one is refused. The
 * exceptions are `/live` for load balancers, and webhooks, whose senders are identified by their signatures
 * (`webhooks.ts`). H3 A body that is too long is refused before it is parsed. H4: `connections.ts`.
 */

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Hono } from 'hono/tiny';
import { AS_HEADER } from '../lib/api/client.ts';
import { PLAIN, type PlainAnswer, type PlainRequest } from '../lib/api/plain.ts';
import { MAX_LARGE_BODY_BYTES } from '../lib/api/read-request.ts';
import { LOCAL } from '../lib/core/values/caller.ts';
import { isCalledHere, mayWriteHere } from '../local/http/pages.ts';
import { readBody } from '../local/http/read-body.ts';
import type { ConnectionLimit } from './connections.ts';
import { METRICS_TYPE } from './metric-totals.ts';
import { kindsOf, type TokenHolder, type Tokens } from './tokens.ts';

export const LOOPBACK = '127.0.0.1';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

const problem = (status: number, code: string, message: string, headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ error: { code, message } }),
});

/** The name of a caller without a token, on this machine: the characters that IAM allows in a user's name. */
const USER = /^[A-Za-z0-9+=,.@_-]{1,64}$/;

const BAD_NAME = {
  code: 'bad-request',
  message: `${AS_HEADER}: letters, digits and +=,.@_- are allowed, up to 64`,
};

/** The caller's name in the form in which API Gateway passes it. */
export const vouched = (name: string): object => ({
  requestContext: { authorizer: { jwt: { claims: { iss: LOCAL, sub: name } } } },
});

export type Fetches = Pick<Hono, 'fetch'>;

/** Adds the server's time to the API's answers, because the machine's time may differ. */
export const dated = (app: Fetches, now: () => number): Fetches => ({
  fetch: async (...asked) => {
    const answer = await app.fetch(...asked);
    const date = new Date(now()).toUTCString();
    if (answer instanceof Response) answer.headers.set('date', date);
    else Object.assign((answer as PlainAnswer).headers, { date });
    return answer;
  },
});

/** A `fetch` for code in this process, such as the console, that does not use the port. */
export const fetchOf =
  (app: Fetches): typeof fetch =>
  async (input, init) => {
    const asked = new Request(input, init);
    const name = asked.headers.get(AS_HEADER) ?? LOCAL;
    asked.headers.delete(AS_HEADER);
    const answer = USER.test(name) ? await app.fetch(asked, vouched(name)) : undefined;
    return answer ?? Response.json({ error: BAD_NAME }, { status: 400 });
  };

export interface ListenerParts {
  /** The time in each answer, including refusals. */
  readonly now: () => number;
  /** The text that Prometheus reads. */
  readonly metrics: () => string;
}

export function apiListener(app: Fetches, tokens: Tokens, { now, metrics }: ListenerParts): RequestListener {
  return (request, response) => {
    answerTo(app, tokens, request, metrics)
      .then(({ status, headers, body }) => {
        const date = new Date(now()).toUTCString();
        response.writeHead(status, { ...headers, date, 'content-length': Buffer.byteLength(body) });
        response.end(request.method === 'HEAD' ? undefined : body);
      })
      // A client that disconnects in the middle of its request must not crash the server.
      .catch(() => response.destroy());
  };
}

/**
 * The answer of `/live`. The deployment's state is behind `/health`, which needs a token if there are any.
 */
const ALIVE: Answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' };

async function answerTo(
  app: Fetches,
  tokens: Tokens,
  request: IncomingMessage,
  metrics: () => string,
): Promise<Answer> {
  const { method = 'GET', url = '/', headers } = request;
  if (url === '/live' && (method === 'GET' || method === 'HEAD')) return ALIVE;
  const caller = callerOf(tokens, request);
  if (typeof caller !== 'string') return caller;
  if (url === '/metrics' && (method === 'GET' || method === 'HEAD'))
    return { status: 200, headers: { 'content-type': METRICS_TYPE }, body: metrics() };
  const body = await bodyOf(request);
  if (body === 'tooLarge')
    return problem(413, 'too-large', `a body has at most ${MAX_LARGE_BODY_BYTES} bytes`, {
      connection: 'close',
    });
  const valueOf = (name: string): string | undefined => {
    const value = name === AS_HEADER ? undefined : headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  };
  const { text, ...answer } = await plainAnswer(app, caller, { method, path: url, body, valueOf });
  return { ...answer, body: text };
}

interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: Buffer;
  /** The value of a header, by its lower-case name. */
  readonly valueOf: (name: string) => string | undefined;
}

async function plainAnswer(
  app: Fetches,
  caller: string,
  { method, path, body, valueOf }: Asked,
): Promise<Omit<PlainAnswer, 'text'> & { readonly text: string | Buffer }> {
  const asked: PlainRequest = {
    method,
    url: `http://${LOOPBACK}${path.startsWith('/') ? path : '/'}`,
    headers: { get: (name) => valueOf(name.toLowerCase()) ?? null },
    arrayBuffer: async () => body,
  };
  const given: unknown = await app.fetch(asked as unknown as Request, { ...vouched(caller), ...PLAIN });
  const answer = given as PlainAnswer | Response;
  if (!('arrayBuffer' in answer)) return answer;
  const text = answer.body === null ? '' : Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text };
}

/** A call of the API from this process, without HTTP. */
export interface Call {
  readonly method?: 'GET' | 'POST';
  /** The path with its query. */
  readonly path: string;
  readonly body?: unknown;
}

export type Answers = (call: Call) => Promise<{ readonly status: number; readonly body: unknown }>;

export const answersOf =
  (app: Fetches): Answers =>
  async ({ method = 'GET', path, body }) => {
    const sent = Buffer.from(body === undefined ? '' : JSON.stringify(body));
    const { status, text } = await plainAnswer(app, LOCAL, { method, path, body: sent, valueOf: noHeader });
    return { status, body: JSON.parse(String(text)) };
  };

const noHeader = (): undefined => undefined;

/** Identifies the caller without reading the body. @returns the name, or a refusal */
function callerOf(tokens: Tokens, request: IncomingMessage): string | Answer {
  const { headers } = request;
  if (tokens.size > 0) {
    const holder = tokens.holderOf(headers.authorization);
    return holder === undefined ? unknownCaller(request.url) : mayCall(holder, request);
  }
  if (!isCalledHere(headers))
    return problem(403, 'forbidden', 'call this machine localhost or 127.0.0.1: other names are refused');
  if (!mayWriteHere(request))
    return problem(403, 'forbidden', `a page of ${String(headers.origin)} may not change anything here`);
  const { [AS_HEADER]: name = LOCAL } = headers;
  if (typeof name === 'string' && USER.test(name)) return name;
  return problem(400, BAD_NAME.code, BAD_NAME.message);
}

function unknownCaller(url = '/'): Answer {
  const realm = { 'www-authenticate': 'Bearer realm="steadfast"' };
  const message = 'a call needs one of this server’s tokens: authorization: Bearer <token>';
  const page = '; its console: STEADFAST_TOKEN=<token> npx steadfast console --url <this server>';
  return problem(401, 'forbidden', url.startsWith('/console') ? `${message}${page}` : message, realm);
}

function mayCall(
  { name, scopes }: TokenHolder,
  { method = 'GET', url = '/' }: IncomingMessage,
): string | Answer {
  const needed = kindsOf(method, url);
  if (needed.every((kind) => scopes.has(kind))) return name;
  const message = `this call needs a token of this server for ${needed.join(', ')}; that of ${name} is for ${[...scopes].join(', ')}`;
  return problem(403, 'forbidden', message);
}

const NO_BODY = Buffer.alloc(0);

/** Reads the body. If the header announces too many bytes, it is refused unread. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | 'tooLarge'> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > MAX_LARGE_BODY_BYTES) return 'tooLarge';
  if (length === undefined && encoding === undefined) return NO_BODY;
  return await readBody(request, MAX_LARGE_BODY_BYTES);
}

export interface HttpServer {
  readonly port: number;
  readonly url: string;
  /**
   * Accepts no further connections and lets calls in progress finish. @param withinMs when they are aborted
   */
  readonly stop: (withinMs: number) => Promise<void>;
}

/** @throws Error with advice if the address cannot be used */
export async function listenAt(
  host: string,
  port: number,
  listener: RequestListener,
  limit?: Pick<ConnectionLimit, 'bound'>,
): Promise<HttpServer> {
  const server = createServer({ noDelay: true }, listener);
  limit?.bound(server);
  await new Promise<void>((ready, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} is taken: stop the other program, or choose another with --port (0 takes any)`;
      failed(error.code === 'EADDRINUSE' ? new Error(taken, { cause: error }) : error);
    });
    server.listen(port, host, () => ready());
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  const shown = host.includes(':') ? `[${host}]` : host;
  return { port: actual, url: `http://${shown}:${actual}`, stop: (withinMs) => stopped(server, withinMs) };
}

async function stopped(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((over) => server.close(() => over()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(timer);
}
