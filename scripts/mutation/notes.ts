/** Survivors that somebody has looked at. Owns: what was concluded. Does not own: the counts. */

export interface Note {
  readonly file: string;
  /** A piece of the line. */
  readonly at: string;
  /** 'test': a test notices it now. 'equivalent': nobody could. 'open': somebody could. */
  readonly answer: 'test' | 'equivalent' | 'open';
  readonly said: string;
}

export const NOTES: readonly Note[] = [];
