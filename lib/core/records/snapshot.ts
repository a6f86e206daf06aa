/**
 * All records of an execution, as one read finds them.
 *
 * Owns: the shape, and what is asked about an execution together with its
 * incidents. Does not own: the records.
 */

import { type Entry, isOpenEntry } from './entry.ts';
import type { Incident } from './incident.ts';
import type { Execution, Pause, Step } from './state.ts';

/** One strongly consistent read of an execution's partition. */
export interface Snapshot {
  readonly execution: Execution;
  readonly steps: Readonly<Record<string, Step>>;
  /** By number; absent when there never was one. */
  readonly incidents?: Readonly<Record<number, Incident>>;
  /** By step; absent when there never was one. */
  readonly entries?: Readonly<Record<string, Entry>>;
}

export const openIncidents = (snapshot: Snapshot): Incident[] =>
  Object.values(snapshot.incidents ?? {}).filter((incident) => incident.resolvedAt === undefined);

export const openEntries = ({ entries }: Snapshot): Entry[] =>
  entries === undefined ? [] : Object.values(entries).filter(isOpenEntry);

/** A change of an entry, or a reminder of an incident, is written, and not announced yet. */
export const hasUnannounced = (snapshot: Snapshot): boolean =>
  (snapshot.entries !== undefined &&
    Object.values(snapshot.entries).some(({ unannounced }) => unannounced !== undefined)) ||
  (snapshot.incidents !== undefined &&
    Object.values(snapshot.incidents).some(({ unannounced }) => unannounced !== undefined));

/** A person is asked to approve something: the execution waits. A callback's external party is no person. */
export const isApprovalOpen = (snapshot: Snapshot, except?: string): boolean =>
  openEntries(snapshot).some(({ kind, step }) => kind === 'approval' && step !== except);

/** The number of the next incident. */
export const incidentNumber = ({ incidents }: Snapshot): number =>
  Math.max(0, ...Object.keys(incidents ?? {}).map(Number)) + 1;

/** The incident about this pause, open or resolved. */
export const askedAboutPause = (state: Snapshot, pause: Pause): Incident | undefined =>
  Object.values(state.incidents ?? {}).find(
    (incident) => incident.kind === 'pause' && incident.stepVersion === pause.number,
  );
