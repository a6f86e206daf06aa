/**
 * Replaces callback tokens by handles in answers to a page, and handles by tokens in a page's requests.
 *
 * Invariant: no answer to a page contains a token, because any holder of a token may answer, and pages are
 * copied and passed around. Does not own: who may answer (the API).
 *
 * A handle is valid only in this process. It contains the names of execution and step, which are not secret,
 * but no part of the token's key.
 */

import { createHmac } from 'node:crypto';
import { secret } from './secrets.ts';

/**
 * A token in the API's field for it: `<execution>.<step>.<key>`. A child execution's id also contains dots.
 */
const FIELD = /(?<="token":")(?:[a-z0-9-]+\.){2,}[A-Za-z0-9-]+(?=")/g;
/** A token's key in any text: 122 random bits (`lib/aws/fresh-id.ts`) after two names. */
const KEY = /\.(?<=[a-z0-9-]\.[a-z0-9-]{1,48}\.)[A-Za-z0-9-]{8}[Q-T][A-Za-z0-9-]{12}[AQgw](?![\w-])/g;
const NAMES = /[a-z0-9.-]+$/;
/** The length limit for the names of execution (twenty generations) and step. */
const MAX_NAMES = 1_200;

/**
 * The most handles in memory. A page shows few, and a dropped one is made again at the next read of its
 * token.
 */
const MOST = 10_000;

export class CallbackHandles {
  readonly #secret = secret();
  readonly #tokens = new Map<string, string>();

  /** Replaces each token in a text by a handle. */
  hide(text: string): string {
    const known = text.replace(FIELD, (token) => this.#handleOf(token));
    return known.replace(KEY, (key: string, at: number) => {
      const [names = ''] = NAMES.exec(known.slice(Math.max(0, at - MAX_NAMES), at)) ?? [];
      return this.#handleOf(`${names}${key}`).slice(names.length);
    });
  }

  tokenOf(handle: string): string | undefined {
    return this.#tokens.get(handle);
  }

  #handleOf(token: string): string {
    const own = createHmac('sha256', this.#secret).update(token).digest('base64url').slice(0, 22);
    const handle = `${token.slice(0, token.lastIndexOf('.'))}.console-${own}`;
    this.#tokens.delete(handle);
    this.#tokens.set(handle, token);
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= MOST) break;
      this.#tokens.delete(oldest);
    }
    return handle;
  }
}
