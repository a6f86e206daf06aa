/**
 * Builds a call's request from the declaration and the call's values.
 *
 * Owns: the address, the encoding of the values in it, headers, the body. Does not own: the secret's value
 * (`secret.ts`), the connection (`send.ts`).
 *
 * H3 No value of an input changes the declared host or path, because segments and the query are encoded. S17
 * An error names the part that cannot be built, not its value.
 */

import { evaluateExpression, type Expr, type Scope } from '../core/plan/refs.ts';
import type { Json } from '../core/values/json.ts';
import { addressProblem } from '../remote/target.ts';
import type { RequestData } from './declaration.ts';

export interface MadeRequest {
  readonly url: URL;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The request cannot be built, so nothing is sent. */
export class UnmadeError extends Error {
  override readonly name = 'UnmadeError';
  /** True if another deployment may add what is missing. */
  readonly isForNow: boolean;

  constructor(message: string, isForNow = false) {
    super(message);
    this.isForNow = isForNow;
  }
}

export const notSet = (env: string): string =>
  `the environment variable ${env} is not set; set it in agentSettings[…].environment`;

/** Returns the fault in an address, if there is one. */
export const urlProblem = (text: string, hasSecret: boolean): string | undefined =>
  addressProblem(text, hasSecret, 'auth: secret(…)');

/** @throws UnmadeError */
export function madeRequest(
  request: RequestData,
  scope: Scope,
  hasSecret: boolean,
  shape: (message: Json) => Json = (message) => message,
): MadeRequest {
  const valueOf = (expr: Expr): Json | undefined => evaluateExpression(expr, scope);
  const url = addressOf(request, valueOf, hasSecret);
  const segments = request.path.map((expr, at) => segmentOf(valueOf(expr), at));
  if (segments.length > 0) url.pathname = [url.pathname.replace(/\/$/, ''), ...segments].join('/');
  for (const [name, expr] of Object.entries(request.query))
    for (const value of [valueOf(expr)].flat()) {
      if (value === undefined || value === null) continue;
      if (typeof value === 'object')
        throw new UnmadeError(`query '${name}' has neither a text nor a number nor a truth value`);
      url.searchParams.append(name, String(value));
    }
  const headers: Record<string, string> = { accept: 'application/json' };
  for (const [name, expr] of Object.entries(request.headers))
    headers[name.toLowerCase()] = headerValue(valueOf(expr), `header '${name}'`);
  if (request.body === undefined) return { url, headers };
  headers['content-type'] ??= 'application/json';
  const message = valueOf(request.body);
  if (message === undefined) throw new UnmadeError('the body reads a value that is not there');
  return { url, headers, body: bodyOf(shape(message), headers['content-type']) };
}

function addressOf(
  { url, isUrlFromEnv }: RequestData,
  valueOf: (expr: Expr) => Json | undefined,
  hasSecret: boolean,
): URL {
  const { env = '' } = isUrlFromEnv ? (url as { readonly env: string }) : {};
  const text = isUrlFromEnv ? process.env[env] : valueOf(url as Expr);
  if (isUrlFromEnv && (text === undefined || text === '')) throw new UnmadeError(notSet(env), true);
  if (typeof text !== 'string') throw new UnmadeError('the url reads a text that is not there');
  const problem = urlProblem(text, hasSecret);
  if (problem !== undefined) throw new UnmadeError(problem, isUrlFromEnv);
  const made = new URL(text);
  made.hash = '';
  return made;
}

function segmentOf(value: Json | undefined, at: number): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text === '.' || text === '..')
    throw new UnmadeError(`path[${at}] is not a text or a number that names one thing`);
  return encodeURIComponent(text.toWellFormed());
}

/** @throws UnmadeError */
export function headerValue(value: Json | undefined, what: string): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new UnmadeError(`${what} is not a text of characters that a header may have`);
}

const FORM = 'application/x-www-form-urlencoded';

function bodyOf(value: Json, type: string): string {
  const kind = type.split(';')[0]?.trim().toLowerCase() ?? '';
  if (kind === FORM) return formOf(value);
  return typeof value === 'string' && !/[/+]json$/.test(kind) ? value : JSON.stringify(value);
}

function formOf(value: Json): string {
  const form = new URLSearchParams();
  for (const [name, item] of Object.entries(Object(value) as Readonly<Record<string, Json>>))
    for (const one of [item].flat()) {
      if (typeof one === 'object' && one !== null)
        throw new UnmadeError(`body '${name}' is not a field of a form`);
      form.append(name, String(one));
    }
  return form.toString();
}
