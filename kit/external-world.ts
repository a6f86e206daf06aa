/**
 * An external world for tests: records the agents' effects by idempotency key. Does not own: judging them
 * (`verdict.ts`).
 */

/** An effect on the external world. */
export interface WorldEffect {
  /** The attempt's `ctx.idempotencyKey`. */
  readonly key: string;
  /**
   * The kind, if a step has several effects. Two effects with the same key and kind count as doubled.
   * @default 'effect'
   */
  readonly kind?: string;
  /** Whether it was undone, or how often. */
  readonly undone?: boolean | number;
}

/**
 * An external world. Each method is one request. If `crashEverywhere` gets the world, it applies every fault
 * to each request.
 */
export interface ExternalWorld {
  /**
   * Acts on every call, as a service that does not deduplicate.
   * @returns the effect's id, 'charge-3'
   */
  readonly act: (idempotencyKey: string, kind?: string) => Promise<string>;
  /** Acts once for each key, as a service that deduplicates. @returns the effect's id */
  readonly actOnce: (idempotencyKey: string, kind?: string) => Promise<string>;
  /**
   * The id of the effect in place under this key, the first if there are several; undefined if there is none.
   */
  readonly find: (idempotencyKey: string, kind?: string) => Promise<string | undefined>;
  /** Undoes all effects of this key; may be repeated. */
  readonly undo: (idempotencyKey: string, kind?: string) => Promise<void>;
  /** A request to another service, such as a test's server, with the same faults. */
  readonly request: <Answer>(idempotencyKey: string, perform: () => Promise<Answer>) => Promise<Answer>;
  /** All effects so far, including undone ones. */
  readonly effects: () => readonly WorldEffect[];
}

/** A function between an agent and the world that applies faults to requests. */
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
