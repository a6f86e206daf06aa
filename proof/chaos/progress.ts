/** Owns: the progress display: one updated line on a terminal, occasional lines elsewhere. */

export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Sight {
  readonly seconds: number;
  readonly phase: string;
  readonly started: number;
  readonly open: number;
  readonly kills: number;
  readonly freezes: number;
  readonly storeRestarts: number;
  readonly oldestOpenSeconds: number;
}

const PLAIN_EVERY_SECONDS = 15;

export class Progress {
  readonly #screen: Screen;
  #shownAt = Number.NEGATIVE_INFINITY;
  #hasLine = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(sight: Sight): void {
    const text = lineOf(sight);
    if (this.#screen.isTTY === true) {
      this.#screen.write(`\r\u001B[K${text.slice(0, Math.max(20, (this.#screen.columns || 100) - 1))}`);
      this.#hasLine = true;
    } else if (sight.seconds - this.#shownAt >= PLAIN_EVERY_SECONDS) {
      this.#shownAt = sight.seconds;
      this.#screen.write(`${text}\n`);
    }
  }

  /** Writes a line of its own. */
  say(text: string): void {
    this.#screen.write(`${this.#hasLine ? '\r\u001B[K' : ''}${text}\n`);
    this.#hasLine = false;
  }
}

export function lineOf(sight: Sight): string {
  const { seconds, phase, started, open, kills, freezes, storeRestarts, oldestOpenSeconds } = sight;
  return [
    `${String(Math.round(seconds)).padStart(4)} s  ${phase}`,
    `${started} started`,
    `${Math.max(0, started - open)} ended`,
    `${open} open${open > 0 ? `, the oldest for ${Math.round(oldestOpenSeconds)} s` : ''}`,
    `${kills} kills`,
    `${freezes} freezes`,
    `${storeRestarts} store restarts`,
  ].join(' · ');
}
