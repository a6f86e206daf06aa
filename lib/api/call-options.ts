/**
 * The options that a caller gives with a call of the API.
 *
 * Does not own: what is answered (`answers.ts`), what is checked (`requests.ts`).
 */

import type { ExecutionStatus } from '../core/moves.ts';
import type { Json } from '../core/values/json.ts';

/** How an execution is started. */
export interface StartOptions {
  /** What the schema of the workflow accepts. */
  readonly input: Json;
  /** The same key with the same input is the same execution. */
  readonly idempotencyKey?: string;
  /** What it is found by beside its id: names and values, in addition to those from its input. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The execution that this one is to make good for; it must exist. */
  readonly replaces?: string;
  /** 0 to 9, only for a workflow with a lane: the higher, the sooner it gets a place. @default 0 */
  readonly priority?: number;
}

/** How an execution is started whose end the same call waits for. */
export interface RunOptions extends StartOptions {
  /** How long the answer may wait for the end: '10s'. @default 25 s, which is the longest */
  readonly wait?: string;
}

/** How long a call waits for an execution. */
export interface WaitOptions {
  /** Ends the wait: it rejects with the signal's reason. The execution goes on. */
  readonly signal?: AbortSignal;
  /** Then it rejects with `timeout`. @default as long as the execution takes */
  readonly timeoutMs?: number;
}

/** Which executions a list has. Filters are combined: each execution fits all of them. */
export interface ListOptions {
  /** Only executions of this workflow. */
  readonly workflow?: string;
  /** 'open': all that have not ended. 'bad': every end but success. */
  readonly status?: ExecutionStatus | 'open' | 'bad';
  /** Only those that may not end well or in time without help. */
  readonly atRisk?: true;
  /** The idempotency key of the start; with `workflow` alone. */
  readonly key?: string;
  /** 'name:value', of a tag that a workflow names in its `tags`. */
  readonly tag?: string;
  /** The code of the failure that it ended with, or of an open incident; not with `tag`. */
  readonly code?: string;
  /** A plan's hash, or 'old': plans that no new execution uses. Without `status`, open executions only. */
  readonly plan?: string;
  /** The earliest time: the start of open executions, else the time by which the list is sorted. */
  readonly since?: number;
  /** Only what is before this time. */
  readonly until?: number;
  /** 1 to 100. */
  readonly limit?: number;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
}

/** What every command to an execution may say. */
export interface CommandOptions {
  /** Why, for whoever reads it later. */
  readonly reason?: string;
  /** A command repeated under the same id is obeyed once; another one under it is refused (`key-reused`). */
  readonly commandId?: string;
}

/** How an execution is canceled. */
export interface CancelOptions extends CommandOptions {
  /** False: what has acted is left as it is. @default true */
  readonly undo?: boolean;
}

/** How an execution that ended without success is tried again from where it failed. */
export interface RetryOptions extends CommandOptions {
  /**
   * Only for a failed execution: the input of its failed step, in place of its own. Not where an attempt of
   * it may have acted.
   */
  readonly input?: Json;
  /** The step that gets it. @default - the one that has failed */
  readonly step?: string;
}

/** How an agent is paused. */
export interface PauseAgentOptions {
  /** Why, for whoever reads it later. */
  readonly reason?: string;
}

/** How a workflow is paused: what is started of it from now on is born paused. */
export interface PauseWorkflowOptions extends PauseAgentOptions {
  /**
   * How long each execution may be paused before a person is asked; 30d at most.
   * @default the workflow's, or '7d'
   */
  readonly within?: string;
}

/** How an execution is paused. */
export interface PauseOptions extends CommandOptions {
  /**
   * How long it may last before a person is asked, for example '2h'; 30d at most.
   * @default the workflow's, or '7d'
   */
  readonly within?: string;
}

/** `new Lambda({})` of `@aws-sdk/client-lambda`, or what invokes as it does. */
export interface InvokesFunctions {
  /** Invokes the function and answers with its payload. */
  readonly invoke: (
    input: { readonly FunctionName: string; readonly Payload: string },
    options: { readonly abortSignal: AbortSignal },
  ) => Promise<{ readonly Payload?: Uint8Array | undefined }>;
}

/** A deployment without a public API (`api: 'none'`): the client invokes the scheduler's function. */
export interface SchedulerFunction {
  /** What invokes functions, with the credentials of the caller. */
  readonly client: InvokesFunctions;
  /** For example the output `SchedulerName` of the stack, or the function's ARN. */
  readonly functionName: string;
}
