/**
 * Groups of open questions of the same step and workflow, asked for the same reason. One answer can resolve a
 * group.
 *
 * Owns: which questions are alike, and the filter by which a bulk action reaches a group. Does not own: the
 * order of the questions (the API's), the answer.
 */

import type { IncidentPage } from '../api/answers.ts';
import type { BulkOptions } from '../api/bulk-answers.ts';

export type AskedItem = IncidentPage['items'][number];
/** The questions of a group in their order; the first is the most urgent. */
export type QuestionGroup = readonly [AskedItem, ...AskedItem[]];

export const kindText = (item: AskedItem): string => ('number' in item ? 'incident' : item.kind);

/** Replaces numbers and ids, which differ between failures of the same kind. */
const withoutNumbers = (text: string): string => text.replaceAll(/[0-9a-f-]*\d[0-9a-f-]*/gi, '#');

const alike = (item: AskedItem): string => {
  const failed = 'number' in item ? [item.failure.code, withoutNumbers(item.failure.message)] : [];
  return [kindText(item), item.kind, item.workflow, item.step, item.otherwise, ...failed].join('\n');
};

/** Returns the groups, in the order of each group's first question. */
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
 * Returns the filter of all executions that ask such a question, including those not read; undefined if no
 * person can answer it. For incidents it selects by the code, whatever the message.
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
