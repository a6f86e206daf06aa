/**
 * Checks the printer's journal after all executions have ended. Pure.
 *
 * Owns: which labels are too many, and which are missing. Does not own: the table (`table-audit.ts`).
 */

import type { Snapshot } from '../../lib/core/records/snapshot.ts';

/** A line of the printer's journal: a label that it printed, or one that it voided. */
export interface JournalEntry {
  /** The effect key. */
  readonly key: string;
  /** The effect key, a slash and the process that asked. */
  readonly label?: string;
  readonly voids?: string;
}

export interface RemoteAudit {
  /** Effect keys with more than one label, and labels that are left although everything was undone. */
  readonly doubled: readonly string[];
  /** Executions that succeeded without the label that they name. */
  readonly lost: readonly string[];
  /** Executions that succeeded with the label of a call that was killed: a probe has found it. */
  readonly found: number;
}

export const processOf = (label: string): number => Number(label.slice(label.lastIndexOf('/') + 1));

export function auditJournal(
  entries: readonly JournalEntry[],
  snapshots: readonly Snapshot[],
  killed: ReadonlySet<number>,
): RemoteAudit {
  const voided = new Set(entries.map(({ voids }) => voids));
  const printed = entries.filter(({ label }) => label !== undefined);
  const standing = printed.filter(({ label }) => !voided.has(label));
  const labels = new Map<string, number>();
  for (const { key } of printed) labels.set(key, (labels.get(key) ?? 0) + 1);
  const doubled = [...labels].flatMap(([key, count]) => (count > 1 ? [`${key} has ${count} labels`] : []));
  const lost: string[] = [];
  let found = 0;
  for (const { execution, steps } of snapshots) {
    const own = standing.filter(({ key }) => key.startsWith(`${execution.id}.`)).map(({ label }) => label);
    const { label } = Object(steps['print']?.output) as { label?: string };
    if (execution.status === 'succeeded') {
      if (label === undefined || !own.includes(label)) lost.push(`${execution.id} has no label`);
      else if (killed.has(processOf(label))) found += 1;
      if (own.length > 1) doubled.push(`${execution.id} has ${own.length} labels that stand`);
    } else if (own.length > 0) doubled.push(`${execution.id} is ${execution.status}, and a label stands`);
  }
  return { doubled, lost, found };
}
