/**
 * If items of a list ask about a wrong answer, only one question is announced as long as it is open: an
 * agent's mistake is one mistake, whatever the size of the list.
 *
 * Owns: across all parts of a list and all executions of its items, one question is announced and the others
 * are quiet; once it is answered, the next question is announced. Does not own: the same within a part
 * (`core/questions/incident.ts`), announcing (`commit.ts`).
 *
 * A question is made quiet before it is written, so that no change of it is announced. One record has the
 * execution that announces for the list. If the process dies before its write, the execution finds itself
 * there again. If that record cannot be read or written, the question is announced.
 */

import { incidentsIn } from '../core/records/snapshot.ts';
import { asIncident, isOpen } from '../core/records/question.ts';
import { isAnnouncedForList } from '../core/questions/incident.ts';
import type { AnnouncedLists, Ports, Store } from '../core/ports.ts';
import { type AnnouncedList, listKey } from '../core/records/announced-list.ts';
import type { Write } from '../core/decisions/decision.ts';
import type { Execution } from '../core/records/state.ts';

/** After this time the process that took the record has died; its execution will take the record again. */
const WRITTEN_WITHIN_MS = 60_000;

/** Whether other items of a list may ask the same question. For any other write the lists are not read. */
export function mayRepeatInList({ question, execution }: Write): boolean {
  const { wrongAnswer, version, quiet } = asIncident(question) ?? {};
  return execution?.parent !== undefined && wrongAnswer !== undefined && version === 1 && quiet !== true;
}

/** The write; its question is made quiet if another one of the same list is announced and open. */
export async function quietIfAnnounced(ports: Ports, write: Write): Promise<Write> {
  const { announcedLists } = ports;
  const { execution } = write;
  const question = asIncident(write.question);
  if (announcedLists === undefined || question === undefined || execution === undefined) return write;
  try {
    const list = await listOf(ports, execution, question.step);
    if (list === undefined) return write;
    const { writeId, openedAt: askedAt } = question;
    const own = { ...list, writeId, executionId: execution.id, askedAt };
    const holder = await holderOf(announcedLists, ports.store, own);
    if (holder === execution.id) return write;
    const { unannounced: _unannounced, remindAt: _remindAt, ...asked } = question;
    return { ...write, question: { ...asked, quiet: true } };
  } catch {
    return write;
  }
}

interface List {
  /** Its key. */
  readonly list: string;
  /** Only questions about this step are of the list; absent: all of the execution. */
  readonly step?: string | undefined;
}

/** The execution that announces for the list from now on. If two ask at once, one takes the record. */
async function holderOf(
  lists: AnnouncedLists,
  store: Store,
  { step, ...own }: List & Omit<AnnouncedList, 'version'>,
): Promise<string | undefined> {
  const known = await lists.read(own.list);
  if (
    known !== undefined &&
    (known.executionId === own.executionId || (await isAsking(store, known, own.askedAt, step)))
  )
    return known.executionId;
  const taken = await lists.write({ ...own, version: (known?.version ?? 0) + 1 });
  return taken === 'written' ? own.executionId : (await lists.read(own.list))?.executionId;
}

/** The question for which the record was taken is open, or about to be written. */
async function isAsking(
  store: Store,
  { executionId, askedAt }: AnnouncedList,
  now: number,
  step: string | undefined,
): Promise<boolean> {
  const asked = incidentsIn((await store.read(executionId)) ?? {}).filter(
    (one) => isAnnouncedForList(one) && (step === undefined || one.step === step),
  );
  const isWritten = asked.some(({ openedAt }) => openedAt >= askedAt);
  return asked.some(isOpen) || (!isWritten && now < askedAt + WRITTEN_WITHIN_MS);
}

/**
 * The list that an execution is a part of, or that a workflow above it is an item
 * of; nothing where there is none.
 */
async function listOf(
  { store }: Ports,
  { parent }: Execution,
  step: string | undefined,
): Promise<List | undefined> {
  if (parent?.part === true) return { list: listKey(parent) };
  for (let above = parent; above !== undefined; ) {
    const around: Execution | undefined = await store.readExecution(above.executionId);
    above = around?.parent;
    if (above?.part === true) return { list: listKey(above, step), step };
  }
  return undefined;
}
