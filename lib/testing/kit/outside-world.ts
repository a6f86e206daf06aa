/**
 * An outside world for tests: what agents did to it, counted by effect key.
 *
 * Owns: the book of effects. Does not own: what is wrong with it (`verdict.ts`).
 */

/** Something that took place outside. */
export interface Effect {
  /** The attempt's `ctx.effectKey`. */
  readonly key: string;
  /**
   * What it was, where one step does several things: two effects of one key and one kind are one too many.
   * @default 'effect'
   */
  readonly kind?: string;
  /** Taken back; a number says how often. */
  readonly undone?: boolean | number;
}

export interface OutsideWorld {
  /** Acts, however often it acted before: a service that does not deduplicate. @returns the effect's id, 'charge-3' */
  readonly act: (effectKey: string, kind?: string) => string;
  /** Acts unless it has acted under this key: a service that deduplicates. @returns the effect's id */
  readonly actOnce: (effectKey: string, kind?: string) => string;
  /** The id of what stands under this key, the first if there are several. */
  readonly find: (effectKey: string, kind?: string) => string | undefined;
  /** Takes back whatever stands under this key; bears being called again. */
  readonly undo: (effectKey: string, kind?: string) => void;
  /** Everything that ever took place; give it to `crashEverywhere` as `effects`. */
  readonly effects: () => readonly Effect[];
}

interface Entry {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  undone: boolean;
}

/** A new, empty outside world. */
export function outsideWorld(): OutsideWorld {
  const entries: Entry[] = [];
  const standing = (key: string, kind: string | undefined): Entry[] =>
    entries.filter(
      (entry) => entry.key === key && !entry.undone && (kind === undefined || kind === entry.kind),
    );
  const act = (key: string, kind = 'effect'): string => {
    const entry = { id: `${kind}-${entries.length + 1}`, key, kind, undone: false };
    entries.push(entry);
    return entry.id;
  };
  return {
    act,
    actOnce: (key, kind = 'effect') =>
      entries.find((entry) => entry.key === key && entry.kind === kind)?.id ?? act(key, kind),
    find: (key, kind) => standing(key, kind)[0]?.id,
    undo: (key, kind) => {
      for (const entry of standing(key, kind)) entry.undone = true;
    },
    effects: () => entries.map(({ key, kind, undone }) => ({ key, kind, undone })),
  };
}
