/**
 * An outside world for tests: what agents did to it, counted by idempotency key.
 *
 * Owns: the book of effects. Does not own: what is wrong with it (`verdict.ts`).
 */

/** Something that took place outside. */
export interface WorldEffect {
  /** The attempt's `ctx.idempotencyKey`. */
  readonly key: string;
  /**
   * The kind of effect, if one step has several: two effects of one key and one kind are one too many.
   * @default 'effect'
   */
  readonly kind?: string;
  /** Taken back; a number says how often. */
  readonly undone?: boolean | number;
}

/** Each method is one request, which `crashEverywhere` breaks in every way if it is given the world. */
export interface ExternalWorld {
  /**
   * Acts, however often it acted before: a service that does not deduplicate.
   * @returns the effect's id, 'charge-3'
   */
  readonly act: (idempotencyKey: string, kind?: string) => Promise<string>;
  /** Acts unless it has acted under this key: a service that deduplicates. @returns the effect's id */
  readonly actOnce: (idempotencyKey: string, kind?: string) => Promise<string>;
  /** The id of what stands under this key, the first if there are several. */
  readonly find: (idempotencyKey: string, kind?: string) => Promise<string | undefined>;
  /** Takes back everything under this key; bears being called again. */
  readonly undo: (idempotencyKey: string, kind?: string) => Promise<void>;
  /** A request to something else, a server of the test's for instance, that may break as the others may. */
  readonly request: <Answer>(idempotencyKey: string, perform: () => Promise<Answer>) => Promise<Answer>;
  /** Everything that ever took place. */
  readonly effects: () => readonly WorldEffect[];
}

/** A function between an agent and the world. */
export type Wire = <Answer>(idempotencyKey: string, perform: () => Promise<Answer>) => Promise<Answer>;

interface Entry {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  undone: boolean;
}

const wires = new WeakMap<ExternalWorld, Wire>();

/** Routes the requests to this world through `wire` from now on. */
export const connect = (world: ExternalWorld, wire: Wire): unknown => wires.set(world, wire);

/** A new, empty outside world. */
export function externalWorld(): ExternalWorld {
  const entries: Entry[] = [];
  const standing = (key: string, kind: string | undefined): Entry[] =>
    entries.filter(
      (entry) => entry.key === key && !entry.undone && (kind === undefined || kind === entry.kind),
    );
  const act = (key: string, kind: string): string => {
    const entry = { id: `${kind}-${entries.length + 1}`, key, kind, undone: false };
    entries.push(entry);
    return entry.id;
  };
  const request: Wire = async (key, perform) => {
    const wire = wires.get(world);
    return wire === undefined ? perform() : wire(key, perform);
  };
  const world: ExternalWorld = {
    act: (key, kind = 'effect') => request(key, async () => act(key, kind)),
    actOnce: (key, kind = 'effect') =>
      request(key, async () => {
        const known = entries.find((entry) => entry.key === key && entry.kind === kind);
        return known?.id ?? act(key, kind);
      }),
    find: (key, kind) => request(key, async () => standing(key, kind)[0]?.id),
    undo: (key, kind) =>
      request(key, async () => {
        for (const entry of standing(key, kind)) entry.undone = true;
      }),
    request,
    effects: () => entries.map(({ key, kind, undone }) => ({ key, kind, undone })),
  };
  return world;
}
