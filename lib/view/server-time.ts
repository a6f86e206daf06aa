/**
 * The time by the API's clock. Durations and deadlines are computed with it, because the clock of a terminal
 * or a browser may differ.
 *
 * An answer gives its time in whole seconds (`Date`), and is itself under way for a while. If the two clocks
 * may agree within that inaccuracy, they count as equal.
 */

const SECOND_MS = 1_000;

export class ServerTime {
  readonly #own: () => number;
  /** How far the API's clock is ahead of this machine's clock. */
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
