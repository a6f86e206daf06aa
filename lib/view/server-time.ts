/**
 * The time by the API's clock. How long ago something was, and until when something lasts, is measured by it,
 * because the clock of a terminal or a browser may differ.
 *
 * An answer gives its time in whole seconds (`Date`) and takes time itself. If both clocks may agree within
 * that, they count as equal.
 */

const SECOND_MS = 1_000;

export class ServerTime {
  readonly #own: () => number;
  /** How far the API's clock is ahead of this machine's. */
  #aheadMs = 0;

  constructor(own: () => number = () => Date.now()) {
    this.#own = own;
  }

  readonly now = (): number => this.#own() + this.#aheadMs;

  /** Calls `send`, and reads the server's time from the answer. */
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
