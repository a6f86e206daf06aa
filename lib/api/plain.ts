/**
 * Requests and answers without the platform's `Request` and `Response`, whose streams take longer than most
 * calls: for a caller in the same process.
 *
 * Owns: their form, and how an answer is made so where it is asked for. Does not own: the routes.
 */

import type { Context } from 'hono';

/** The parts of a `Request` that the routes read. */
export interface PlainRequest {
  readonly method: string;
  /** Whole. */
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

/** A caller's wish for plain answers in JSON. */
export const PLAIN = { plain: true } as const;

/** Has the answers of this call made as its caller wants them. */
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
