/**
 * Bulk actions: one command for many executions.
 *
 * Owns: their records, which executions one may concern, the result of each page, and the sum. Does not own:
 * the commands (`obey.ts`), finding the executions and acting on them (`scheduler/bulks.ts`,
 * `scheduler/bulk-page.ts`).
 *
 * A bulk action is collected page by page, and acts only once it is confirmed; after that only results are
 * added. A page has one result, which is written once and never changes, so the sum counts each page once.
 */

import type { Caller } from '../values/caller.ts';
import type { Choice } from '../records/question.ts';
import type { Json } from '../values/json.ts';
import type { ExecutionStatus } from '../moves.ts';
import { type ListFilter, STATUS_GROUPS } from './list-filter.ts';

export const BULK_ACTIONS = ['retry', 'cancel', 'pause', 'resume', 'resolve', 'approve', 'reject'] as const;
/**
 * The command that each execution of a bulk action gets. `retry`, `cancel`, `pause` and `resume` do what the
 * client's calls of these names do. `resolve` answers its incident with `choice`, `approve` and `reject` its
 * approval; `step` says which if it has several. An execution in a status in which the action is never
 * possible is left out and counted.
 */
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** The command for each execution; an absent field is as in the command itself. */
export interface BulkCommand {
  readonly action: BulkAction;
  readonly reason?: string;
  /** Only for a cancel. */
  readonly undo?: false;
  /** Only for a pause: how long it may last before a person is asked. */
  readonly withinMs?: number;
  /** For a retry or a resolution: the other input. */
  readonly input?: Json;
  /** Only for a resolution, like the next two. */
  readonly choice?: Choice;
  readonly output?: Json;
  readonly nothingHappened?: true;
  /** The step of the incident or approval; without it there must be exactly one. */
  readonly step?: string;
  /** Only for an approval. */
  readonly comment?: string;
}

export interface Bulk {
  readonly id: string;
  readonly version: number;
  readonly writeId: string;
  /** Hash of the request's body: the same key with another body is refused. */
  readonly inputHash: string;
  readonly command: BulkCommand;
  /** The filter, its times fixed at the beginning; absent if the executions were named one by one. */
  readonly filter?: ListFilter;
  /** Changes of an execution after this exclude it. */
  readonly createdAt: number;
  readonly createdBy?: Caller;
  /** The cursor of the list; absent when the whole list is collected. */
  readonly cursor?: string;
  readonly isCollected: boolean;
  readonly count: number;
  /** Executions that the filter found, but in a status that makes the action impossible. */
  readonly leftOut: number;
  readonly pages: number;
  /** The first executions of the bulk action. */
  readonly examples: readonly string[];
  readonly confirmedAt?: number;
  /** The person in whose name the bulk action acts: the one who confirmed it. */
  readonly confirmedBy?: Caller;
  /** When its records expire. */
  readonly goneAt: number;
}

/** A page: ids of executions. */
export interface BulkPage {
  readonly bulk: string;
  readonly page: number;
  readonly version: number;
  readonly writeId: string;
  readonly ids: readonly string[];
  readonly goneAt: number;
}

export interface BulkResult {
  /** How many executions have obeyed. */
  readonly applied: number;
  /** The others, by the code of their refusal. */
  readonly refused: Readonly<Record<string, Refused>>;
}

export interface Refused {
  readonly count: number;
  /** A few of them. */
  readonly examples: readonly { readonly executionId: string; readonly message: string }[];
}

/** The result of a page, once its executions were acted on. */
export interface BulkPageResult extends BulkResult {
  readonly bulk: string;
  readonly page: number;
  readonly version: 1;
  readonly writeId: string;
  readonly goneAt: number;
}

/** How many executions a page has. */
export const BULK_PAGE = 100;
/** The same limit as for the items of a workflow's list: this many pages have a million executions. */
export const MOST_PAGES = 10_000;
/** How many executions may be named one by one. */
export const MOST_IDS = 5_000;
export const MOST_EXAMPLES = 10;
/** Examples of one refusal that a page keeps. */
const EXAMPLES_OF_REFUSAL = 3;
/**
 * How long after its creation a bulk action can be confirmed: an older set of executions must be read again.
 */
export const CONFIRM_WITHIN_MS = 86_400_000;
/** How long its records are kept after its beginning. */
export const BULK_KEPT_MS: number = 30 * 86_400_000;

/** True if it answers in a person's name: only a person who may answer may confirm it. */
export const isAnswer = ({ action }: BulkCommand): boolean => action === 'approve' || action === 'reject';

/** The statuses in which the action can be possible; the command itself decides if it is possible now. */
export function possibleStatuses({ action }: BulkCommand): readonly ExecutionStatus[] {
  switch (action) {
    case 'retry':
      return ['failed', 'waiting'];
    case 'cancel':
      return ['running', 'waiting', 'paused'];
    case 'pause':
      return ['running', 'waiting'];
    case 'resume':
      return ['paused'];
    // An execution that asks a question is open, but its status is never 'running'.
    case 'resolve':
      return STATUS_GROUPS.open.filter((status) => status !== 'running');
    case 'approve':
    case 'reject':
      return ['waiting', 'paused'];
  }
}

export const mayApply = (command: BulkCommand, status: ExecutionStatus): boolean =>
  possibleStatuses(command).includes(status);

export const commandIdOf = (bulk: string, executionId: string): string => `${bulk}.${executionId}`;

const NOTHING: BulkResult = { applied: 0, refused: {} };

/** @param most examples of each refusal that are kept */
export function added(
  one: BulkResult,
  other: BulkResult,
  most: number = EXAMPLES_OF_REFUSAL,
): Pick<BulkResult, 'applied' | 'refused'> {
  const codes = [...new Set([...Object.keys(one.refused), ...Object.keys(other.refused)])];
  const refused = codes.map((code) => {
    const both = [one.refused[code], other.refused[code]];
    const count = both.reduce((sum, each) => sum + (each?.count ?? 0), 0);
    const examples = both.flatMap((each) => each?.examples ?? []).slice(0, most);
    return [code, { count, examples }] as const;
  });
  return { applied: one.applied + other.applied, refused: Object.fromEntries(refused) };
}

/** The result of one execution. */
export const refusedOnce = (executionId: string, code: string, message: string): BulkResult => ({
  applied: 0,
  refused: { [code]: { count: 1, examples: [{ executionId, message }] } },
});
export const appliedOnce: BulkResult = { applied: 1, refused: {} };

export const sumOf = (results: readonly BulkResult[], most?: number): BulkResult =>
  results.reduce((sum, each) => added(sum, each, most), NOTHING);
