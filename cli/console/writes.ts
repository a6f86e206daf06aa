/**
 * Answers waiting pages at each write, so that a page on this machine need not poll.
 *
 * Owns: the count of writes, and the waiting pages. Does not own: the written data (the page reads it through
 * the API).
 */

export class Writes {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** Counts a write. */
  readonly add = (): void => {
    this.#count += 1;
    for (const tell of this.#waiting) tell();
  };

  /** @returns the number of writes, once it differs from `known` or the signal aborts */
  async past(known: number, signal: AbortSignal): Promise<number> {
    if (this.#count !== known || signal.aborted) return this.#count;
    await new Promise<void>((resolve) => {
      const tell = (): void => {
        this.#waiting.delete(tell);
        signal.removeEventListener('abort', tell);
        resolve();
      };
      this.#waiting.add(tell);
      signal.addEventListener('abort', tell);
    });
    return this.#count;
  }
}
