/**
 * Receipts: what supervisors and the audit leave behind, so that they are supervised themselves (P5).
 *
 * Owns: the shapes, and which agents all of them together miss. Does not own: when one is written
 * (`supervisor/receipts.ts`, `supervisor/audit.ts`), or what `/health` makes of them. Nothing is ever decided
 * by a receipt: one that is missing or stale delays no execution.
 */

import { given } from '../values/given.ts';

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
  /** The execution of the latest, whose log may say why. */
  readonly executionId?: string;
  /** How the process of the latest ended, and where the agent's code is, where its caller knows that. */
  readonly why?: string;
  readonly file?: string;
  /** Each of its attempts has a process of its own now. */
  readonly isAlone?: true;
}

/** Attempts that were lost since this was asked for before. */
export interface NewlyLost {
  readonly attempts: number;
  /** The latest one's. */
  readonly executionId?: string | undefined;
}

/** After this time without another one, lost attempts are no news. */
export const LOST_FRESH_MS = 600_000;

/** With the attempts that were lost since the receipt before. @param met by agent */
export function lostAfter(
  before: Readonly<Record<string, LostAttempts>> | undefined,
  met: ReadonlyMap<string, NewlyLost>,
  now: number,
): Pick<ShardReceipt, 'lost'> {
  const kept = Object.entries(before ?? {}).filter(([, { at }]) => now - at <= LOST_FRESH_MS);
  const lost = new Map(kept);
  for (const [agent, { attempts: more, executionId }] of met) {
    const { attempts = 0, since = now } = lost.get(agent) ?? {};
    lost.set(agent, { attempts: attempts + more, since, at: now, ...given({ executionId }) });
  }
  return lost.size === 0 ? {} : { lost: Object.fromEntries(lost) };
}

/**
 * Adds up all shards.
 * @param here what this process knows beside them
 * @returns by agent
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

/** What is known of the latest of both is kept. */
const together = (one: LostAttempts, other: LostAttempts): LostAttempts => ({
  ...(one.at > other.at ? one : other),
  attempts: one.attempts + other.attempts,
  since: Math.min(one.since, other.since),
});

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
