/**
 * The documented facts about each route.
 *
 * Owns: the words, and the errors of each route. Does not own: the examples (`examples.ts`), the routes
 * (`lib/api/calls.ts`), what they take and do (`lib/api/routes.ts`), the types of answers
 * (`lib/api/answers.ts` and its neighbors). `test/api/described.ts` compares every answer that a test gets
 * with them.
 *
 * Types of answers are not inferred from schemas: records belong to the core, which imports no library.
 */

import type { Route } from '../../lib/api/calls.ts';
import type { ErrorCode } from '../../lib/api/statuses.ts';

export interface DescribedRoute {
  readonly summary: string;
  /** The name of the body's type, whose comments are printed (`lib/api/call-options.ts`). */
  readonly body?: string;
  /** The name of the answer's type, by status. */
  readonly answers: Readonly<Record<number, string>>;
  /** The errors besides those of every route. */
  readonly errors: readonly ErrorCode[];
}

/** The errors of every route: a request that is too long is refused before anything else in it is read. */
export const ERRORS_OF_ALL: readonly ErrorCode[] = ['too-large', 'internal', 'table-form'];
/** Additional errors of routes that write. */
export const ERRORS_OF_WRITES: readonly ErrorCode[] = ['at-rest', 'not-kept'];
const OF_BODY: readonly ErrorCode[] = ['too-many-values', 'bad-json', 'unsafe-number', 'bad-request'];
/** Errors of routes that record their caller. */
const OF_CALLER: readonly ErrorCode[] = ['bad-request', 'bad-caller'];
/** Errors of routes on which another person may have to approve. */
const OF_PEOPLE: readonly ErrorCode[] = ['unknown-caller', 'too-many-people', 'already-closed'];

const errors = (...groups: readonly (ErrorCode | readonly ErrorCode[])[]): readonly ErrorCode[] => [
  ...new Set(groups.flat()),
];
const OF_COMMAND = errors('unknown-execution', OF_BODY, OF_CALLER);
const OF_REPEATABLE = errors(OF_COMMAND, 'key-reused');
const OF_CALLBACK = errors('unknown-callback', 'already-closed', OF_CALLER);
const OF_ANSWER = errors(OF_CALLBACK, OF_BODY, OF_PEOPLE, 'not-another', 'not-open');

const OF_FIRST_START = errors(
  OF_BODY,
  OF_CALLER,
  'bad-input',
  'bad-concurrency',
  'bad-priority',
  'no-callback-urls',
  'unknown-workflow',
  'unknown-execution',
  'unknown-caller',
);
const OF_START = errors(OF_FIRST_START, 'key-reused');

const OF_MESSAGE = errors(
  'unknown-execution',
  OF_BODY,
  OF_CALLER,
  'unknown-message',
  'bad-message',
  'ended',
  'mailbox-full',
  'busy',
);

const OF_CONFIRMATION = errors(
  'unknown-bulk',
  'no-bulk-actions',
  OF_BODY,
  OF_CALLER,
  'not-collected',
  'empty-bulk',
  'bulk-expired',
);

