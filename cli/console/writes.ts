/**
 * Tells waiting pages that something was written, so that a page on this machine need not ask again and
 * again.
 *
 * Owns: how many writes there were, and who waits. Does not own: what was written (the
 * page reads it through the API).
 */

export class Writes {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** There was one. */
  readonly add = (): void => {
    this.#count += 1;
    for (const tell of this.#waiting) tell();
  };

  /** @returns their count, once it is not `known` any more or the signal is given */
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
