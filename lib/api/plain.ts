/**
 * Requests and answers without the platform's `Request` and `Response`, whose streams take longer than most
 * calls: for callers in the same process.
 *
 * Does not own: the routes.
 */

import type { Context } from 'hono';

/** The parts of a `Request` that the routes read. */
export interface PlainRequest {
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  readonly headers: { readonly get: (name: string) => string | null };
  readonly arrayBuffer: () => Promise<Uint8Array>;
}

/** The parts of a `Response` that a caller reads. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The environment of a call that asks for plain answers in JSON. */
export const PLAIN = { plain: true } as const;

/** Makes the answers of this call in the form that its caller asked for. */
export function answerAsAsked(c: Context): void {
  if ((c.env as Partial<typeof PLAIN> | undefined)?.plain !== true) return;
  let answered = 200;
  const set = c.status;
  const status: Context['status'] = (code) => {
    answered = code;
    set(code);
  };
  const json = (
    value: unknown,
    code = answered,
    headers: Readonly<Record<string, string>> = {},
  ): PlainAnswer => ({
    status: code,
    headers: { 'content-type': 'application/json', ...headers },
    text: JSON.stringify(value),
  });
  Object.assign(c, { json, status });
}
