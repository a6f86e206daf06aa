/**
 * The types of requests and answers about bulk actions.
 *
 * Does not own: the checks (`requests.ts`, `bulk-requests.ts`), how the answers are made (`bulk-routes.ts`).
 */

import type { BulkAction } from '../core/operators/bulk.ts';
import type { Caller } from '../core/values/caller.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import type { Choice, ExecutionSummary, Json } from './answers.ts';
import type { ListOptions } from './call-options.ts';

export type { BulkAction };

/** One command to many executions. */
export interface BulkOptions {
  /** The command that each execution gets. */
  readonly action: BulkAction;
  /**
   * A filter of `GET /executions`, evaluated with its times as of now, so that later executions are not
   * affected. Give this or `ids`.
   */
  readonly filter?: Omit<ListOptions, 'limit' | 'cursor'>;
  /** The ids of the executions, up to 5,000. */
  readonly ids?: readonly string[];
  /** The same key with the same body is the same bulk action. */
  readonly idempotencyKey?: string;
  /** The reason, kept with each execution. */
  readonly reason?: string;
  /** Only for a cancel: whether effects are undone. @default true */
  readonly undo?: boolean;
  /**
   * Only for a pause: how long each may last before a person is asked; 30d at most. @default the workflow's,
   * or '7d'
   */
  readonly within?: string;
  /** Only for a resolve: the choice, as `questions.resolve` takes it. */
  readonly choice?: Choice;
  /**
   * For a retry, or a resolve with 'retry-with-input': the new input of the step that asks, or that has
   * failed.
   */
  readonly input?: Json;
  /** Only for a resolve with 'give-output': the output. */
  readonly output?: Json;
  /** Only for a resolve: "I have checked: no attempt had an effect." */
  readonly nothingHappened?: boolean;
  /**
   * The step that asks, or that has failed. Without it, an execution with several questions or several failed
   * steps is not changed.
   */
  readonly step?: string;
  /** Only for an approve: the comment. */
  readonly comment?: string;
}

/** A bulk action: its executions, its progress, who created it and who confirmed it. */
export interface BulkView {
  /** The id for every other call. */
  readonly bulkId: string;
  /** The command that each execution gets. */
  readonly action: BulkAction;
  /**
   * `collecting`: there may be more executions (`POST /bulk/{id}/collect`). `collected`: it waits for the
   * confirmation. `acting`: it is confirmed. `done`: every execution got the command. `stopped`: its own
   * execution ended before that.
   */
  readonly status: 'collecting' | 'collected' | 'acting' | 'done' | 'stopped';
  /** The number of executions collected so far. */
  readonly count: number;
  /** The number of executions found in a status that makes the action impossible. */
  readonly leftOut: number;
  /** The reason that its caller gave. */
  readonly reason?: string;
  /** When it was created. Executions that match only later are not affected. */
  readonly createdAt: number;
  /** Who created it; absent if the API's authorizer does not name the caller. */
  readonly createdBy?: Caller;
  /** The first ten executions, until it is confirmed. */
  readonly examples?: readonly ExecutionSummary[];
  /** When it was confirmed; absent until then. */
  readonly confirmedAt?: number;
  /** The person in whose name it acts. */
  readonly confirmedBy?: Caller;
  /** The execution that carries it out. It can be paused, resumed and canceled like any other. */
  readonly executionId?: string;
  /** The status of that execution. */
  readonly executionStatus?: ExecutionStatus;
  /** The progress, once it is confirmed. */
  readonly progress?: BulkProgress;
}

/** The progress of a confirmed bulk action. */
export interface BulkProgress {
  /** The number of executions that got the command. */
  readonly acted: number;
  /** How many of these executions obeyed. */
  readonly applied: number;
  /** The refusals by code, the most frequent first. */
  readonly refused: readonly RefusedView[];
}

export interface RefusedView {
  /**
   * The command's own code; or `not-asked`: the execution has no question to answer; `several-asked`: name
   * the `step`; `internal`: the reason is unknown.
   */
  readonly code: string;
  readonly count: number;
  readonly examples: readonly { readonly executionId: string; readonly message: string }[];
}
