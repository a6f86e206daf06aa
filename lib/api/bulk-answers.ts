/**
 * The shapes of what a client sends and gets of bulk actions.
 *
 * Owns: the types alone. Does not own: the checks (`requests.ts`, `bulk-requests.ts`), or how the
 * answers are made (`bulk-routes.ts`).
 */

import type { BulkAction } from '../core/operators/bulk.ts';
import type { Caller } from '../core/values/caller.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import type { Choice, ExecutionSummary, Json } from './answers.ts';
import type { ListOptions } from './call-options.ts';

export type { BulkAction };

/** One command to many executions. */
export interface BulkOptions {
  /** The command that each of them gets. */
  readonly action: BulkAction;
  /**
   * A filter of `GET /executions`, with its times as of now, so that later executions are left alone. Give
   * this or `ids`.
   */
  readonly filter?: Omit<ListOptions, 'limit' | 'cursor'>;
  /** These executions, up to 5,000. */
  readonly ids?: readonly string[];
  /** The same key with the same body is the same bulk action. */
  readonly idempotencyKey?: string;
  /** Kept with each execution. */
  readonly reason?: string;
  /** Only for a cancel: false leaves what has acted as it is. @default true */
  readonly undo?: boolean;
  /**
   * Only for a pause: how long each may last before a person is asked; 30d at most. @default the workflow's,
   * or '7d'
   */
  readonly within?: string;
  /** Only for a resolve. */
  readonly choice?: Choice;
  /**
   * For a retry, or a resolve with 'retry-with-input': the other input of the step that asks, or that has
   * failed.
   */
  readonly input?: Json;
  /** Only for a resolve with 'give-output'. */
  readonly output?: Json;
  /** Only for a resolve: "I have checked: no attempt had an effect." */
  readonly nothingHappened?: boolean;
  /**
   * The step that asks, or that has failed. Without it an execution that asks more than one thing, or of
   * which several failed, is left as it is.
   */
  readonly step?: string;
  /** Only for an approve. */
  readonly comment?: string;
}

/** A bulk action: what it means, how far it is, who asked for it and who confirmed it. */
export interface BulkView {
  /** Names it in every other call. */
  readonly bulkId: string;
  /** The command that each execution gets. */
  readonly action: BulkAction;
  /**
   * `collecting`: there may be more executions (`POST /bulk/{id}/collect`). `collected`: it waits to
   * be confirmed. `acting`: it was. `done`: every execution got the command. `stopped`: its own
   * execution has ended before that.
   */
  readonly status: 'collecting' | 'collected' | 'acting' | 'done' | 'stopped';
  /** Executions that are meant, so far. */
  readonly count: number;
  /** Found as well, and in a status in which the action is never possible. */
  readonly leftOut: number;
  /** Why, as its caller said. */
  readonly reason?: string;
  /** When it was created: later changes of an execution are left alone. */
  readonly createdAt: number;
  /** Who asked for it; absent where the authorizer of the API does not say. */
  readonly createdBy?: Caller;
  /** Until it is confirmed: the first ten. */
  readonly examples?: readonly ExecutionSummary[];
  /** When it was confirmed; absent until then. */
  readonly confirmedAt?: number;
  /** In whose name it acts. */
  readonly confirmedBy?: Caller;
  /** The execution that obeys it: it can be paused, resumed and canceled like any other. */
  readonly executionId?: string;
  /** How the execution that obeys it stands. */
  readonly executionStatus?: ExecutionStatus;
  /** Once it is confirmed. */
  readonly progress?: BulkProgress;
}

/** How far a confirmed bulk action is. */
export interface BulkProgress {
  /** Executions that it has come to. */
  readonly acted: number;
  /** How many of these obeyed. */
  readonly applied: number;
  /** The others, by the code of their refusal, most first. */
  readonly refused: readonly RefusedView[];
}

export interface RefusedView {
  /**
   * The command's own code; `not-asked`: there is nothing that it could answer; `several-asked`: name the
   * `step`; `internal`: the reason is unknown.
   */
  readonly code: string;
  readonly count: number;
  readonly examples: readonly { readonly executionId: string; readonly message: string }[];
}
