/**
 * Serves the console for `npm start` and `steadfast console`: the page below `/console/`, the API below
 * `/console/api/`, the charts at `/console/charts`.
 *
 * Owns: the order of the checks, and the form of each answer. Does not own: the checks (`request-checks.ts`,
 * `login.ts`), the calls (`calls.ts`), the page (`files.ts`), the charts (`chart-source.ts`).
 *
 * Invariants
 * - I1 it reads a body or calls the API only after all checks of the head have passed.
 * - I2 a page of another origin cannot read an answer, run it as a script or show it in a frame. No answer
 *   has an `Access-Control` header.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { AS_HEADER } from '../../lib/api/client.ts';
import { readBody } from '../../local/http/read-body.ts';
import { CallbackHandles } from './callback-handles.ts';
import { type Answered, type Call, passOn, routeRefusal, type Upstream, withToken } from './calls.ts';
import { ChartSource } from './chart-source.ts';
import type { GetMetricData } from './charts.ts';
import { fileOf, pageWith, type Settings } from './files.ts';
import { logsText, logsWanted, type ReadLogs } from './logs.ts';
import { hostRefusal, type Refusal, targetOf, tokenRefusal, writeRefusal } from './request-checks.ts';
import type { Login } from './login.ts';
import { secret } from './secrets.ts';
import type { Writes } from './writes.ts';

/** The longest body, as in the API. */
export const MAX_BODY_BYTES: number = 4 * 1024 * 1024;
/** The time for the request's body and the API's answer together: longer than the longest `?wait`. */
const ANSWER_WITHIN_MS = 30_000;
const TELL_WITHIN_MS = 25_000;

