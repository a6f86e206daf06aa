/**
 * Serves function URLs: checks the caller, invokes the function, sends the response. Does not own: HTTP APIs
 * (http-api.ts), the policies.
 *
 * Invariants
 * - I1 a page of another origin reaches no function, even if its URL needs no signature.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { readAwsCall } from '../gateway/aws-call.ts';
import type { UrlSpec } from '../template/stack-model.ts';
import { invoke, problem, send, type Served } from './http-api.ts';
import { isAskedHere } from './pages.ts';
import { type HttpAnswer, proxyEvent } from './proxy-event.ts';
import { readBody } from './read-body.ts';
import { type Listening, listen } from './servers.ts';

const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** Whether the policies allow a caller (a function's logical id) to use the function's URL. */
export type UrlAccess = (caller: string, functionArn: string) => boolean;

/**
 * The function URLs of one stack. Each has its own port, as it has its own host on AWS, so its paths begin at
 * the root.
 */
export class FunctionUrls {
  readonly #listening: ReadonlyMap<string, Listening>;

  private constructor(listening: ReadonlyMap<string, Listening>) {
    this.#listening = listening;
  }

  /**
   * Listens before the template is resolved, because the template uses the addresses.
   * @param logicalIds of the addresses
   */
  static async listen(logicalIds: readonly string[]): Promise<FunctionUrls> {
    const listening = new Map<string, Listening>();
    for (const id of logicalIds) listening.set(id, await listen(0, `the function URL ${id}`));
    return new FunctionUrls(listening);
  }

  /** The address, without a trailing slash. */
  addressOf(logicalId: string): string {
    return this.#listening.get(logicalId)?.url ?? '';
  }

  serve(
    urls: readonly UrlSpec[],
    functionByName: (name: string) => Served | undefined,
    accountId: string,
    mayUse: UrlAccess,
  ): void {
    for (const url of urls)
      this.#listening
        .get(url.logicalId)
        ?.serve(listenerOf(url, functionByName(url.functionName), accountId, mayUse));
  }

  async close(): Promise<void> {
    for (const each of this.#listening.values()) await each.close();
  }
}

const listenerOf =
  (url: UrlSpec, local: Served | undefined, accountId: string, mayUse: UrlAccess): RequestListener =>
  (request, response) => {
    answerOf(url, local, accountId, mayUse, request)
      .then((answer) => send(response, answer, request.method))
      // A client that disconnects in the middle of its request must not crash the server.
      .catch(() => response.destroy());
  };

async function answerOf(
  { authorization, functionName }: UrlSpec,
  local: Served | undefined,
  accountId: string,
  mayUse: UrlAccess,
  request: IncomingMessage,
): Promise<HttpAnswer> {
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === 'tooLarge') return problem(413, 'Request Entity Too Large');
  if (!isAskedHere(request.headers)) return problem(403, 'Forbidden');
  if (local === undefined) return problem(501, `${functionName} does not run in the local cloud`);
  const { accessKeyId, caller } = readAwsCall(request.headers, Buffer.alloc(0));
  const isAllowed = authorization === 'NONE' || (accessKeyId !== '' && mayUse(caller, local.spec.arn));
  if (!isAllowed) return problem(403, 'Forbidden');
  const { pathname, search } = new URL(request.url ?? '/', 'http://function');
  const event = proxyEvent(
    {
      method: request.method ?? 'GET',
      rawPath: pathname,
      rawQuery: search.slice(1),
      headers: request.headers,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      body,
      at: Date.now(),
      requestId: randomUUID(),
    },
    {
      routeKey: '$default',
      pathParameters: {},
      apiId: functionName,
      stage: '$default',
      accountId,
      authorization,
      user: caller,
    },
  );
  const answer = await invoke(local, JSON.stringify(event));
  // A function URL answers 502 where API Gateway answers 500.
  return answer.statusCode === 500 && answer.body.includes('Internal Server Error')
    ? problem(502, 'Internal Server Error')
    : answer;
}
