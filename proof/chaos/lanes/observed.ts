/**
 * Judges lanes and rounds by the services' ledger. Pure.
 *
 *   lane     More executions of one account between their first and their last act than its lane admits.
 *   rounds   Pages out of order, or not undone in reverse order.
 *   forward  Something was done after the undoing had begun.
 *
 * Does not own: doubled, lost, left (`../failure/audit.ts`).
 */

import type { OrderEntry as Entry } from '../../../examples/order-fulfilment/world.ts';

export interface Observed {
  readonly findings: readonly string[];
  readonly mostInLane: number;
  /** How often the last free place of a lane was taken. */
  readonly timesFull: number;
  readonly longestRounds: number;
  /** Executions in which two rounds or more were undone. */
  readonly walkedBack: number;
}

/** The acts and undos of an execution and of its rounds, in the ledger's order. */
interface Acts {
  readonly root: string;
  readonly entries: readonly [Entry, ...Entry[]];
}

export function observed(entries: readonly Entry[], atMost: number): Observed {
  const roots = actsByRoot(entries.filter((entry) => isDone(entry) || isUndo(entry)));
  const lanes = new Map<string, Acts[]>();
  for (const one of roots) {
    const account = accountOf(one.entries[0]);
    lanes.set(account, [...(lanes.get(account) ?? []), one]);
  }
  const places = [...lanes].map(([account, inside]) => placesOf(account, inside, atMost));
  const rounds = roots.map(roundsOf);
  return {
    findings: [...places, ...rounds].flatMap(({ findings }) => findings),
    mostInLane: Math.max(0, ...places.map(({ most }) => most)),
    timesFull: places.reduce((sum, { full }) => sum + full, 0),
    longestRounds: Math.max(0, ...rounds.map(({ pages }) => pages.length)),
    walkedBack: rounds.filter(({ undone }) => undone.length > 1).length,
  };
}

const isDone = ({ kind }: Entry): boolean => kind === 'charge' || kind === 'shipment';
const isUndo = ({ kind }: Entry): boolean => kind === 'refund' || kind === 'cancellation';

function actsByRoot(entries: readonly Entry[]): readonly Acts[] {
  const roots = new Map<string, [Entry, ...Entry[]]>();
  for (const entry of entries) {
    // A round's id is its parent's, a dot, and its place in the parent.
    const root = (entry.executionId ?? '').split('.')[0] ?? '';
    const known = roots.get(root);
    if (known === undefined) roots.set(root, [entry]);
    else known.push(entry);
  }
  return [...roots].map(([root, own]) => ({ root, entries: own }));
}

const accountOf = ({ orderId = '' }: Entry): string => /-(acc\d+)\//.exec(orderId)?.[1] ?? orderId;

/** Counts the executions in a lane: from an execution's first act to its last, it is inside. */
function placesOf(account: string, inside: readonly Acts[], atMost: number) {
  const moves = inside
    .flatMap(({ root, entries }) => [
      { root, seq: entries[0].seq, by: 1 },
      { root, seq: (entries.at(-1) ?? entries[0]).seq + 0.5, by: -1 },
    ])
    .toSorted((one, other) => one.seq - other.seq);
  const findings: string[] = [];
  let [now, most, full] = [0, 0, 0];
  for (const { root, seq, by } of moves) {
    now += by;
    most = Math.max(most, now);
    if (by === 1 && now === atMost) full += 1;
    if (by === 1 && now > atMost) findings.push(`lane ${account}: ${now} at entry ${seq} (${root})`);
  }
  return { findings, most, full };
}

const pageOf = ({ orderId = '' }: Entry): number => Number(/\/page-(\d+)$/.exec(orderId)?.[1] ?? 0);

function roundsOf({ root, entries }: Acts) {
  const pages = entries.filter((entry) => isDone(entry) && pageOf(entry) > 0).map(pageOf);
  const undone = entries.filter((entry) => isUndo(entry) && pageOf(entry) > 0).map(pageOf);
  const firstUndo = entries.find(isUndo)?.seq ?? Number.POSITIVE_INFINITY;
  const late = entries.filter((entry) => isDone(entry) && entry.seq > firstUndo);
  return {
    pages,
    undone,
    findings: [
      ...(isAscending(pages) ? [] : [`rounds of ${root}: pages ${pages.join(', ')}`]),
      ...(isAscending(undone.toReversed()) ? [] : [`rounds of ${root}: undone ${undone.join(', ')}`]),
      ...late.map(({ id }) => `forward ${root}: ${id} was done after the undoing had begun`),
    ],
  };
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, at) => number >= (numbers[at - 1] ?? 0));
