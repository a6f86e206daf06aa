/**
 * Summarises the values of a metric in a minute: number, sum, minimum, maximum and distribution.
 *
 * Invariants
 * - I1 its size has a limit: values that differ by less than 2 % count as equal.
 */

/** A distribution as it is stored in a line of the file. */
export interface KeptDistribution {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly spread: readonly (readonly [bucket: number, count: number])[];
}

const STEP = Math.log(1.02);
/** The bucket of zero and negative values. */
const LOWEST = -1_000_000;

export class Distribution {
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = -Infinity;
  readonly #spread = new Map<number, number>();

  static from({ count, sum, min, max, spread }: KeptDistribution): Distribution {
    const kept = new Distribution();
    kept.#count = count;
    kept.#sum = sum;
    kept.#min = min;
    kept.#max = max;
    for (const [bucket, times] of spread) kept.#spread.set(bucket, times);
    return kept;
  }

  add(value: number): void {
    this.#count += 1;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    const bucket = value > 0 ? Math.ceil(Math.log(value) / STEP) : LOWEST;
    this.#spread.set(bucket, (this.#spread.get(bucket) ?? 0) + 1);
  }

  addAll(other: Distribution): void {
    this.#count += other.#count;
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    for (const [bucket, times] of other.#spread)
      this.#spread.set(bucket, (this.#spread.get(bucket) ?? 0) + times);
  }

  /** @param stat in CloudWatch's spelling @returns undefined for one that is not supported */
  stat(stat: string): number | undefined {
    const [, percent] = /^p(\d{1,2}(?:\.\d{1,10})?|100)$/.exec(stat) ?? [];
    if (percent !== undefined) return this.#percentile(Number(percent));
    switch (stat) {
      case 'SampleCount':
        return this.#count;
      case 'Sum':
        return this.#sum;
      case 'Average':
        return this.#sum / this.#count;
      case 'Minimum':
        return this.#min;
      case 'Maximum':
        return this.#max;
      default:
        return undefined;
    }
  }

  toJSON(): KeptDistribution {
    const spread = [...this.#spread];
    return { count: this.#count, sum: this.#sum, min: this.#min, max: this.#max, spread };
  }

  #percentile(percent: number): number {
    let left = Math.max(1, Math.ceil((percent / 100) * this.#count));
    for (const [bucket, times] of [...this.#spread].sort(([one], [other]) => one - other)) {
      left -= times;
      // Answers the middle of the bucket, limited to the minimum and maximum.
      if (left <= 0)
        return Math.min(
          this.#max,
          Math.max(this.#min, bucket === LOWEST ? 0 : Math.exp((bucket - 0.5) * STEP)),
        );
    }
    return this.#max;
  }
}
