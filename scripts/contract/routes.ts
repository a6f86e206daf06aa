/**
 * What documents and tests say of each route.
 *
 * Owns: the words, which errors each route has. Does not own: the examples (`examples.ts`), the routes
 * (`lib/api/calls.ts`), what they take and do (`lib/api/routes.ts`), the types of answers
 * (`lib/api/answers.ts` and its neighbors). `test/api/described.ts` holds every answer that a test gets to
 * them.
 *
 * Types of answers are not inferred from schemas: records belong to the core, which knows no library.
 */

import type { Route } from '../../lib/api/calls.ts';
import type { ErrorCode } from '../../lib/api/statuses.ts';

export interface DescribedRoute {
  readonly summary: string;
  /** The name of its type, which has its comments (`lib/api/call-options.ts`). */
  readonly body?: string;
  /** By status the name of the answer's type. */
  readonly answers: Readonly<Record<number, string>>;
  /** Beside those of every route. */
  readonly errors: readonly ErrorCode[];
}

/** Every route has these: what is too long is refused before anything else is known of it. */
export const ERRORS_OF_ALL: readonly ErrorCode[] = ['too-large', 'internal', 'table-form'];
/** Added to them where a route writes. */
export const ERRORS_OF_WRITES: readonly ErrorCode[] = ['at-rest', 'not-kept'];
const OF_BODY: readonly ErrorCode[] = ['bad-json', 'unsafe-number', 'bad-request'];
/** Where it is recorded who calls. */
const OF_CALLER: readonly ErrorCode[] = ['bad-request', 'bad-caller'];
/** Where an approval may have to be another person's. */
const OF_PEOPLE: readonly ErrorCode[] = ['unknown-caller', 'too-many-people', 'already-closed'];

const errors = (...groups: readonly (ErrorCode | readonly ErrorCode[])[]): readonly ErrorCode[] => [
  ...new Set(groups.flat()),
];
const OF_COMMAND = errors('unknown-execution', OF_BODY, OF_CALLER);
const OF_REPEATABLE = errors(OF_COMMAND, 'key-reused');
const OF_CALLBACK = errors('unknown-callback', 'already-closed', OF_CALLER);
const OF_ANSWER = errors(OF_CALLBACK, OF_BODY, OF_PEOPLE, 'not-another', 'not-open');

const OF_START = errors(
  OF_BODY,
  OF_CALLER,
  'bad-input',
  'bad-concurrency',
  'bad-priority',
  'unknown-workflow',
  'unknown-execution',
  'key-reused',
  'unknown-caller',
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
      'Starts an execution, as the route before does, and answers at its end, when `wait` is over, or at once where five others wait.',
    body: 'RunOptions',
    answers: { 200: 'ExecutionView' },
    errors: errors(OF_START, 'bad-duration'),
  },
  'POST /workflows/{name}/pause': {
    summary:
      'Pauses a workflow: what is started of it is born `paused`, within 10 s everywhere. What was started before goes on.',
    body: 'PauseWorkflowOptions',
    answers: { 202: 'WorkflowPauseView' },
    errors: errors('unknown-workflow', OF_BODY, OF_CALLER, 'bad-duration'),
  },
  'POST /workflows/{name}/resume': {
    summary: 'Ends the pause of a workflow. What was born paused stays so until each execution is resumed.',
    answers: { 202: 'WorkflowPauseView' },
    errors: errors('unknown-workflow', OF_BODY, OF_CALLER),
  },
  'GET /executions': {
    summary:
      'Lists executions by a filter, in the order that the answer names. A page may have fewer than asked for and not be the last.',
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
    summary: 'Says what happened, by which evidence, and what happens next and when.',
    answers: { 200: 'Reasons' },
    errors: ['unknown-execution'],
  },
  'POST /executions/{id}/cancel': {
    summary: 'Cancels: nothing new starts, and what has acted is undone, unless `undo` is false.',
    body: 'CancelOptions',
    answers: { 202: 'Stopped' },
    errors: errors(OF_REPEATABLE, 'not-cancelable'),
  },
  'POST /executions/{id}/pause': {
    summary: 'Pauses: nothing new starts, what was begun goes on to its end.',
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
      'Has a failed execution go on where it failed; its failed step, or the `step` of several, can be given another `input`, unless an attempt of it may have acted. Of a waiting one it resolves all incidents with `retry`.',
    body: 'RetryOptions',
    answers: { 202: 'Started' },
    errors: errors(OF_REPEATABLE, OF_PEOPLE, 'not-retryable', 'bad-input', 'too-many-commands'),
  },
  'POST /executions/{id}/erase': {
    summary: 'Removes an execution that is over, those that its steps ran, and all values, for good.',
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
      'Makes a bulk action, one command for many executions, and begins to collect them: by a filter, or one by one. Nothing acts before it is confirmed.',
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
      'Shows a bulk action: which executions it is about, how far it has come, and what has refused why.',
    answers: { 200: 'BulkView' },
    errors: ['unknown-bulk', 'no-bulk-actions'],
  },
  'POST /bulk/{id}/collect': {
    summary: 'Goes on collecting, for some seconds; again until the status is no longer `collecting`.',
    answers: { 202: 'BulkView' },
    errors: errors('unknown-bulk', 'no-bulk-actions', OF_BODY, 'bad-cursor', 'unknown-workflow'),
  },
  'POST /bulk/{id}/confirm': {
    summary:
      'Confirms: from now on it acts, in the name of the caller. Each execution gets the command once, also if this is called again.',
    answers: { 202: 'BulkView' },
    errors: OF_CONFIRMATION,
  },
  'POST /bulk/{id}/answer': {
    summary: 'Confirms one that approves or rejects, which a caller must be allowed to answer.',
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
    summary:
      'Shows of each agent its queue, its breaker and its latest failure, and agents that are missing.',
    answers: { 200: 'Agents' },
    errors: ['bad-request'],
  },
  'POST /agents/{name}/pause': {
    summary:
      'Pauses an agent: its breaker is kept open, everywhere within 10 s. Nothing new is sent to it, and executions wait.',
    body: 'PauseAgentOptions',
    answers: { 202: 'AgentPauseView' },
    errors: errors('unknown-agent', OF_BODY, OF_CALLER),
  },
  'POST /agents/{name}/resume': {
    summary: 'Ends the pause of an agent: what waited comes by itself, spread over up to six minutes.',
    answers: { 202: 'AgentPauseView' },
    errors: errors('unknown-agent', OF_BODY, OF_CALLER),
  },
  'POST /agents/{name}/try-now': {
    summary:
      'Has an agent called now although its breaker is open: a step that waits becomes the trial, and the breaker closes where that is answered. Where it has closed, what still waits for its turn is sent.',
    answers: { 202: 'AgentTriedNow' },
    errors: errors('unknown-agent', OF_BODY),
  },
  'GET /health': {
    summary:
      'Says how the deployment is, and the worst in one sentence; where no supervisor is at work, or an agent that is needed is not deployed, with status 503.',
    answers: { 200: 'Health', 503: 'Health' },
    errors: [],
  },
  'GET /openapi.json': {
    summary: 'This contract, as OpenAPI 3.1.',
    answers: { 200: 'Openapi' },
    errors: [],
  },
};
