/**
 * Reads and checks the tokens of callers; each token has a caller's name.
 *
 * Owns: their format, the kinds of calls that each allows, and comparing them in constant time. Does not own:
 * when a token is needed (`http.ts`), the kind of a call (`lib/api/calls.ts`).
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { type CallKind, CALLS, kindOf, type Route } from '../lib/api/calls.ts';
import { isCallerName } from '../lib/core/values/caller.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The minimum length, so that a token cannot be guessed. */
const LEAST_CHARS = 16;
/** The characters that a header may have; no caller could send any other. */
const SENDABLE = /^[\x21-\x7e]+$/;
/** The caller whose token has no name beside it. */
const UNNAMED = 'token';

const KNOWN = Object.keys(CALLS) as Route[];
const KINDS: readonly CallKind[] = [...new Set(KNOWN.map(kindOf))];

export interface TokenHolder {
  readonly name: string;
  /** The kinds of calls that the token allows. */
  readonly scopes: ReadonlySet<CallKind>;
}

interface Known extends TokenHolder {
  readonly digest: Buffer;
}

export class Tokens {
  static readonly none: Tokens = new Tokens([]);
  readonly #names: readonly Known[];

  private constructor(names: readonly Known[]) {
    this.#names = names;
  }

  get size(): number {
    return this.#names.length;
  }

  /**
   * @param text one token per line: `<name> <token>`, the token alone, or `<name> <token> start,read` with
   * its scopes; empty lines and those with # are ignored
   * @throws Error that names the line, without the token
   */
  static read(text: string): Tokens {
    const lines = text.split('\n').map((line) => line.trim());
    const known = new Set<string>();
    const names = lines.flatMap((line, at) => {
      if (line === '' || line.startsWith('#')) return [];
      const [first = '', second, scopes, ...others] = line.split(/\s+/);
      const [name, token] = second === undefined ? [UNNAMED, first] : [first, second];
      if (others.length > 0 || token.length < LEAST_CHARS || !SENDABLE.test(token) || !isCallerName(name))
        throw new Error(
          `line ${at + 1} of the tokens is not valid: write a name, a space and a token of at least ${LEAST_CHARS} ASCII characters`,
        );
      if (known.has(token))
        throw new Error(`line ${at + 1} of the tokens has the token of another line: give each name its own`);
      known.add(token);
      return [{ digest: digest(token), name, scopes: scopesIn(scopes, at + 1) }];
    });
    return new Tokens(names);
  }

  /** Compares with every token, even after a match. @param header `Authorization`, as received */
  holderOf(header: string | undefined): TokenHolder | undefined {
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '') ?? [];
    const given = digest(token ?? '');
    let found: TokenHolder | undefined;
    for (const one of this.#names) if (timingSafeEqual(one.digest, given)) found = one;
    return token === undefined ? undefined : found;
  }
}

/**
 * Reads the scopes; a token without scopes allows everything. @throws Error with the line and what is allowed
 */
function scopesIn(text: string | undefined, line: number): ReadonlySet<CallKind> {
  const scopes = text?.split(',') ?? KINDS;
  const isKind = (one: string): one is CallKind => (KINDS as readonly string[]).includes(one);
  if (scopes.every(isKind)) return new Set(scopes);
  throw new Error(
    `line ${line} of the tokens is not valid: behind a token come the calls that it is for, with commas between them, such as start,read; allowed: ${KINDS.join(', ')}`,
  );
}

const ROUTES = KNOWN.map((route) => {
  const [method = '', path = ''] = route.split(' ');
  return { method, path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), kind: kindOf(route) };
});

/** The scopes that a call needs. A call without a route needs all of them if it changes something. */
export function kindsOf(method: string, url: string): readonly CallKind[] {
  const asked = method === 'HEAD' ? 'GET' : method;
  const path = url.replace(/[?#].*$/, '');
  const route = ROUTES.find((one) => one.method === asked && one.path.test(path));
  return route === undefined ? (asked === 'GET' ? ['read'] : KINDS) : [route.kind];
}