export interface ConsoleOptions {
  /** The folder with the built page. */
  readonly folder: string;
  readonly settings: Settings;
  /** @param port the port of the page's request */
  readonly upstream: (port: number) => Upstream;
  /**
   * Admits the person who opened the console.
   * @default - admits all who reach the port, as the API on a laptop does
   */
  readonly login?: Login;
  /** Reports each write to pages at once. @default - pages poll */
  readonly writes?: Writes;
  /** Reads log lines of an execution. @default - none */
  readonly logs?: ReadLogs;
  /**
   * Reads the metrics of charts.
   * @param port the port of the page's request.
   * @default - the page shows no charts
   */
  readonly metrics?: (port: number) => GetMetricData;
  /** @default 30_000 */
  readonly answerWithinMs?: number;
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const reply = (status: number, type: string, body: string | Buffer, more = {}): Reply => ({
  status,
  headers: { 'content-type': type, ...more },
  body,
});

const JSON_TYPE = 'application/json';
const refused = ({ status, code, message }: Refusal): Reply =>
  reply(status, JSON_TYPE, JSON.stringify({ error: { code, message } }));

const LOGS = /^\/console\/logs\/([^/]+)$/;

const UNKNOWN: Refusal = { status: 404, code: 'unknown-route', message: 'the console has no such page' };

export function consoleListener(options: ConsoleOptions): RequestListener {
  const console_ = new Console(options);
  return (request, response) => {
    // A page that disconnects during its request must not crash the server.
    console_.serve(request, response).catch(() => response.destroy());
  };
}

class Console {
  readonly #options: ConsoleOptions;
  readonly #token = secret();
  readonly #handles = new CallbackHandles();
  readonly #charts: ChartSource | undefined;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    const { metrics, upstream } = options;
    if (metrics !== undefined) this.#charts = new ChartSource(metrics, upstream);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await this.#answer(request);
    const length = Buffer.byteLength(body);
    response.writeHead(status, { ...HEADERS, ...headers, 'content-length': length });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const target = targetOf(request);
    if (target === undefined) return refused(UNKNOWN);
    const wrongHost = hostRefusal(request);
    if (wrongHost !== undefined) return refused(wrongHost);
    const { path, query } = target;
    if (path === '/console')
      return reply(308, TEXT, 'the console is at /console/\n', { location: '/console/' });
    const code = new URLSearchParams(query).get('code');
    if (path === '/console/' && code !== null && this.#options.login !== undefined)
      return this.#opened(request, this.#options.login, code);
    const isApi = path.startsWith('/console/api/');
    if (!this.#isOpenTo(request)) return isApi ? refused(NOT_OPENED) : reply(401, TEXT, OPEN_IT);
    const { writes } = this.#options;
    if (path === '/console/writes' && writes !== undefined) return this.#written(request, writes, query);
    const [, id] = LOGS.exec(path) ?? [];
    if (id !== undefined && this.#options.logs !== undefined)
      return this.#logLines(request, this.#options.logs, id, query);
    if (path === '/console/charts' && this.#charts !== undefined)
      return await this.#measured(request, this.#charts);
    return isApi
      ? await this.#call(request, path.slice('/console/api'.length), query)
      : await this.#file(request, path.slice('/console/'.length));
  }

  #isOpenTo({ headers, socket }: IncomingMessage): boolean {
    return this.#options.login?.isOpenTo(headers.cookie ?? '', socket.localPort ?? 0) ?? true;
  }

  /**
   * Answers a valid code with the page. A redirect would not work: after a link on another page, the
   * redirected request would lack the new cookie.
   */
  #opened(request: IncomingMessage, login: Login, code: string): Reply {
    const { method, socket } = request;
    // The address was opened again in the same browser.
    if (this.#isOpenTo(request)) return reply(200, HTML, GO_ON);
    const cookie = method === 'GET' ? login.cookieFor(code, socket.localPort ?? 0) : undefined;
    if (cookie === undefined) return reply(401, TEXT, OPEN_IT);
    return reply(200, HTML, GO_ON, { 'set-cookie': cookie });
  }

  /** Answers after a write, or after a limited time without one. */
  async #written(request: IncomingMessage, writes: Writes, query: string): Promise<Reply> {
    const refusal = tokenRefusal(request, this.#token);
    if (refusal !== undefined || request.method !== 'GET') return refused(refusal ?? UNKNOWN);
    const known = Number(new URLSearchParams(query).get('known') ?? -1);
    const signal = AbortSignal.timeout(this.#options.answerWithinMs ?? TELL_WITHIN_MS);
    return reply(200, JSON_TYPE, JSON.stringify({ writes: await writes.past(known, signal) }));
  }

  /** Serves log lines, only of an execution that the API shows to this caller. */
  async #logLines(request: IncomingMessage, logs: ReadLogs, id: string, query: string): Promise<Reply> {
    const { method, headers, socket } = request;
    const wanted = logsWanted(query);
    const refusal = tokenRefusal(request, this.#token) ?? routeRefusal('GET', `/executions/${id}`);
    if (refusal !== undefined || method !== 'GET' || wanted === undefined) return refused(refusal ?? UNKNOWN);
    const { settings, upstream, answerWithinMs = ANSWER_WITHIN_MS } = this.#options;
    const signal = AbortSignal.timeout(answerWithinMs);
    const as = headers[AS_HEADER];
    const call: Call = {
      method,
      path: `/executions/${id}`,
      query: '',
      ...(settings.local && typeof as === 'string' ? { as } : {}),
    };
    const answer = await passOn(call, upstream(socket.localPort ?? 0), signal);
    if ('code' in answer) return refused(answer);
    if (answer.status !== 200) return this.#passedBack(answer);
    const text = await logsText(logs, JSON.parse(answer.text) as ExecutionView, wanted, signal);
    return typeof text === 'string' ? this.#passedBack({ status: 200, text }) : refused(text);
  }

  async #measured(request: IncomingMessage, charts: ChartSource): Promise<Reply> {
    const refusal = tokenRefusal(request, this.#token);
    if (refusal !== undefined || request.method !== 'GET') return refused(refusal ?? UNKNOWN);
    const signal = AbortSignal.timeout(this.#options.answerWithinMs ?? ANSWER_WITHIN_MS);
    const found = await charts.read(request.socket.localPort ?? 0, signal);
    return 'code' in found ? refused(found) : reply(200, JSON_TYPE, found.text);
  }

  async #file({ method = '' }: IncomingMessage, name: string): Promise<Reply> {
    if (method !== 'GET' && method !== 'HEAD') return refused(UNKNOWN);
    const { folder, writes, logs } = this.#options;
    const settings = {
      ...this.#options.settings,
      tellsWrites: writes !== undefined,
      hasLogs: logs !== undefined,
      ...(this.#charts === undefined ? {} : { hasCharts: true }),
    };
    const found = await fileOf(folder, name === '' ? 'index.html' : name);
    if (found === undefined) return name === '' ? reply(503, TEXT, NOT_BUILT) : refused(UNKNOWN);
    const { type, body, isHashed } = found;
    if (isHashed) return reply(200, type, body, { 'cache-control': 'public, max-age=31536000, immutable' });
    const isPage = name === '' || name === 'index.html';
    return reply(200, type, isPage ? pageWith(String(body), this.#token, settings) : body);
  }

  async #call(request: IncomingMessage, path: string, query: string): Promise<Reply> {
    const { method = '', headers, socket } = request;
    const refusal = tokenRefusal(request, this.#token) ?? routeRefusal(method, path);
    if (refusal !== undefined) return refused(refusal);
    const { settings, upstream, answerWithinMs = ANSWER_WITHIN_MS } = this.#options;
    const signal = AbortSignal.timeout(answerWithinMs);
    const as = headers[AS_HEADER];
    const asked: Call = {
      method,
      path,
      query,
      ...(settings.local && typeof as === 'string' ? { as } : {}),
    };
    const call = method === 'GET' ? asked : await this.#write(request, asked, signal);
    const answer = 'status' in call ? call : await passOn(call, upstream(socket.localPort ?? 0), signal);
    return 'code' in answer ? refused(answer) : this.#passedBack(answer);
  }

  async #write(request: IncomingMessage, call: Call, signal: AbortSignal): Promise<Call | Refusal> {
    if (this.#options.settings.readOnly)
      return {
        status: 403,
        code: 'read-only',
        message: 'the console was started with --read-only and allows no changes',
      };
    const refusal = writeRefusal(request);
    if (refusal !== undefined) return refusal;
    const body = await bodyOf(request, signal);
    return typeof body === 'string' ? withToken({ ...call, body }, this.#handles) : body;
  }

  #passedBack({ status, text, retryAfter, date }: Answered): Reply {
    const more = {
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
      ...(date === undefined ? {} : { date }),
    };
    return reply(status, JSON_TYPE, this.#handles.hide(text), more);
  }
}

async function bodyOf(request: IncomingMessage, signal: AbortSignal): Promise<string | Refusal> {
  const tooLarge = {
    status: 413,
    code: 'too-large',
    message: `the request body is larger than ${MAX_BODY_BYTES} bytes`,
  };
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return tooLarge;
  const leave = (): unknown => request.destroy();
  signal.addEventListener('abort', leave);
  const body = await readBody(request, MAX_BODY_BYTES).finally(() =>
    signal.removeEventListener('abort', leave),
  );
  return body === 'tooLarge' ? tooLarge : String(body);
}

const NOT_OPENED: Refusal = {
  status: 401,
  code: 'forbidden',
  message:
    'this browser is not logged in to the console: run npx steadfast console again, and open the address that it prints',
};

const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const OPEN_IT =
  'This address has expired, or was opened in another browser.\nRun npx steadfast console again, and open the address that it prints: it works once, within two minutes.\n';
const NOT_BUILT =
  'The console is not built. In the Steadfast repository, run: npm run build:console\nThe published package contains it.\n';
const GO_ON =
  '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/console/"><title>Steadfast</title><a href="/console/">To the console</a>';
