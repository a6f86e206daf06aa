/**
 * Replaces the tokens of callbacks by handles in what a page reads, and puts the tokens back into what a page
 * sends.
 *
 * Invariant: no token leaves this process towards a page, anywhere in an answer. Who has a token may answer,
 * and pages are copied, photographed and passed around. Does not own: who may answer (the API).
 *
 * A handle is valid in this process only. It contains the names of execution and step, which are no secret,
 * and nothing of the token's key.
 */

import { createHmac } from 'node:crypto';
import { secret } from './secrets.ts';

/**
 * A token where the API has a field for it: `<execution>.<step>.<key>`. The execution of a step has dots of
 * its own.
 */
const FIELD = /(?<="token":")(?:[a-z0-9-]+\.){2,}[A-Za-z0-9-]+(?=")/g;
/** A token's key in any text: 122 random bits (`lib/aws/fresh-id.ts`) after two names. */
const KEY = /\.(?<=[a-z0-9-]\.[a-z0-9-]{1,48}\.)[A-Za-z0-9-]{8}[Q-T][A-Za-z0-9-]{12}[AQgw](?![\w-])/g;
const NAMES = /[a-z0-9.-]+$/;
/** The longest names of an execution of twenty generations and its step. */
const MAX_NAMES = 1_200;

/**
 * The most handles that are kept. A page shows few, and a forgotten one is made again when its token is read
 * again.
 */
const MOST = 10_000;

export class CallbackHandles {
  readonly #secret = secret();
  readonly #tokens = new Map<string, string>();

  /** The text with a handle in place of each token. */
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
