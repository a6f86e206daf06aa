/**
 * The options of a caller for a call of the API.
 *
 * Does not own: the answers (`answers.ts`), the checks (`requests.ts`).
 */

import type { Choice } from '../core/records/question.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import type { Json } from '../core/values/json.ts';

/** Options for starting an execution. */
export interface StartOptions {
  /** Input that the workflow's schema accepts. */
  readonly input: Json;
  /** The same key with the same input is the same execution. */
  readonly idempotencyKey?: string;
  /** Names and values by which the execution is found besides its id, in addition to those from its input. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The execution that this one replaces; it must exist. */
  readonly replaces?: string;
  /**
   * The address to which its end and its questions are sent, signed, at least once (docs/EVENTS.md). It may
   * be secret: no answer and no event has it.
   */
  readonly callbackUrl?: string;
  /** 0 to 9, only for a workflow with a lane: the higher, the sooner it gets a place. @default 0 */
  readonly priority?: number;
}

/** Options for starting an execution and waiting for its end in the same call. */
export interface RunOptions extends StartOptions {
  /** How long the call may wait for the end: '10s'. @default 25 s, which is the longest */
  readonly wait?: string;
}

/** Options for waiting for an execution. */
export interface WaitForEndOptions {
  /** Ends the wait: it rejects with the signal's reason. The execution continues. */
  readonly signal?: AbortSignal;
  /** The time in ms after which it rejects with `timeout`. @default no limit */
  readonly timeoutMs?: number;
}

/** The filters of a list. Filters are combined: each execution matches all of them. */
export interface ListOptions {
  /** Only executions of this workflow. */
  readonly workflow?: string;
  /** 'open': all that have not ended. 'bad': every end but success. */
  readonly status?: ExecutionStatus | 'open' | 'bad';
  /** Only executions that may not end well or in time without help. */
  readonly atRisk?: true;
  /** The idempotency key of the start; only together with `workflow`. */
  readonly key?: string;
  /** 'name:value', for a tag that a workflow lists in its `tags`. */
  readonly tag?: string;
  /** The code of the failure that it ended with, or of an open incident; not together with `tag`. */
  readonly code?: string;
  /** A plan's hash, or 'old': plans that no new execution uses. Without `status`, open executions only. */
  readonly plan?: string;
  /** The earliest time: the start of open executions, else the time by which the list is sorted. */
  readonly since?: number;
  /** Only executions before this time. */
  readonly until?: number;
  /** The most executions in a page, 1 to 100. */
  readonly limit?: number;
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
}

/** The options of every command to an execution. */
export interface CommandOptions {
  /** The reason, for later readers. */
  readonly reason?: string;
  /**
   * A repeated command with the same id is obeyed once; a different one with it is refused (`key-reused`).
   */
  readonly commandId?: string;
}

/** Options for canceling an execution. */
export interface CancelOptions extends CommandOptions {
  /**
   * Whether its effects are undone. `false` leaves them in place, and the execution ends as `failed` instead
   * of `canceled`.
   * @default true
   */
  readonly undo?: boolean;
}

/**
 * Options for retrying a failed execution from where it failed, if none of its steps was undone, or for
 * answering the open incidents of a waiting one with 'retry'. A canceled or compensated execution cannot be
 * retried: start one that `replaces` it.
 */
export interface RetryOptions extends CommandOptions {
  /**
   * Only for a failed execution: a new input for its failed step. Not allowed if an attempt of the step may
   * have acted.
   */
  readonly input?: Json;
  /** The step that gets the input. @default - the step that failed */
  readonly step?: string;
}

/** A message to an execution. */
export interface MessageOptions {
  /** One of the names that the steps of the workflow receive. */
  readonly name: string;
  /** The body, which the schema of the message accepts. @default null */
  readonly body?: Json;
  /** A message repeated under the same id counts once. @default each call is another message */
  readonly id?: string;
}

/** A message to the execution that was started with a key. */
export interface KeyedMessageOptions extends MessageOptions {
  /** The `idempotencyKey` of its start. */
  readonly key: string;
  /**
   * How an execution is started, together with the message, if none has the key. If there is one, its input
   * is not compared.
   */
  readonly startWith?: Omit<StartOptions, 'idempotencyKey'>;
}

/**
 * The execution that a message is for: by its id, or by the `idempotencyKey` of its start, with which
 * `startWith` starts one if there is none.
 */
export type Addressee =
  | { readonly executionId: string }
  | ({ readonly workflow: string } & Pick<KeyedMessageOptions, 'key' | 'startWith'>);

/** How a message is sent. */
export interface SendOptions {
  /** The id of the message. A message repeated under the same id counts once. @default an id for each call */
  readonly id?: string;
}

/** Options for pausing an agent. */
export interface PauseAgentOptions {
  /** The reason, for later readers. */
  readonly reason?: string;
}

/** Options for pausing a workflow: executions started from now on are paused at once. */
export interface PauseWorkflowOptions extends PauseAgentOptions {
  /**
   * How long each execution may be paused before a person is asked; 30d at most.
   * @default the workflow's, or '7d'
   */
  readonly within?: string;
}

/** Options for pausing an execution. */
export interface PauseOptions extends CommandOptions {
  /**
   * How long it may last before a person is asked, for example '2h'; 30d at most.
   * @default the workflow's, or '7d'
   */
  readonly within?: string;
}

/** A `new Lambda({})` of `@aws-sdk/client-lambda`, or another object that invokes in the same way. */
export interface InvokesFunctions {
  /** Invokes the function and answers with its payload. */
  readonly invoke: (
    input: { readonly FunctionName: string; readonly Payload: string },
    options: { readonly abortSignal: AbortSignal },
  ) => Promise<{ readonly Payload?: Uint8Array | undefined }>;
}

/** A deployment without a public API (`api: 'none'`): the client invokes the scheduler's function. */
export interface SchedulerFunction {
  /** The object that invokes functions, with the caller's credentials. */
  readonly client: InvokesFunctions;
  /** For example the output `SchedulerName` of the stack, or the function's ARN. */
  readonly functionName: string;
}

/** A person's answer to an incident. */
export interface ResolveOptions {
  /**
   * One of the `choices` that the incident offers now; another is refused. 'retry': the same attempt again.
   * 'retry-with-input': an attempt with `input`. 'give-output': the step is done, with `output`. 'skip': the
   * execution continues without the step, or its undo. 'continue': the failure is tolerated. 'resume': the
   * pause ends. 'undo-all': everything that acted is undone, and the execution ends. 'keep': the execution
   * fails, and the effects stay.
   */
  readonly choice: Choice;
  /** The reason, for later readers. */
  readonly reason?: string;
  /** Only for 'retry-with-input': the input that replaces the step's own. */
  readonly input?: Json;
  /** Only for 'give-output': the step's output, according to the person. */
  readonly output?: Json;
  /** "I have checked: no attempt had an effect." Required by a choice that says so in its `needs`. */
  readonly nothingHappened?: boolean;
}

/** Why an external party could not do the work that a callback waits for. */
export interface FailOptions {
  /** For programs. */
  readonly code?: string;
  /** For people. */
  readonly message?: string;
}
