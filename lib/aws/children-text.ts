/**
 * The executions of a step as text: which have ended, and how.
 *
 * Owns: the shorter spelling of many ends. Does not own: the meaning of an end (`core/waiting/child.ts`), the
 * item (`dynamo-items.ts`).
 *
 * A list of 10,000 items has 400 executions, and the step's record is written at the end of each. An end
 * takes 55 bytes. Most are alike, so they are grouped, each group with the indexes of its executions as runs:
 * `0-212,215`.
 */

import type { ChildEnd, Children } from '../core/records/children.ts';

/** Up to this many ends fit into one write unit without groups. */
const MOST_SINGLE = 12;

type Grouped = Omit<Children, 'ended'> & { readonly ends: readonly (readonly [ChildEnd, string])[] };

/** Groups the children, unless groups are no shorter. */
export function groupedChildren(children: Children): Children | Grouped {
  const { ended, ...rest } = children;
  const all = Object.entries(ended);
  if (all.length <= MOST_SINGLE) return children;
  const groups = new Map<string, { readonly end: ChildEnd; readonly indexes: number[] }>();
  for (const [index, end] of all) {
    const key = JSON.stringify(Object.entries(end).toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const group = groups.get(key) ?? { end, indexes: [] };
    group.indexes.push(Number(index));
    groups.set(key, group);
  }
  const ends = [...groups.values()].map(({ end, indexes }) => [end, runsOf(indexes)] as const);
  return { ...rest, ends };
}

/** @param stored the parsed text: each end by itself, or in groups */
export function childrenOf(stored: Children | Grouped): Children {
  if (!('ends' in stored)) return stored;
  const { ends, ...rest } = stored;
  const ended: Record<string, ChildEnd> = {};
  for (const [end, runs] of ends) for (const index of indexesOf(runs)) ended[index] = end;
  return { ...rest, ended };
}

/** @param indexes ascending, as an object's integer keys are */
function runsOf(indexes: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}

const indexesOf = (runs: string): number[] =>
  runs.split(',').flatMap((run) => {
    const [from = 0, to = from] = run.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
