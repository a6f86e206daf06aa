/**
 * Forwards the console's API calls to one address, and returns parts of the answers.
 *
 * Invariant: it is not a general proxy or signer. It forwards listed routes to a fixed address with one
 * header of the page, returns two headers of the answer, and follows no redirect. Does not own: who may call
 * (`request-checks.ts`), the signature (`../signed-fetch.ts`).
 */

import { CALLS } from '../../lib/api/calls.ts';
import { AS_HEADER, ApiError } from '../../lib/api/client.ts';
import { messageOf } from '../io.ts';
import type { CallbackHandles } from './callback-handles.ts';
import type { Refusal } from './request-checks.ts';

export interface Upstream {
  /** The address of the API, without a trailing slash. */
  readonly url: string;
  /** A `fetch` that signs a request or adds a token, as the API requires. */
  readonly fetch: typeof fetch;
}

export interface Call {
  readonly method: string;
  /** The path after `/console/api`. */
  readonly path: string;
  readonly query: string;
  readonly body?: string;
  /** The caller's name, on the local cloud only. */
  readonly as?: string;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly retryAfter?: string;
  /** The API's time, from its header `Date`. */
  readonly date?: string;
}

const ROUTES = Object.keys(CALLS).map((route) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[\\w.~-]+')}$`) };
});

export function routeRefusal(method: string, path: string): Refusal | undefined {
  if (ROUTES.some((route) => route.method === method && route.pattern.test(path))) return undefined;
  return { status: 404, code: 'unknown-route', message: `the console does not allow ${method} on this path` };
}

const CALLBACK = /^\/callbacks\/([^/]+)\/([a-z]+)$/;

/**
 * Replaces the handle in the call by its token. A token in the call is refused, because its holder can call
 * the API directly.
 */
export function withToken(call: Call, handles: CallbackHandles): Call | Refusal {
  const [, handle, what = ''] = CALLBACK.exec(call.path) ?? [];
  if (handle === undefined) return call;
  const token = handles.tokenOf(handle);
  if (token !== undefined) return { ...call, path: `/callbacks/${token}/${what}` };
  const message = 'the console does not know this callback: reload its execution';
  return { status: 404, code: 'unknown-callback', message };
}

/** @returns the API's answer, even an error; a refusal if there is none, or if the page may not read it */
export async function passOn(
  { method, path, query, body, as }: Call,
  { url, fetch: send }: Upstream,
  signal: AbortSignal,
): Promise<Answered | Refusal> {
  try {
    const asked = query === '' ? '' : `?${String(new URLSearchParams(query))}`;
    const answer = await send(`${url}${path}${asked}`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === undefined ? {} : { [AS_HEADER]: as }),
      },
      ...(body === undefined ? {} : { body }),
    });
    return await answered(answer);
  } catch (error) {
    return unanswered(error);
  }
}

async function answered(answer: Response): Promise<Answered | Refusal> {
  const { status, headers } = answer;
  const isJson = /^application\/json\b/i.test(headers.get('content-type') ?? '');
  if ((status >= 300 && status < 400) || !isJson) {
    await answer.body?.cancel();
    return {
      status: 502,
      code: 'not-steadfast',
      message: `a server answered ${status}, but it is not a Steadfast API`,
    };
  }
  const wait = headers.get('retry-after') ?? '';
  const date = headers.get('date') ?? '';
  return {
    status,
    text: await answer.text(),
    ...(/^\d{1,6}$/.test(wait) ? { retryAfter: wait } : {}),
    ...(Number.isNaN(Date.parse(date)) ? {} : { date: new Date(date).toUTCString() }),
  };
}

function unanswered(error: unknown): Refusal {
  const { name, cause } = Object(error) as { name?: string; cause?: unknown };
  if ((error as Partial<ApiError> | undefined)?.code === 'no-credentials')
    return { status: 502, code: 'no-credentials', message: messageOf(error) };
  if (name === 'TimeoutError') return { status: 504, code: 'no-answer', message: 'the API took too long' };
  return { status: 502, code: 'no-answer', message: `no API answers: ${messageOf(cause ?? error)}` };
}
