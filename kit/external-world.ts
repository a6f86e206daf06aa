/**
 * An external world for tests: the effects that agents had on it, by idempotency key.
 *
 * Does not own: what is wrong with them (`verdict.ts`).
 */

/** An effect on the external world. */
export interface WorldEffect {
  /** The attempt's `ctx.idempotencyKey`. */
  readonly key: string;
  /**
   * The kind, if a step has several effects: two effects of the same key and kind are one too many.
   * @default 'effect'
   */
  readonly kind?: string;
  /** Whether it was undone; a number says how often. */
  readonly undone?: boolean | number;
}

/**
 * An external world. Each method is one request, which `crashEverywhere` breaks in every way if it gets the
 * world.
 */
export interface ExternalWorld {
  /**
   * Acts, even if it has acted before: a service that does not deduplicate.
   * @returns the effect's id, 'charge-3'
   */
  readonly act: (idempotencyKey: string, kind?: string) => Promise<string>;
  /** Acts unless it has acted under this key: a service that deduplicates. @returns the effect's id */
  readonly actOnce: (idempotencyKey: string, kind?: string) => Promise<string>;
  /**
   * The id of the effect in place under this key, the first if there are several; undefined if there is none.
   */
  readonly find: (idempotencyKey: string, kind?: string) => Promise<string | undefined>;
  /** Undoes everything under this key; may be repeated. */
  readonly undo: (idempotencyKey: string, kind?: string) => Promise<void>;
  /** A request to another service, for instance a server of the test's, which may break like the others. */
  readonly request: <Answer>(idempotencyKey: string, perform: () => Promise<Answer>) => Promise<Answer>;
  /** All effects that ever happened, those undone included. */
  readonly effects: () => readonly WorldEffect[];
}

/** A function between an agent and the world, which may break requests. */
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

/**
 * A service for tests, in memory and without effects yet: fakes of agents act on it by `ctx.idempotencyKey`,
 * and `crashEverywhere({ world })` judges what it finds there.
 * @example
 * const world = externalWorld();
 * export const id = await world.actOnce('order-1.pay', 'charge');
 */
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
