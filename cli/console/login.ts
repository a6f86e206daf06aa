/**
 * Restricts a deployment's console to the browser in which the printed address was opened.
 *
 * Owns: the code in that address, valid once and for a short time, and the cookie that replaces it. Does not
 * own: the page's token (`request-checks.ts`), which a request also needs.
 */

import { isSame, secret } from './secrets.ts';

export const CODE_WITHIN_MS = 2 * 60_000;

export class Login {
  /** The code in the printed address. */
  readonly code: string = secret();
  readonly #session = secret();
  readonly #now: () => number;
  readonly #until: number;
  #isUsed = false;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#until = now() + CODE_WITHIN_MS;
  }

  /**
   * Makes the cookie. Its name has the port, because browsers send cookies to all ports of a host.
   * @returns the value of `Set-Cookie`; undefined if the code is wrong, used or too old
   */
  cookieFor(code: string, port: number): string | undefined {
    if (this.#isUsed || this.#now() > this.#until || !isSame(code, this.code)) return undefined;
    this.#isUsed = true;
    return `${nameOf(port)}=${this.#session}; Path=/console; HttpOnly; SameSite=Strict`;
  }

  /** @param cookies the header `Cookie` */
  isOpenTo(cookies: string, port: number): boolean {
    return cookies
      .split(';')
      .map((pair) => pair.trim().split('='))
      .some(([name, value = '']) => name === nameOf(port) && isSame(value, this.#session));
  }
}

const nameOf = (port: number): string => `steadfast-console-${port}`;
