/**
 * The lines of an export, in the order in which a deployment may have them while it works.
 *
 * Owns: that order. Does not own: putting them (`move.ts`). Pure but for reading the file.
 *
 * Order: large values; items of no execution; executions, each after those that it has begun, and its own
 * record after its other ones. So a supervisor that finds an execution also finds all that it has done, and
 * an import that breaks off, at whatever line, begins nothing again.
 */

import { open } from 'node:fs/promises';
import type { FrameLine, ValueLine } from '../../serve/export.ts';
import { CliError, messageOf } from '../io.ts';

interface Text {
  readonly S: string;
}

interface ItemLine {
  readonly pk: Text;
  readonly sk: Text;
  /** JSON text; only in the record of an execution that another one has begun. */
  readonly parent?: Text;
}

export type Line = ValueLine | ItemLine;
type Group = readonly Line[];

const PREFIX = 'exec#';
const isOwn = (line: Line): boolean => 'sk' in line && line.sk.S === 'exec';
const partitionOf = (line: Line | undefined): string | undefined =>
  line !== undefined && 'pk' in line ? line.pk.S : undefined;

/**
 * Lists of groups: the groups of one list may be put side by side, the lists one after the other.
 * @param warn is called if nothing shows whether the export is whole
 * @throws CliError, before the first group, if the file is no export or is not whole
 */
export async function inOrder(
  from: string,
  warn: (text: string) => void,
): Promise<readonly (() => AsyncGenerator<Group>)[]> {
  const parents = new Map<string, string>();
  let hasValues = false;
  for await (const group of groupsIn(from, warn))
    for (const line of group) {
      if ('largeValue' in line) hasValues = true;
      else if (line.parent !== undefined)
        parents.set(
          line.pk.S,
          PREFIX + (JSON.parse(line.parent.S) as { readonly executionId: string }).executionId,
        );
    }
  const depthOf = (partition: string): number => {
    let depth = 0;
    for (let at = parents.get(partition); at !== undefined; at = parents.get(at)) depth += 1;
    return depth;
  };
  const deepest = [...parents.keys()].reduce((most, partition) => Math.max(most, depthOf(partition)), 0);
  const rankOf = (line: Line | undefined): number => {
    const partition = partitionOf(line);
    if (partition === undefined) return deepest + 2;
    return partition.startsWith(PREFIX) ? depthOf(partition) : deepest + 1;
  };
  const ranks = Array.from({ length: deepest + (hasValues ? 3 : 2) }, (_, rank) => rank).toReversed();
  return ranks.map(
    (rank) =>
      async function* () {
        for await (const group of groupsIn(from)) if (rankOf(group[0]) === rank) yield group;
      },
  );
}

/** Neighbouring lines of one partition; an execution's own record comes last. */
async function* groupsIn(from: string, warn?: (text: string) => void): AsyncGenerator<Group> {
  const file = await open(from).catch((error: unknown) => {
    throw new CliError('no-file', `${from} cannot be read: ${messageOf(error)}`);
  });
  let group: Line[] = [];
  const frame: FrameLine['export'][] = [];
  let count = 0;
  for await (const text of file.readLines()) {
    count += 1;
    const line = lineOf(text, `line ${count} of ${from} is not one of an export: copy the file again`);
    if ('export' in line) {
      frame.push(line.export);
      continue;
    }
    const partition = partitionOf(line);
    if (group.length > 0 && (partition === undefined || partition !== partitionOf(group[0]))) {
      yield group;
      group = [];
    }
    if (isOwn(line)) group.push(line);
    else group.unshift(line);
  }
  if (group.length > 0) yield group;
  const [first, last, ...more] = frame;
  const lines = count - frame.length;
  if (first === undefined && lines > 0)
    warn?.(`${from}: an earlier release wrote it, without its length: compare it with its original\n`);
  else if (last === undefined || !('lines' in last) || last.lines !== lines || more.length > 0)
    throw new CliError('no-export', `${from} is incomplete: copy the file again`);
}

function lineOf(text: string, problem: string): Line | FrameLine {
  try {
    const line = JSON.parse(text) as Partial<ItemLine & ValueLine & FrameLine>;
    const isFrame = typeof line.export === 'object' && line.export !== null;
    const isItem = typeof line.pk?.S === 'string';
    if (line.largeValue !== undefined || isItem || isFrame) return line as Line | FrameLine;
  } catch {
    // The same.
  }
  throw new CliError('no-export', problem);
}
