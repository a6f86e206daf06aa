/**
 * Receipts that supervisors and the audit leave, so that they are supervised themselves (P5).
 *
 * Owns: the shapes, the agents that are missing over all shards, and which release follows which. Does not
 * own: when one is written (`supervisor/receipts.ts`, `supervisor/release.ts`, `supervisor/audit.ts`), how
 * `/health` uses them. No decision uses a receipt: a missing or stale one delays no execution.
 */

import { defined } from '../values/defined.ts';

/**
 * The receipt for a shard of the wake index. It is written now and then while something is due in the shard;
 * an idle supervisor writes none.
 */
export interface ShardReceipt {
  readonly shard: number;
  readonly version: number;
  readonly writeId: string;
  /** The last sweep of the shard by the supervisor that wrote this. */
  readonly sweptAt: number;
  /** Since the previous receipt: executions found due, … */
  readonly due: number;
  /** … those of them that could not be handled, … */
  readonly failed: number;
  /** … and how long the oldest was overdue. */
  readonly oldestOverdueMs: number;
  /** By missing agent, how many executions were met that need it; absent if there were none. */
  readonly missing?: Readonly<Record<string, number>>;
  /** By missing agent, when it was first met, if it was met in every sweep since. */
  readonly missingSince?: Readonly<Record<string, number>>;
  /** By agent, attempts whose leases supervisors have ended recently because their processes went silent. */
  readonly lost?: Readonly<Record<string, LostAttempts>>;
}

export interface LostAttempts {
  readonly attempts: number;
  /** When the first attempt was lost, counted since a time without losses. */
  readonly since: number;
  /** When the latest attempt was lost. */
  readonly at: number;
  /** The execution of the latest, whose log may show the reason. */
  readonly executionId?: string;
  /** How the latest one's process ended, and, if known, the place in the agent's code. */
  readonly why?: string;
  readonly file?: string;
  /** Set if each of its attempts now has a process of its own. */
  readonly isAlone?: true;
}

/** Attempts that were lost since the previous request for them. */
export interface NewlyLost {
  readonly attempts: number;
  /** The execution of the latest. */
  readonly executionId?: string | undefined;
}

/** After this time without another one, lost attempts are no longer reported. */
export const LOST_FRESH_MS = 600_000;

/** Adds the attempts that were lost since the previous receipt. @param met by agent */
export function lostAfter(
  before: Readonly<Record<string, LostAttempts>> | undefined,
  met: ReadonlyMap<string, NewlyLost>,
  now: number,
): Pick<ShardReceipt, 'lost'> {
  const kept = Object.entries(before ?? {}).filter(([, { at }]) => now - at <= LOST_FRESH_MS);
  const lost = new Map(kept);
  for (const [agent, { attempts: more, executionId }] of met) {
    const { attempts = 0, since = now } = lost.get(agent) ?? {};
    lost.set(agent, { attempts: attempts + more, since, at: now, ...defined({ executionId }) });
  }
  return lost.size === 0 ? {} : { lost: Object.fromEntries(lost) };
}

/**
 * Adds up all shards, by agent.
 * @param here further lost attempts that this process knows of
 */
export function lostAttempts(
  receipts: readonly ShardReceipt[],
  now: number,
  here: ReadonlyMap<string, LostAttempts> = new Map(),
): ReadonlyMap<string, LostAttempts> {
  const agents = new Map<string, LostAttempts>();
  for (const [agent, one] of [...receipts.flatMap(({ lost = {} }) => Object.entries(lost)), ...here]) {
    if (now - one.at > LOST_FRESH_MS) continue;
    const other = agents.get(agent);
    agents.set(agent, other === undefined ? one : together(one, other));
  }
  return agents;
}

/** Adds two counts, with the data of the latest attempt. */
const together = (one: LostAttempts, other: LostAttempts): LostAttempts => ({
  ...(one.at > other.at ? one : other),
  attempts: one.attempts + other.attempts,
  since: Math.min(one.since, other.since),
});

/** A missing agent is met again well within this time, so older receipts show nothing about now. */
const MISSING_FRESH_MS = 180_000;

export interface MissingCount {
  /** How many executions wait for it, as far as supervisors met them recently. */
  readonly waiting: number;
  /** When a supervisor first met one. Absent if the receipts are from a release that did not note it. */
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
  /** Records that executions had left behind, and that were removed. */
  readonly removed: number;
  /** Records that could not be handled; the next pass meets them again. */
  readonly failed: number;
}

/** How far the pass has come in one segment of the table: the beginning, after a record, or the end. */
export interface SegmentPlace {
  readonly cursor?: string;
  readonly over?: true;
}

/** The audit's receipt: its position. */
export interface AuditReceipt {
  readonly version: number;
  readonly writeId: string;
  readonly auditedAt: number;
  /** The place of the pass under way, by segment; absent when it is over. */
  readonly segments?: readonly SegmentPlace[];
  readonly pass: AuditCounts;
  /** The last pass that reached the table's end. */
  readonly whole?: AuditCounts & { readonly endedAt: number };
}

/** The release of the code that the supervisors run, written when another one begins to run. */
export interface ReleaseReceipt {
  readonly version: number;
  readonly writeId: string;
  /** A hash of all deployed code. */
  readonly release: string;
  /** When the first supervisor of this release began. */
  readonly deployedAt: number;
}

/**
 * How long, at most, supervisors of two releases are at work during a deployment. During this time neither
 * replaces the other's receipt.
 */
const RELEASES_OVERLAP_MS = 120_000;

/**
 * Returns the next receipt; 'kept' if the stored one is right, 'later' if this cannot be known yet.
 * @param at when the calling supervisor began
 */
export function releaseAfter(
  before: ReleaseReceipt | undefined,
  release: string,
  at: number,
  now: number,
): Omit<ReleaseReceipt, 'writeId'> | 'kept' | 'later' {
  if (before === undefined) return { version: 1, release, deployedAt: at };
  if (before.release === release) return 'kept';
  const ageMs = now - before.deployedAt;
  if (Math.abs(ageMs) < RELEASES_OVERLAP_MS) return 'later';
  // A time in the future was written by a clock that was ahead.
  const deployedAt = ageMs < 0 ? at : Math.max(at, before.deployedAt);
  return { version: before.version + 1, release, deployedAt };
}
