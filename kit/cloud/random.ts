/** Draws random numbers from a seed. Pure: the same seed gives the same draws. */

export interface Draws {
  /** A number in [0, 1). */
  readonly random: () => number;
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(items: readonly [T, ...T[]]) => T;
}

/**
 * Draws by Mulberry32. The `stream`s of a seed are independent: a further draw in one does not change the
 * others.
 */
export function drawsOf(seed: number, stream = 0): Draws {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    random,
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
    chance: (share) => random() < share,
    pick: (items) => items[Math.floor(random() * items.length)] ?? items[0],
  };
}
