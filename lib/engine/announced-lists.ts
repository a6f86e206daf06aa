/**
 * If items of a list ask about a wrong answer, only one question is announced: an agent's mistake is one
 * mistake, whatever the size of the list.
 *
 * Owns: across all parts of a list and all executions of its items, the first is announced and the others ask
 * quietly. Does not own: the same within a part (`core/questions/incident.ts`), announcing (`commit.ts`).
 *
 * It happens before the write, so that whatever becomes of a quiet question is quiet too. If the process dies
 * in between, the place stays with the same execution, which takes it again. If the place cannot be read or
 * written, nothing waits: the question is announced, perhaps once more.
 */

import type { AnnouncedLists, Ports } from '../core/ports.ts';
import { listKey } from '../core/records/announced-list.ts';
import type { Write } from '../core/decisions/decision.ts';
import type { Execution } from '../core/records/state.ts';

/** Whether a write asks what may be one of many of a list: few do, and the others wait for nothing. */
export const mayBeOfMany = ({ incident, execution }: Write): boolean =>
  execution?.parent !== undefined &&
  incident?.wrongAnswer !== undefined &&
  incident.version === 1 &&
  incident.quiet !== true;

/** The write, with its question made quiet where another of its list is announced. */
export async function quietIfAnother(ports: Ports, write: Write): Promise<Write> {
  const { announcedLists } = ports;
  const { incident, execution } = write;
  if (announcedLists === undefined || incident === undefined || execution === undefined) return write;
  try {
    const list = await listOf(ports, execution, incident.step);
    if (list === undefined) return write;
    const { writeId, openedAt: askedAt } = incident;
    const first = await firstOf(announcedLists, {
      list,
      version: 1,
      writeId,
      executionId: execution.id,
      askedAt,
    });
    if (first === execution.id) return write;
    const { unannounced: _unannounced, remindAt: _remindAt, ...asked } = incident;
    return { ...write, incident: { ...asked, quiet: true } };
  } catch {
    return write;
  }
}

async function firstOf(
  lists: AnnouncedLists,
  own: Parameters<AnnouncedLists['write']>[0],
): Promise<string | undefined> {
  if ((await lists.write(own)) === 'written') return own.executionId;
  return (await lists.read(own.list))?.executionId;
}

/**
 * The list that an execution is a part of, or that a workflow above it is an item
 * of; nothing where there is none.
 */
async function listOf(
  { store }: Ports,
  { parent }: Execution,
  step: string | undefined,
): Promise<string | undefined> {
  if (parent?.part === true) return listKey(parent);
  for (let above = parent; above !== undefined; ) {
    const around: Execution | undefined = await store.readExecution(above.executionId);
    above = around?.parent;
    if (above?.part === true) return listKey(above, step);
  }
  return undefined;
}
