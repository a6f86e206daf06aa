/**
 * The tokens with which callers are let in, each the name of one.
 *
 * Owns: how they are written down, their comparison in constant time. Does not own: when one is needed
 * (`http.ts`).
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isCallerName } from '../lib/core/values/caller.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Shorter ones are guessed. */
const LEAST_CHARS = 16;
/** What a header may have; another one would let nobody in. */
const SENDABLE = /^[\x21-\x7e]+$/;
/** The caller whose token has no name beside it. */
const UNNAMED = 'token';

export class Tokens {
  static readonly none: Tokens = new Tokens([]);
  readonly #names: readonly { readonly digest: Buffer; readonly name: string }[];

  private constructor(names: readonly { readonly digest: Buffer; readonly name: string }[]) {
    this.#names = names;
  }

  get size(): number {
    return this.#names.length;
  }

  /**
   * @param text a token a line, `<name> <token>` or the token alone; empty lines and those with # are none
   * @throws Error saying which line cannot be used; no token is in it
   */
  static read(text: string): Tokens {
    const lines = text.split('\n').map((line) => line.trim());
    const known = new Set<string>();
    const names = lines.flatMap((line, at) => {
      if (line === '' || line.startsWith('#')) return [];
      const [first = '', second, ...others] = line.split(/\s+/);
      const [name, token] = second === undefined ? [UNNAMED, first] : [first, second];
      if (others.length > 0 || token.length < LEAST_CHARS || !SENDABLE.test(token) || !isCallerName(name))
        throw new Error(
          `line ${at + 1} of the tokens is not valid: write a name, a space and a token of at least ${LEAST_CHARS} ASCII characters`,
        );
      if (known.has(token))
        throw new Error(`line ${at + 1} of the tokens has the token of another line: give each name its own`);
      known.add(token);
      return [{ digest: digest(token), name }];
    });
    return new Tokens(names);
  }

  /** Compares with each, however early one fits. @param header `Authorization`, as it came */
  nameOf(header: string | undefined): string | undefined {
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '') ?? [];
    const given = digest(token ?? '');
    let found: string | undefined;
    for (const one of this.#names) if (timingSafeEqual(one.digest, given)) found = one.name;
    return token === undefined ? undefined : found;
  }
}