export const DESCRIBED: Readonly<Record<Route, DescribedRoute>> = {
  'GET /workflows': {
    summary: 'Lists the workflows that can be started, with their steps.',
    answers: { 200: 'Workflows' },
    errors: [],
  },
  'GET /workflows/{name}': {
    summary: 'Shows one workflow.',
    answers: { 200: 'WorkflowView' },
    errors: ['unknown-workflow'],
  },
  'POST /workflows/{name}/executions': {
    summary:
      'Starts an execution. The same `idempotencyKey` (or header `Idempotency-Key`) with the same body is the same execution.',
    body: 'StartOptions',
    answers: { 202: 'Started' },
    errors: OF_START,
  },
  'POST /workflows/{name}/runs': {
    summary:
      'Starts an execution, as the route before does, and answers at its end, when `wait` has passed, or at once if five other calls wait.',
    body: 'RunOptions',
    answers: { 200: 'ExecutionView' },
    errors: errors(OF_START, 'bad-duration'),
  },
  'POST /workflows/{name}/messages': {
    summary:
      'Sends a message to the execution that was started with the `key`, as `POST /executions/{id}/messages` does; with `startWith` it starts one where there is none, in the same write, and compares no input where there is one.',
    body: 'KeyedMessageOptions',
    answers: { 202: 'MessageAccepted' },
    errors: errors(OF_MESSAGE, OF_FIRST_START),
  },
  'POST /workflows/{name}/pause': {
    summary:
      'Pauses a workflow: new executions of it start `paused`, within 10 s everywhere. Executions that started before continue.',
    body: 'PauseWorkflowOptions',
    answers: { 202: 'WorkflowPauseView' },
    errors: errors('unknown-workflow', OF_BODY, OF_CALLER, 'bad-duration'),
  },
  'POST /workflows/{name}/resume': {
    summary:
      'Ends the pause of a workflow. Executions that started paused stay paused until each is resumed.',
    answers: { 202: 'WorkflowPauseView' },
    errors: errors('unknown-workflow', OF_BODY, OF_CALLER),
  },
  'GET /executions': {
    summary:
      'Lists executions by a filter, in the order that the answer names. A page may have fewer executions than requested without being the last.',
    answers: { 200: 'ListPage' },
    errors: ['bad-request', 'bad-cursor', 'unknown-workflow'],
  },
  'GET /executions/{id}': {
    summary:
      'Shows an execution with its steps, attempts and incidents. With `wait` it answers at its end, when the time is over, or at once where five others wait: ask later.',
    answers: { 200: 'ExecutionView' },
    errors: ['bad-request', 'bad-duration', 'unknown-execution', 'unknown-step'],
  },
  'GET /executions/{id}/why': {
    summary: 'Says what happened, on what evidence, and what happens next and when.',
    answers: { 200: 'Reasons' },
    errors: ['unknown-execution'],
  },
  'POST /executions/{id}/cancel': {
    summary: 'Cancels: nothing new starts, and completed effects are undone unless `undo` is false.',
    body: 'CancelOptions',
    answers: { 202: 'Stopped' },
    errors: errors(OF_REPEATABLE, 'not-cancelable'),
  },
  'POST /executions/{id}/pause': {
    summary: 'Pauses: nothing new starts; work that has begun continues to its end.',
    body: 'PauseOptions',
    answers: { 202: 'Started' },
    errors: errors(OF_REPEATABLE, 'bad-duration', 'not-pausable', 'too-many-commands'),
  },
  'POST /executions/{id}/resume': {
    summary: 'Ends a pause.',
    body: 'CommandOptions',
    answers: { 202: 'Started' },
    errors: errors(OF_REPEATABLE, 'not-resumable', 'too-many-commands'),
  },
  'POST /executions/{id}/retry': {
    summary:
      'Makes a failed execution continue where it failed; its failed step, or the `step` of several, can get another `input`, unless an attempt of it may have acted. For a waiting execution, resolves all incidents with `retry`.',
    body: 'RetryOptions',
    answers: { 202: 'Started' },
    errors: errors(OF_REPEATABLE, OF_PEOPLE, 'not-retryable', 'bad-input', 'too-many-commands'),
  },
  'POST /executions/{id}/messages': {
    summary:
      'Sends a message to an execution: it is written when the answer comes, and taken by a step that receives it, now or later, once. An id counts once.',
    body: 'MessageOptions',
    answers: { 202: 'MessageAccepted' },
    errors: errors(OF_MESSAGE),
  },
  'POST /executions/{id}/erase': {
    summary: 'Removes an ended execution, the executions that its steps ran, and all values, for good.',
    answers: { 200: 'Erased' },
    errors: errors('unknown-execution', 'not-erasable', OF_BODY, OF_CALLER),
  },
  'POST /executions/{id}/incidents/{n}/resolve': {
    summary: 'Resolves an open incident with one of its `choices`.',
    body: 'ResolveOptions',
    answers: { 202: 'Stopped' },
    errors: errors(
      OF_COMMAND,
      OF_PEOPLE,
      'unknown-incident',
      'already-resolved',
      'unsafe-choice',
      'bad-input',
    ),
  },
  'POST /bulk': {
    summary:
      'Creates a bulk action, one command for many executions, and begins to collect them: by a filter, or one by one. Nothing acts before it is confirmed.',
    body: 'BulkOptions',
    answers: { 202: 'BulkView' },
    errors: errors(
      OF_BODY,
      OF_CALLER,
      'bad-duration',
      'bad-cursor',
      'unknown-workflow',
      'unknown-bulk',
      'key-reused',
      'no-bulk-actions',
    ),
  },
  'GET /bulk/{id}': {
    summary:
      'Shows a bulk action: its executions, its progress, and which executions refused the command and why.',
    answers: { 200: 'BulkView' },
    errors: ['unknown-bulk', 'no-bulk-actions'],
  },
  'POST /bulk/{id}/collect': {
    summary:
      'Continues collecting for some seconds; call it again until the status is no longer `collecting`.',
    answers: { 202: 'BulkView' },
    errors: errors('unknown-bulk', 'no-bulk-actions', OF_BODY, 'bad-cursor', 'unknown-workflow'),
  },
  'POST /bulk/{id}/confirm': {
    summary:
      "Confirms a bulk action: from now on it acts in the caller's name. Each execution gets the command once, even if this call is repeated.",
    answers: { 202: 'BulkView' },
    errors: OF_CONFIRMATION,
  },
  'POST /bulk/{id}/answer': {
    summary: 'Confirms a bulk action that approves or rejects; the caller must be allowed to answer.',
    answers: { 202: 'BulkView' },
    errors: OF_CONFIRMATION,
  },
  'POST /callbacks/{token}/complete': {
    summary: 'Completes a callback, or approves. The same answer again gets the same reply.',
    body: 'CompleteOptions',
    answers: { 200: 'CallbackOutcome' },
    errors: errors(OF_ANSWER, 'bad-output'),
  },
  'POST /callbacks/{token}/fail': {
    summary: 'Fails a callback, or rejects. The same answer again gets the same reply.',
    body: 'FailOptions',
    answers: { 200: 'CallbackOutcome' },
    errors: OF_ANSWER,
  },
  'POST /callbacks/{token}/heartbeat': {
    summary: 'Says that the external party is still at work.',
    answers: { 200: 'CallbackOutcome' },
    errors: OF_CALLBACK,
  },
  'GET /incidents': {
    summary:
      'Lists the inbox: open incidents, approvals and callbacks of all workflows, the earliest deadline first. `kind` tells them apart.',
    answers: { 200: 'IncidentPage' },
    errors: ['bad-request', 'bad-cursor'],
  },
  'GET /overview': {
    summary:
      'Counts what is open, at risk, waiting or ended without success in the last 24 hours, by status, workflow and code.',
    answers: { 200: 'Overview' },
    errors: [],
  },
  'GET /agents': {
    summary: 'Shows the queue, the breaker and the latest failure of each agent, and the missing agents.',
    answers: { 200: 'Agents' },
    errors: ['bad-request'],
  },
  'POST /agents/{name}/pause': {
    summary:
      'Pauses an agent: its breaker stays open, within 10 s everywhere. Nothing new is sent to the agent, and executions wait.',
    body: 'PauseAgentOptions',
    answers: { 202: 'AgentPauseView' },
    errors: errors('unknown-agent', OF_BODY, OF_CALLER),
  },
  'POST /agents/{name}/resume': {
    summary: 'Ends the pause of an agent: waiting work continues by itself, spread over up to six minutes.',
    answers: { 202: 'AgentPauseView' },
    errors: errors('unknown-agent', OF_BODY, OF_CALLER),
  },
  'POST /agents/{name}/try-now': {
    summary:
      'Makes a call to an agent now although its breaker is open: a waiting step becomes the trial, and an answer closes the breaker. If the breaker has closed already, the steps that still wait for their turn are sent.',
    answers: { 202: 'AgentTriedNow' },
    errors: errors('unknown-agent', OF_BODY),
  },
  'GET /health': {
    summary:
      "Reports the deployment's health, with the worst finding in one sentence; the status is 503 if no supervisor is at work, or a needed agent is not deployed.",
    answers: { 200: 'Health', 503: 'Health' },
    errors: [],
  },
  'GET /openapi.json': {
    summary: 'This contract, as OpenAPI 3.1.',
    answers: { 200: 'Openapi' },
    errors: [],
  },
};
