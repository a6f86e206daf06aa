/**
 * Measures how long it took until the record showed that an attempt's process was dead or frozen.
 *
 * Owns: assigning strikes to interrupted attempts, the detection times, percentiles, and the times without a
 * supervisor. Pure.
 *
 * An interrupted attempt is in its step's history with the failure `lease-ended`; the entry's `endedAt` is
 * when the supervisor recorded it. The log line `claimed` (the log level is debug for that) names the
 * attempt's process, so the strike is the one on that process while the attempt was under way. A process
 * killed between its claim and that line has left no line: then the strike is the first one on its function
 * after the claim, which can only make the detection seem slower than it was. A freeze shorter than the lease
 * ends no lease: it counts only when no kill followed. If a lease ended without any strike (the store was
 * down for longer than the heartbeats can bridge), no dead process was detected, and it is counted
 * separately.
 */

export interface Strike {
  readonly kind: 'kill' | 'freeze';
  readonly target: string;
  readonly pid: number;
  readonly at: number;
  /** When a freeze ended. */
  thawedAt?: number;
}

export interface Claim {
  readonly executionId: string;
  readonly step: string;
  readonly pid: number;
  readonly at: number;
}

/** An attempt whose lease ended. */
export interface Interruption {
  readonly executionId: string;
  readonly step: string;
  /** The function that ran it. */
  readonly target: string;
  readonly claimedAt: number;
  readonly recordedAt: number;
}

export interface Detection extends Interruption {
  readonly strike: Strike;
  readonly ms: number;
}

export interface Interval {
  readonly from: number;
  readonly to: number;
}

export function detectionsOf(
  interruptions: readonly Interruption[],
  strikes: readonly Strike[],
  claims: readonly Claim[],
  leaseMs: number,
): { readonly detections: readonly Detection[]; readonly unexplained: readonly Interruption[] } {
  const claimsOf = grouped(claims, ({ executionId, step }) => `${executionId}/${step}`);
  const strikesOn = grouped(strikes, ({ target }) => target);
  const detections: Detection[] = [];
  const unexplained: Interruption[] = [];
  for (const interruption of interruptions) {
    const { executionId, step, target } = interruption;
    const during = within(interruption);
    const claim = (claimsOf.get(`${executionId}/${step}`) ?? []).find(({ at }) => during(at));
    const candidates = (strikesOn.get(target) ?? []).filter(
      ({ at, pid }) => during(at) && (claim === undefined || pid === claim.pid),
    );
    const strike = causeAmong(candidates, leaseMs);
    if (strike === undefined) unexplained.push(interruption);
    else detections.push({ ...interruption, strike, ms: interruption.recordedAt - strike.at });
  }
  return { detections, unexplained };
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * There is one clock, but the claim's time is taken before its write, and a log line comes through a pipe.
 */
const within =
  ({ claimedAt, recordedAt }: Interruption) =>
  (at: number): boolean =>
    at >= claimedAt && at <= recordedAt;

function causeAmong(candidates: readonly Strike[], leaseMs: number): Strike | undefined {
  const inOrder = candidates.toSorted((one, other) => one.at - other.at);
  const lasting = inOrder.find(
    ({ kind, at, thawedAt }) => kind === 'kill' || (thawedAt ?? Number.POSITIVE_INFINITY) - at >= leaseMs,
  );
  return lasting ?? inOrder[0];
}

/** Nearest rank. @param share in (0, 1] */
export function percentile(values: readonly number[], share: number): number {
  const inOrder = values.toSorted((one, other) => one - other);
  return inOrder[Math.max(0, Math.ceil(share * inOrder.length) - 1)] ?? 0;
}

/**
 * Selects the times without a supervisor that a strike has caused; supervisors also pause for a few seconds
 * before each tick.
 */
export function bereaved(without: readonly Interval[], strikes: readonly Strike[]): readonly Interval[] {
  const blows = strikes.filter(({ target }) => target === 'supervisor');
  return without.filter(({ from, to }) => blows.some(({ at }) => at >= from - 1_000 && at <= to));
}

/** Whether there was no supervisor for part of the detection time. */
export const unseen = (detection: Detection, times: readonly Interval[]): boolean =>
  times.some(({ from, to }) => from < detection.recordedAt && to > detection.strike.at);

export const totalMs = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, { from, to }) => sum + to - from, 0);
