/**
 * The parts of a list that a step maps over: which items each part has, and how many parts may run at once.
 *
 * Owns: cutting a list by number and by size. Does not own: the executions of the parts (`waiting/child.ts`),
 * their plans (`plan/child-plans.ts`).
 *
 * A list is always cut into the same parts, so a part that is started again is the same execution.
 */

import { type ChildStep, type MapStep, recoveryOf } from '../plan/plan.ts';
import { evaluateExpression, type Scope } from '../plan/refs.ts';
import type { Children } from '../records/children.ts';
import type { Failure } from '../values/failure.ts';
import { type Json, utf8Bytes } from '../values/json.ts';
import type { ExecutionStatus } from '../moves.ts';

/**
 * Few enough that each report can cheaply read its siblings, many enough to share the writes of an execution.
 */
export const ITEMS_PER_CHILD = 25;

/** The most parts of a list: a record with each part's end must fit into an item. */
const MAX_PARTS = 1_000;
/** The most bytes of the items of one child, which are its input, unless one item alone has more. */
export const MAX_PART_BYTES = 200_000;

interface Item {
  readonly input: Json;
  /** By stage, for stages with another input: that input. */
  readonly others: readonly Json[];
}

export const itemsOf = (step: MapStep, list: readonly Json[], scope: Scope): Item[] =>
  list.map((item, index) => {
    const of = { ...scope, item, index };
    const others = recoveryOf(step.each).map((stage) =>
      stage.kind === 'withInput' ? (evaluateExpression(stage.input, of) ?? null) : null,
    );
    return { input: evaluateExpression(step.each.input, of) ?? null, others };
  });

export const inputOf = (part: readonly Item[]): Json => ({
  items: part.map(({ input }) => input),
  ...(part.some(({ others }) => others.some((other) => other !== null))
    ? { others: part.map(({ others }) => others) }
    : {}),
});

/**
 * Cuts from the front, by number and by size: the same list always into the same parts.
 * @param mostBytes of one item. If an item has more than a part may, and there would be too many parts, they
 * are cut by number alone
 */
export function partsOf(items: readonly Item[], mostBytes: number = MAX_PART_BYTES): Item[][] | Failure {
  const parts = cut(items, MAX_PART_BYTES, mostBytes);
  const isTooMany = 'code' in parts && parts.code === 'list-too-large';
  return isTooMany && mostBytes > MAX_PART_BYTES ? cut(items, Number.POSITIVE_INFINITY, mostBytes) : parts;
}

function cut(items: readonly Item[], partBytes: number, mostBytes: number): Item[][] | Failure {
  const parts: Item[][] = [];
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    const own = utf8Bytes(JSON.stringify(item));
    if (own > mostBytes) {
      const message = `item ${at} has ${own} bytes; at most ${mostBytes} are allowed`;
      return { code: 'item-too-large', message };
    }
    const last = parts.at(-1);
    bytes += own;
    if (last === undefined || last.length >= ITEMS_PER_CHILD || bytes > partBytes) {
      if (parts.length >= MAX_PARTS) {
        const message = `its ${items.length} items are too large for ${MAX_PARTS} executions of ${partBytes} bytes each`;
        return { code: 'list-too-large', message };
      }
      parts.push([item]);
      bytes = own;
    } else last.push(item);
  }
  return parts;
}

/** How many executions may be started in addition to those under way. */
export function roomFor(step: ChildStep | MapStep, children: Children | undefined): number {
  if (step.kind === 'child' || step.concurrency === undefined) return Number.POSITIVE_INFINITY;
  const open = (children?.started ?? 0) - Object.keys(children?.ended ?? {}).length;
  return Math.max(0, Math.max(1, Math.floor(step.concurrency / ITEMS_PER_CHILD)) - Math.max(0, open));
}

/**
 * True if more must be started and there is room for one. A round that waits for its message is not under
 * way.
 */
export const isStartDue = (step: ChildStep | MapStep, children: Children): boolean =>
  children.rounds?.awaits === undefined && children.started < children.count && roomFor(step, children) > 0;

/** The progress of a list's items. */
export interface ItemsSoFar {
  readonly count: number;
  /** The items of the parts that were started. */
  readonly begun: number;
  /** Items by the end of their part; tolerated items of a successful part count as failed. */
  readonly ended: Readonly<Partial<Record<ExecutionStatus, number>>>;
}

/** @returns undefined if the parts were cut by size: the number of items of each is not recorded */
export function itemsSoFar({ count, started, items, ended }: Children): ItemsSoFar | undefined {
  if (count !== Math.ceil(items / ITEMS_PER_CHILD)) return undefined;
  const before = (index: number): number => Math.min(items, index * ITEMS_PER_CHILD);
  const sums: Partial<Record<ExecutionStatus, number>> = {};
  const add = (status: ExecutionStatus, more: number): void => {
    if (more > 0) sums[status] = (sums[status] ?? 0) + more;
  };
  for (const [index, { status, failed = 0 }] of Object.entries(ended)) {
    add(status, before(Number(index) + 1) - before(Number(index)) - failed);
    add('failed', failed);
  }
  return { count: items, begun: before(started), ended: sums };
}

/** Rounded down; 0.57 % of 10,000 are 57, which binary fractions narrowly miss. */
export const shareOf = (count: number, percent: number): number => Math.floor((count * percent) / 100 + 1e-9);
