/**
 * The time by the clock of the API that is asked: how long ago something was, and when something will be, is
 * measured from there, for the clock of a terminal or a browser may be another.
 *
 * An answer says its time in whole seconds (`Date`), and takes some time itself: as far as both clocks may
 * agree, they do.
 */

const SECOND_MS = 1_000;

export class ServerTime {
  readonly #own: () => number;
  /** How far the API's clock is ahead of this one. */
  #aheadMs = 0;

  constructor(own: () => number = () => Date.now()) {
    this.#own = own;
  }

  readonly now = (): number => this.#own() + this.#aheadMs;

  /** Makes the call of `send`, and learns the server's time from the answer. */
  readonly through =
    (send: typeof fetch): typeof fetch =>
    async (input, init) => {
      const sentAt = this.#own();
      const answer = await send(input, init);
      const saidAt = Date.parse(answer.headers.get('date') ?? '');
      if (!Number.isNaN(saidAt)) this.#heard(saidAt, sentAt);
      return answer;
    };

  #heard(saidAt: number, sentAt: number): void {
    const least = saidAt - this.#own();
    const most = saidAt + SECOND_MS - sentAt;
    this.#aheadMs = Math.max(least, Math.min(most, this.#aheadMs));
  }
}
