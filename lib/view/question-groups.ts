/**
 * Open questions in groups: those of one step of one workflow that are asked for the same reason, which one
 * answer may answer.
 *
 * Owns: what is alike, and which executions a bulk action means by a group. Does not own: the order of the
 * questions (the API's), the answer.
 */

import type { IncidentPage } from '../api/answers.ts';
import type { BulkOptions } from '../api/bulk-answers.ts';

export type AskedItem = IncidentPage['items'][number];
/** In the order of its questions: the first is the most urgent. */
export type QuestionGroup = readonly [AskedItem, ...AskedItem[]];

export const kindText = (item: AskedItem): string => ('number' in item ? 'incident' : item.kind);

/** Numbers and ids differ from one failure of a kind to the next. */
const withoutNumbers = (text: string): string => text.replaceAll(/[0-9a-f-]*\d[0-9a-f-]*/gi, '#');

const alike = (item: AskedItem): string => {
  const failed = 'number' in item ? [item.failure.code, withoutNumbers(item.failure.message)] : [];
  return [kindText(item), item.kind, item.workflow, item.step, item.otherwise, ...failed].join('\n');
};

/** In the order of the first of each. */
export function questionGroups(items: readonly AskedItem[]): readonly QuestionGroup[] {
  const groups = new Map<string, [AskedItem, ...AskedItem[]]>();
  for (const item of items) {
    const group = groups.get(alike(item));
    if (group === undefined) groups.set(alike(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/**
 * Which executions ask such a question, also those that were not read; nothing where no person answers it.
 * Where they are incidents, each with the code is meant, whatever its message.
 */
export function bulkMeaning([item]: QuestionGroup):
  | (Pick<BulkOptions, 'step'> & Required<Pick<BulkOptions, 'filter'>>)
  | undefined {
  if (item.kind === 'callback') return undefined;
  const code = 'number' in item ? { code: item.failure.code } : {};
  return {
    filter: { workflow: item.workflow, status: 'open', ...code },
    ...(item.step === undefined ? {} : { step: item.step }),
  };
}
