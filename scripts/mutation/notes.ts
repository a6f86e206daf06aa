/** Survivors that somebody has looked at. Owns: what was concluded. Does not own: the counts. */

export interface Note {
  readonly file: string;
  /** A piece of the line. */
  readonly at: string;
  /** 'test': a test notices it now. 'equivalent': nobody could. 'open': somebody could. */
  readonly answer: 'test' | 'equivalent' | 'open';
  readonly said: string;
}

export const NOTES: readonly Note[] = [
  {
    file: 'lib/core/watch.ts',
    at: 'work.some((piece) => piece.dueAt <= readAt)',
    answer: 'equivalent',
    said: 'left out, the same instant comes from the smallest `dueAt`, which is never taken from before the read.',
  },
];
