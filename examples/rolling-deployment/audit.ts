/**
 * Derives the state of a fleet from the ledger, at its end and at each earlier moment. Pure.
 *
 * Owns: which release a host runs and whether it gets requests. Does not own: the expectations of a
 * deployment.
 */

import type { FleetEntry } from './world.ts';

export interface Host {
  /** The installed releases, without the former one; the last one runs. */
  readonly installed: readonly FleetEntry[];
  readonly shifts: readonly FleetEntry[];
}

export interface FleetAudit {
  /** How many hosts run which release at the end. */
  readonly running: Readonly<Record<string, number>>;
  /** Installations, roll-backs and shifts that took place twice, and keys used for two different requests. */
  readonly doubled: number;
  /** Hosts that get no requests at the end. */
  readonly leftOut: readonly string[];
  /** The most hosts that got no requests at one moment. */
  readonly outAtMost: number;
}

const NEW: Host = { installed: [], shifts: [] };
/** The release on a host on which no installation of this ledger remains. */
export const FORMER = 'former';

export const isOut = ({ shifts }: Host): boolean => shifts.at(-1)?.to === 'out';
export const releaseOn = ({ installed }: Host): string => installed.at(-1)?.version ?? FORMER;

export function audit(entries: readonly FleetEntry[], hosts: readonly string[]): FleetAudit {
  const fleet = new Map<string, Host>(hosts.map((host) => [host, NEW]));
  let outAtMost = 0;
  for (const entry of entries) {
    fleet.set(entry.host, after(fleet.get(entry.host) ?? NEW, entry));
    if (entry.service === 'balancer') outAtMost = Math.max(outAtMost, out(fleet).length);
  }
  const running: Record<string, number> = {};
  for (const host of fleet.values()) running[releaseOn(host)] = (running[releaseOn(host)] ?? 0) + 1;
  return { running, doubled: doubles(entries), leftOut: out(fleet), outAtMost };
}

const out = (fleet: ReadonlyMap<string, Host>): string[] =>
  [...fleet].filter(([, host]) => isOut(host)).map(([name]) => name);

function after(host: Host, entry: FleetEntry): Host {
  const without = (entries: readonly FleetEntry[]) => entries.filter(({ id }) => id !== entry.of);
  switch (entry.kind) {
    case 'shift':
      return { ...host, shifts: [...host.shifts, entry] };
    case 'shift-back':
      return { ...host, shifts: without(host.shifts) };
    case 'install':
      return { ...host, installed: [...host.installed, entry] };
    case 'roll-back':
      return { ...host, installed: without(host.installed) };
    default:
      return host;
  }
}

/**
 * One request has one entry, and one that undoes it; a service that deduplicates records a repeat as such.
 */
function doubles(entries: readonly FleetEntry[]): number {
  const counted = entries.filter(({ kind }) => !['check', 'error', 'repeat', 'misuse'].includes(kind));
  const seen = new Set(counted.map(({ kind, reference, of = '' }) => `${kind} ${reference} ${of}`));
  return counted.length - seen.size + entries.filter(({ kind }) => kind === 'misuse').length;
}

/**
 * In ms, from the last command for a host of a batch until the first command for a host of the next batch.
 */
export function rested(
  entries: readonly FleetEntry[],
  batches: readonly (readonly string[])[],
): readonly number[] {
  const shifts = batches.map((batch) =>
    entries.filter(({ kind, host }) => kind === 'shift' && batch.includes(host)).map(({ at }) => at),
  );
  return shifts.slice(1).flatMap((own, before) => {
    const [first] = own;
    const last = shifts[before]?.at(-1);
    return first === undefined || last === undefined ? [] : [first - last];
  });
}

/** In ms, from the time the last host of a batch was put back to work until its errors were read. */
export function soaked(entries: readonly FleetEntry[], batch: readonly string[], readAt: number): number {
  const back = entries.filter(
    ({ kind, host, to }) => kind === 'shift' && to === 'in' && batch.includes(host),
  );
  return readAt - Math.max(...back.map(({ at }) => at));
}

/**
 * The batches of the hosts whose release was rolled back after its last installation, in the order of the
 * roll-backs: 3, 2, 1 if the last batch is first.
 */
export function rolledBack(
  entries: readonly FleetEntry[],
  batches: readonly (readonly string[])[],
  version: string,
): readonly number[] {
  const own = entries.filter((entry) => entry.version === version);
  const last = own.findLastIndex(({ kind }) => kind === 'install');
  const back = own.slice(last + 1).filter(({ kind }) => kind === 'roll-back');
  const order = back.map(({ host }) => batches.findIndex((batch) => batch.includes(host)) + 1);
  return order.filter((batch, at) => batch !== order[at - 1]);
}
