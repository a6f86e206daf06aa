/**
 * Turns an HTTP answer into its body, or into an error that says what to do.
 *
 * Does not own: the request (`client.ts`), the error (`api-error.ts`).
 */

import { durationText } from '../core/values/text.ts';
import { ApiError } from './api-error.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/** The answer, if it has the key that distinguishes it from any other; an error body becomes an error. */
export function answerOf(
  base: string,
  key: string,
  { status, text, retryAfterMs }: Answer,
): Readonly<Record<string, unknown>> {
  const body = recordIn(text);
  if (body !== undefined && key in body) return body;
  const error = body?.['error'];
  if (isRecord(error) && typeof error['code'] === 'string') {
    const { code, message, details } = error;
    throw new ApiError(code as string, typeof message === 'string' ? message : String(code), {
      status,
      details,
      retryAfterMs,
    });
  }
  throw strangeAnswer(base, { status, retryAfterMs }, body);
}

function strangeAnswer(
  base: string,
  { status, retryAfterMs }: Pick<Answer, 'status' | 'retryAfterMs'>,
  body: Readonly<Record<string, unknown>> | undefined,
): ApiError {
  const said = typeof body?.['message'] === 'string' ? `: ${body['message']}` : '';
  if (status === 401 || status === 403) {
    return new ApiError(
      'forbidden',
      `${base} does not let this caller in (${status}${said}); a deployed API wants signed requests unless it was given an authorizer`,
      { status },
    );
  }
  if (status >= 500) {
    return new ApiError(
      'unavailable',
      `${base} cannot answer now (${status}${said}); try again in a moment`,
      { status, retryAfterMs },
    );
  }
  if (status === 429) {
    const wish = retryAfterMs === undefined ? 'in a moment' : `in ${durationText(retryAfterMs)}`;
    return new ApiError('too-many-calls', `${base} takes no more calls now (429${said}); try again ${wish}`, {
      status,
      retryAfterMs,
    });
  }
  return new ApiError(
    'not-steadfast',
    `${base} answered ${status}, but not as a Steadfast API does; check the URL`,
    { status },
  );
}

function recordIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
