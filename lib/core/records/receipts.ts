/**
 * Receipts: what supervisors and the audit leave behind, so that they are supervised themselves (P5).
 *
 * Owns: the shapes, and which agents all of them together miss. Does not own: when one is written
 * (`supervisor/receipts.ts`, `supervisor/audit.ts`), or what `/health` makes of them. Nothing is ever decided
 * by a receipt: one that is missing or stale delays no execution.
 */

/**
 * The receipt for a shard of the wake index. Written now and then while something is due in it; an
 * idle supervisor writes nothing.
 */
export interface ShardReceipt {
  readonly shard: number;
  readonly version: number;
  readonly writeId: string;
  /** The last sweep of the shard by the supervisor that wrote this. */
  readonly sweptAt: number;
  /** Since its receipt before: executions found due, … */
  readonly due: number;
  /** … those of them that could not be handled, … */
  readonly failed: number;
  /** … and how long the oldest was overdue. */
  readonly oldestOverdueMs: number;
  /**
   * By agent that is not deployed: how many executions were met that have something
   * for it. Absent where none was.
   */
  readonly missing?: Readonly<Record<string, number>>;
  /** When each of them was first met, if it was met in every sweep since. */
  readonly missingSince?: Readonly<Record<string, number>>;
  /** By agent: attempts whose leases supervisors have ended of late, because their processes went silent. */
  readonly lost?: Readonly<Record<string, LostAttempts>>;
}

export interface LostAttempts {
  readonly attempts: number;
  /** The first of a row without a longer quiet in between, and the latest. */
  readonly since: number;
  readonly at: number;
}

/** After this time without another one, lost attempts are no news. */
const LOST_FRESH_MS = 600_000;

/** With the attempts that were lost since the receipt before. @param met by agent, how many */
export function lostAfter(
  before: Readonly<Record<string, LostAttempts>> | undefined,
  met: ReadonlyMap<string, number>,
  now: number,
): Pick<ShardReceipt, 'lost'> {
  const kept = Object.entries(before ?? {}).filter(([, { at }]) => now - at <= LOST_FRESH_MS);
  const lost = new Map(kept);
  for (const [agent, count] of met) {
    const { attempts = 0, since = now } = lost.get(agent) ?? {};
    lost.set(agent, { attempts: attempts + count, since, at: now });
  }
  return lost.size === 0 ? {} : { lost: Object.fromEntries(lost) };
}

/** Adds up all shards. @returns by agent */
export function lostAttempts(
  receipts: readonly ShardReceipt[],
  now: number,
): ReadonlyMap<string, LostAttempts> {
  const agents = new Map<string, LostAttempts>();
  for (const [agent, one] of receipts.flatMap(({ lost = {} }) => Object.entries(lost))) {
    if (now - one.at > LOST_FRESH_MS) continue;
    const { attempts, since, at } = agents.get(agent) ?? { attempts: 0, since: one.since, at: one.at };
    agents.set(agent, {
      attempts: attempts + one.attempts,
      since: Math.min(since, one.since),
      at: Math.max(at, one.at),
    });
  }
  return agents;
}

/** A missing agent is met again well within this time, so an older receipt says nothing about now. */
const MISSING_FRESH_MS = 180_000;

export interface MissingCount {
  /** How many executions wait for it, as far as supervisors met them of late. */
  readonly waiting: number;
  /** When a supervisor first met one. Absent where the receipts are of a release that did not note it. */
  readonly since?: number;
}

/** Adds up all shards. @returns by agent */
export function missingAgents(
  receipts: readonly ShardReceipt[],
  now: number,
): ReadonlyMap<string, MissingCount> {
  const agents = new Map<string, MissingCount>();
  for (const { sweptAt, missing = {}, missingSince = {} } of receipts) {
    if (now - sweptAt > MISSING_FRESH_MS) continue;
    for (const [agent, count] of Object.entries(missing)) {
      const { waiting = 0, since } = agents.get(agent) ?? {};
      const first = Math.min(
        since ?? Number.POSITIVE_INFINITY,
        missingSince[agent] ?? Number.POSITIVE_INFINITY,
      );
      agents.set(agent, {
        waiting: waiting + count,
        ...(Number.isFinite(first) ? { since: first } : {}),
      });
    }
  }
  return agents;
}

/** The findings of an audit: in the pass through the table that is under way, or in a complete one. */
export interface AuditCounts {
  /** When the pass began. */
  readonly startedAt: number;
  /** Records read. */
  readonly scanned: number;
  /** Open executions that no supervisor would have found, and that have a wake time again. */
  readonly healed: number;
  /** Records that executions have left behind, and that are gone. */
  readonly removed: number;
  /** Records that could not be handled; the next pass meets them again. */
  readonly failed: number;
}

/** The place of the pass in one segment of the table: its beginning, behind a record, or its end. */
export interface SegmentPlace {
  readonly cursor?: string;
  readonly over?: true;
}

/** The audit's receipt: where it stands. */
export interface AuditReceipt {
  readonly version: number;
  readonly writeId: string;
  readonly auditedAt: number;
  /** The place of the pass under way, by segment; absent when it is over. */
  readonly segments?: readonly SegmentPlace[];
  readonly pass: AuditCounts;
  /** The last pass that came to the table's end. */
  readonly whole?: AuditCounts & { readonly endedAt: number };
}
