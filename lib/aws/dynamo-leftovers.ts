/**
 * Replaces records that an earlier life of the same id has left behind.
 *
 * Owns: the replacement, provided the record is still the very one that was found. Does not own: which
 * records are from an earlier life (`core/records/retention.ts`), who removes those that are not replaced
 * (`supervisor/audit.ts`).
 */

import type { Question } from '../core/records/question.ts';
import { isLeftover } from '../core/records/retention.ts';
import type { Execution, Step } from '../core/records/state.ts';
import { isQuestionItem, isStepItem, type Item, questionOf, stepOf } from './dynamo-items.ts';
import { instead, type Put } from './dynamo-put.ts';

/**
 * Replaces only if all records in the way of these puts are from an earlier life. It is called after a
 * conflict, and reads the execution only if a record in the way has another life than the one to be written.
 * @returns puts that replace them, each provided the record is still the one that was found; otherwise
 * undefined
 */
export async function overLeftovers(
  puts: readonly Put[],
  stored: readonly (Item | undefined)[],
  readExecution: () => Promise<Execution | undefined>,
): Promise<readonly Put[] | undefined> {
  const blocked = puts.flatMap((put, at) => {
    const item = stored[at];
    return item === undefined ? [] : [{ next: besideIn(put.Item), old: besideIn(item) }];
  });
  const may = blocked.every(
    ({ next, old }) => next?.version === 1 && old !== undefined && isLeftover(old, next),
  );
  if (blocked.length === 0 || !may) return undefined;
  const execution = await readExecution();
  if (execution === undefined) return undefined;
  // Otherwise the writer itself is from an earlier life.
  const all = blocked.every(({ next }) => next !== undefined && !isLeftover(next, execution));
  if (!all) return undefined;
  return puts.map((put, at) => {
    const item = stored[at];
    return item === undefined ? put : instead(put, item);
  });
}

function besideIn(item: Item): Step | Question | undefined {
  if (isStepItem(item)) return stepOf(item);
  return isQuestionItem(item) ? questionOf(item) : undefined;
}
