/**
 * What a process of authors' code says of itself when an agent has spoilt it.
 *
 * Owns: its shape. Does not own: when it is said (`isolated-process.ts`), what becomes of it (`serve/`).
 */

/** What a process has suffered of its agents. */
export interface Trouble {
  /** Whose fault it was, where that is known. */
  readonly agent?: string;
  /** Whose calls were under way. */
  readonly atWork: readonly string[];
  readonly why: string;
  /** It kept the loop from all others. */
  readonly isBlock?: true;
  /** Its code cannot be loaded, and has ended nothing. */
  readonly isLoad?: true;
}
