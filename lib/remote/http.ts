/**
 * Sends a call as an HTTP request: to an author's address, or to Lambda's API.
 *
 * Owns: the request, what each status and each broken connection means for the work, the signature's headers.
 * Does not own: the meaning of a well-formed answer (`contract.ts`), the kinds of targets (`target.ts`).
 *
 * S6 Only the remote's own answer, or a connection that was never made, says "not done". After the first byte
 * is sent, any broken connection leaves the outcome unknown, and the remote may still be working:
 * `StillActingError`.
 */

import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { amzDate, authorization, signedPlace } from '../aws/signature.ts';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import { markOf, PermanentError, StillActingError, TransientError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { type Answer, AnswerReader, type RemoteCall } from './contract.ts';
import { retryAfterIn } from './retry-after.ts';
import { addressProblem, isProtected, type UrlTarget } from './target.ts';

/** The limit for name resolution, the connection and its encryption. */
const CONNECT_WITHIN_MS = 10_000;
/** NAT gateways and other routers forget a connection without traffic (after 350 s). */
const KEEP_ALIVE_EVERY_MS = 60_000;
/** Lines of JSON: progress, then the answer. */
const LINES = 'application/x-ndjson';

interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignalLike;
}

export type Progress = (token: string | number) => void;
/** Sends a call. @throws TransientError, PermanentError: certainly not done; StillActingError: unknown */
export type Send = (call: RemoteCall, signal: AbortSignalLike, progress: Progress) => Promise<Answer>;

/** Returns the reader for an answer with this status. @throws the error that the status means for the work */
type ReaderOf = (status: number, headers: IncomingHttpHeaders) => AnswerReader;

/**
 * Sends a POST over its own connection: a reused one may be closed already, which would leave a needless
 * unknown outcome.
 * @throws TransientError if nothing was sent; else the error of `readerOf`, or StillActingError
 */
export function post({ url, headers, body, signal }: Post, readerOf: ReaderOf): Promise<Answer> {
  const isTls = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const options = {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    } as const;
    const asked = (isTls ? tlsRequest : plainRequest)(url, options);
    const over = (finish: () => void): void => {
      signal.removeEventListener('abort', abort);
      asked.destroy();
      finish();
    };
    const fail = (error: unknown): void => over(() => reject(unsure(error, isConnected, url)));
    const abort = (): void => fail(Object.assign(new Error('the attempt was aborted'), { code: 'aborted' }));
    signal.addEventListener('abort', abort);
    asked.on('socket', (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_EVERY_MS);
      const timer = setTimeout(
        () => fail(new Error(`no connection within ${CONNECT_WITHIN_MS} ms`)),
        CONNECT_WITHIN_MS,
      );
      socket.once('close', () => clearTimeout(timer));
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        isConnected = true;
        clearTimeout(timer);
      });
    });
    asked.on('error', fail);
    asked.on('response', (response) => {
      const attempt = (read: () => Answer | undefined): void => {
        try {
          const answer = read();
          if (answer !== undefined) over(() => resolve(answer));
        } catch (error) {
          fail(error);
        }
      };
      let reader: AnswerReader | undefined;
      attempt(() => {
        reader = readerOf(response.statusCode ?? 0, response.headers);
        return undefined;
      });
      response.on('data', (chunk: Buffer) => attempt(() => reader?.push(chunk)));
      response.on('error', fail);
      response.on('end', () => attempt(() => reader?.end()));
    });
    if (signal.aborted) abort();
    else asked.end(body);
  });
}

/** Returns the error, with its meaning for the work. */
function unsure(error: unknown, isConnected: boolean, { host }: URL): unknown {
  if (['transient', 'permanent'].includes(markOf(error) ?? '')) return error;
  const { message = '', code } = Object(error) as { message?: string; code?: unknown };
  if (!isConnected)
    return new TransientError(`nothing was sent to ${host}: ${message || String(code)}`, { cause: error });
  return new StillActingError(
    typeof code === 'string' ? code : 'broken-connection',
    `the call to ${host} was sent, and what became of it is unknown: ${message}`,
    { cause: error },
  );
}

const readAs = (call: RemoteCall, headers: IncomingHttpHeaders, progress: Progress): AnswerReader =>
  new AnswerReader(
    call.call,
    headers['content-type']?.split(';')[0]?.trim().toLowerCase() === LINES ? progress : undefined,
  );

/**
 * Sends calls to an author's address.
 *
 * 429 means that nothing was done. 503 means so only with Retry-After, which a service sends when it rejects
 * work: proxies also answer 503 without it when a connection behind them broke after the request had arrived.
 */
export function urlSend(target: UrlTarget): Send {
  return async (call, signal, progress) => {
    const url = addressOf(target);
    const body = JSON.stringify(call);
    const own = {
      'content-type': 'application/json',
      accept: `application/json, ${LINES}`,
      'idempotency-key': call.idempotencyKey,
      ...secretOf(target),
    };
    const headers =
      target.sign === undefined
        ? own
        : await signed({ url, headers: own, body, service: target.sign, region: regionHere() });
    return await post({ url, headers, body, signal }, (status, answered) => {
      if (status >= 200 && status < 300) return readAs(call, answered, progress);
      const retryAfter = retryAfterIn(answered);
      const message = `${url.host} answered ${status}`;
      if (status === 429 || (status === 503 && retryAfter !== undefined))
        throw new TransientError(message, defined({ retryAfter }));
      throw Object.assign(new Error(message), { code: `http-${status}` });
    });
  };
}

function addressOf({ url, ...rest }: UrlTarget): URL {
  const text = typeof url === 'string' ? url : variable(url.env);
  const problem = addressProblem(text, isProtected(rest));
  if (problem === undefined) return new URL(text);
  throw new TransientError(`nothing was sent: ${problem}`);
}

const secretOf = ({ secret }: UrlTarget): Record<string, string> =>
  secret === undefined ? {} : { [secret.header.toLowerCase()]: variable(secret.env) };

/**
 * Reads an environment variable. @throws TransientError: nothing was sent, and the next deployment may set it
 */
export function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new TransientError(
    `nothing was sent: the environment variable ${name} is not set; set it in agentSettings[…].environment`,
  );
}

const regionHere = (): string => variable('AWS_REGION');

interface Unsigned {
  readonly url: URL;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly service: string;
  readonly region: string;
}

let credentials: ReturnType<typeof defaultProvider> | undefined;

/**
 * Returns the headers of a request, signed with this process's role.
 * @throws TransientError without credentials
 */
export async function signed({
  url,
  headers,
  body,
  service,
  region,
}: Unsigned): Promise<Record<string, string>> {
  credentials ??= defaultProvider();
  const known = await credentials().catch((error: unknown) => {
    throw new TransientError('nothing was sent: there are no AWS credentials to sign with', { cause: error });
  });
  const all = {
    ...headers,
    host: url.host,
    'x-amz-date': amzDate(Date.now()),
    ...(known.sessionToken === undefined ? {} : { 'x-amz-security-token': known.sessionToken }),
  };
  const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
  const scope = { service, region };
  return { ...sorted, authorization: authorization(sorted, body, known, scope, signedPlace(url)) };
}

/** Makes the error for a status that Lambda's API returns before it runs the function. */
export const notInvoked = (message: string, isForGood: boolean, wish?: string): Error => {
  const retryAfter = retryAfterIn({ 'retry-after': wish });
  return isForGood ? new PermanentError(message) : new TransientError(message, defined({ retryAfter }));
};
