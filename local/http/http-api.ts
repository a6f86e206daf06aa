/**
 * Serves the template's HTTP APIs: invokes the function of a route, with API Gateway's limits and errors.
 * Does not own: the control calls (control-http.ts), sockets (servers.ts).
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LocalFunction } from '../lambda/local-function.ts';
import type { ApiSpec } from '../template/routing-model.ts';
import { allowsOrigin, corsHeaders, isPreflight, withoutCors } from './cors.ts';
import { mayWriteHere } from './pages.ts';
import { type HttpAnswer, httpAnswer, proxyEvent } from './proxy-event.ts';
import { readBody } from './read-body.ts';
import { matchRoute } from './routes.ts';

/** The header with the caller's name. It is removed, because on AWS a function gets no such header. */
const USER_HEADER = 'x-local-user';
/** The characters that IAM allows in a user's name. */
const USER = /^[A-Za-z0-9+=,.@_-]{1,64}$/;
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

export type Served = Pick<LocalFunction, 'spec' | 'invoke'>;

/** Whether the function's policy lets the API call it for this source (an `execute-api` ARN). */
export type InvokeAccess = (functionArn: string, source: string) => boolean;

/** Serves all APIs of one stack on one server. */
export class HttpApis {
  readonly #mayInvoke: InvokeAccess;
  readonly #apis: readonly ApiSpec[];
  readonly #functionByName: (name: string) => Served | undefined;
  readonly #accountId: string;

  constructor(
    apis: readonly ApiSpec[],
    functionByName: (name: string) => Served | undefined,
    accountId: string,
    mayInvoke: InvokeAccess,
  ) {
    this.#mayInvoke = mayInvoke;
    this.#apis = apis;
    this.#functionByName = functionByName;
    this.#accountId = accountId;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    send(response, await this.#answer(request), request.method);
  }

  async #answer(request: IncomingMessage): Promise<HttpAnswer> {
    const [pathPart, rawQuery = ''] = split(request.url ?? '/', '?');
    const { api, rawPath } = this.#apiFor(pathPart);
    const method = request.method ?? 'GET';
    const match = api === undefined ? undefined : matchRoute(api.routes, method, rawPath);
    const body = await readBody(request, MAX_BODY_BYTES);
    if (body === 'tooLarge') return problem(413, 'Request Entity Too Large');
    const preflight = isPreflight(method, request.headers);
    if (match === undefined && preflight && api?.cors !== undefined) return preflightAnswer(api, request);
    if (api === undefined || match === undefined) return problem(404, 'Not Found');
    // A preflight cannot be signed, so behind an authorizer it fails, as on AWS.
    if (preflight && match.route.authorization !== 'NONE')
      return match.route.authorization === 'AWS_IAM'
        ? problem(403, 'Forbidden')
        : problem(401, 'Unauthorized');
    if (isForeignWrite(api, request))
      return problem(
        403,
        `a page of ${request.headers.origin} may not: the API's cors does not name it, or it sends no application/json`,
      );
    const { [USER_HEADER]: user = 'local', ...headers } = request.headers;
    if (typeof user !== 'string' || !USER.test(user))
      return problem(400, `${USER_HEADER}: letters, digits and +=,.@_- are allowed, up to 64`);
    const local = this.#functionByName(match.route.functionName);
    if (local === undefined)
      return problem(501, `${match.route.functionName} does not run in the local cloud`);
    if (!this.#mayInvoke(local.spec.arn, sourceOf(api, match.route.routeKey))) {
      return problem(500, 'Internal Server Error');
    }
    const event = proxyEvent(
      {
        method,
        rawPath,
        rawQuery,
        headers,
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        body,
        at: Date.now(),
        requestId: randomUUID(),
      },
      {
        routeKey: match.route.routeKey,
        pathParameters: match.pathParameters,
        apiId: api.apiId,
        stage: api.stage,
        accountId: this.#accountId,
        authorization: match.route.authorization,
        user,
      },
    );
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) return problem(413, 'Request Entity Too Large');
    const answer = await within(match.route.integrationTimeoutMs, async () => await invoke(local, payload));
    return answered(api, request, answer);
  }

  /** The first API is at the root; every API is under `/_apis/<logicalId>/`. */
  #apiFor(path: string): { api: ApiSpec | undefined; rawPath: string } {
    const named = /^\/_apis\/([^/]+)(\/.*)?$/.exec(path);
    if (named === null) return { api: this.#apis[0], rawPath: path };
    return { api: this.#apis.find((api) => api.logicalId === named[1]), rawPath: named[2] ?? '/' };
  }
}

export function send(response: ServerResponse, answer: HttpAnswer, method: string | undefined): void {
  response.writeHead(answer.statusCode, {
    ...answer.headers,
    ...(answer.cookies.length === 0 ? {} : { 'set-cookie': [...answer.cookies] }),
    'content-length': answer.body.length,
  });
  response.end(method === 'HEAD' ? undefined : answer.body);
}

/** The function's answer, with the API's CORS headers instead of the function's own. */
function answered(
  { cors }: ApiSpec,
  { method = 'GET', headers }: IncomingMessage,
  answer: HttpAnswer,
): HttpAnswer {
  if (cors === undefined) return answer;
  const added = corsHeaders(cors, headers.origin, isPreflight(method, headers));
  return { ...answer, headers: { ...withoutCors(answer.headers), ...added } };
}

/**
 * Whether a page of a disallowed origin tries to write. On AWS it could not sign the call; here no signature
 * is checked.
 */
const isForeignWrite = ({ cors }: ApiSpec, request: IncomingMessage): boolean =>
  !mayWriteHere(request) && !(cors !== undefined && allowsOrigin(cors, request.headers.origin));

/** The answer to a preflight without a route. */
const preflightAnswer = (api: ApiSpec, request: IncomingMessage): HttpAnswer =>
  answered(api, request, { statusCode: 204, headers: {}, cookies: [], body: Buffer.alloc(0) });

/** `<api>/<stage>/<method>/<path of the route>`, or `<api>/<stage>/$default`. */
const sourceOf = ({ apiId, stage }: ApiSpec, routeKey: string): string =>
  `${apiId}/${stage}/${routeKey.replace(' /', '/')}`;

/** The function's answer; 500 if there is none, or an invalid one. */
export async function invoke(local: Served, payload: string): Promise<HttpAnswer> {
  const result = await local.invoke(payload);
  if (!result.ok || Buffer.byteLength(result.payload) > MAX_PAYLOAD_BYTES)
    return problem(500, 'Internal Server Error');
  try {
    return httpAnswer(result.payload);
  } catch {
    return problem(500, 'Internal Server Error');
  }
}

async function within(limitMs: number, run: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HttpAnswer>((resolve) => {
    timer = setTimeout(() => resolve(problem(503, 'Service Unavailable')), limitMs);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export function problem(statusCode: number, message: string): HttpAnswer {
  const headers = { 'content-type': 'application/json' };
  return { statusCode, headers, cookies: [], body: Buffer.from(JSON.stringify({ message })) };
}

function split(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
