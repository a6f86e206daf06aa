/**
 * The meaning of each API error and what the caller should do next, for the documents.
 *
 * Owns: the words. Does not own: the codes and their statuses (`api/statuses.ts`), the messages, which name
 * the fault.
 */

import { MAX_CALLER_CHARS } from '../../lib/core/values/caller.ts';
import { MAX_REMEMBERED, REMEMBERED_DAYS } from '../../lib/core/operators/obey.ts';
import { MAX_PEOPLE } from '../../lib/core/records/people.ts';
import type { ErrorCode } from '../../lib/api/statuses.ts';

interface Advice {
  readonly means: string;
  readonly next: string;
}

const again = 'Read the execution (`GET /executions/{id}`): its `status` says which commands are possible.';

export const ERRORS: Readonly<Record<ErrorCode, Advice>> = {
  'bad-input': {
    means: 'The input does not fit the schema of the workflow or of the agent.',
    next: 'Correct what `details.issues` names.',
  },
  'bad-concurrency': {
    means: 'The input has no key for the lane: a text of 1 to 1,000 characters, or a whole number.',
    next: 'Give the field that the lane of the workflow reads.',
  },
  'bad-priority': {
    means: 'The priority is not 0 to 9, or the workflow has no lane.',
    next: 'Correct it, or leave it out.',
  },
  'no-callback-urls': {
    means:
      'The deployment sends no news to addresses that a start gives: no secret is named that signs them.',
    next: 'Leave `callbackUrl` out, or have the secret named.',
  },
  'bad-json': {
    means: 'The body is not JSON, is nested too deeply, or has a key that is not allowed.',
    next: 'Send JSON; the limits are below.',
  },
  'bad-request': {
    means: 'A header, or a field of the body or query, is not known or has a value that is not allowed.',
    next: 'Correct what `details.issues`, or the message, names.',
  },
  'bad-cursor': {
    means: 'The cursor is not one that this list has returned.',
    next: 'Leave it out to begin again.',
  },
  'bad-output': {
    means:
      "The answer to a callback does not fit its schema, or an approval's output has what is not allowed.",
    next: 'Correct what `details.issues`, or the message, names. The step keeps waiting.',
  },
  'bad-message': {
    means: 'The body of the message does not fit its schema.',
    next: 'Correct what `details.issues` names.',
  },
  'unknown-message': {
    means: 'No step of the execution, by the plan it was started with, receives a message of this name.',
    next: 'Send one that `details.messages` names.',
  },
  'unsafe-number': {
    means: 'A whole number is too large to be read exactly.',
    next: 'Send it as text.',
  },
  'bad-duration': {
    means: 'A duration is not valid.',
    next: "Write it as '20s', '5m', '2h' or '7d'.",
  },
  'unknown-workflow': {
    means: 'This deployment has no workflow of this name.',
    next: 'The message and `GET /workflows` name those it has.',
  },
  'unknown-agent': {
    means: 'No workflow of this deployment has an agent of this name.',
    next: 'The message and `GET /agents` name those it has.',
  },
  'unknown-execution': {
    means: 'There is no such execution, or it was removed after its retention.',
    next: 'Check the id; `GET /executions` lists them.',
  },
  'unknown-route': {
    means: 'There is no such method and path.',
    next: 'Compare it with the routes below.',
  },
  'unknown-step': {
    means: 'The execution has no step of this name.',
    next: 'Leave `step` out to see all of them.',
  },
  'unknown-incident': {
    means: 'The execution has no incident of this number.',
    next: '`GET /executions/{id}` lists its incidents.',
  },
  'unknown-callback': {
    means: 'No callback or approval has this token.',
    next: 'Use the token that the step has given out.',
  },
  'unknown-bulk': {
    means: 'There is no such bulk action, or it is more than 30 days old.',
    next: 'Make a new one: `POST /bulk`.',
  },
  'not-another': {
    means: "The approval must be another person's: the caller has acted in this execution.",
    next: 'Have another person answer; the message says who may.',
  },
  'unknown-caller': {
    means: 'The caller must be known, and the API has no authorizer that names one.',
    next: 'Call with an authorizer for IAM or for tokens (JWT).',
  },
  'bad-caller': {
    means: `The caller's name cannot be recorded: over ${MAX_CALLER_CHARS} characters, or not printable ASCII.`,
    next: 'Call as somebody whose ARN, or issuer and subject, is shorter.',
  },
  'key-reused': {
    means:
      'The idempotency key has started an execution with another body, or the command id was that of another command: `details`.',
    next: 'Use a new key for a new start, a new id for a new command.',
  },
  'already-closed': {
    means: 'The callback was answered differently or is no longer waited for, or the execution is over.',
    next: 'Nothing: the answer came too late. `details.status` says what became of it.',
  },
  'not-open': {
    means: 'The approval cannot be answered before its turn.',
    next: 'Answer once the step waits.',
  },
  'too-many-people': {
    means: `${MAX_PEOPLE} people have acted in this execution, and no more are kept.`,
    next: 'Have one of them act again.',
  },
  'not-cancelable': {
    means: 'It has ended, is being undone already, or is past a point of no return.',
    next: 'Read the message: `undo: false` may be possible.',
  },
  'not-pausable': { means: 'It has ended, is being undone, or is a part of a list.', next: again },
  'not-resumable': { means: 'It is not paused.', next: again },
  'not-retryable': {
    means:
      'It has neither failed nor an open incident that takes `retry`, it belongs to another execution, or an attempt may still act.',
    next: 'Read the message: it says from when, or what is possible instead.',
  },
  'not-erasable': {
    means: 'It is open, may still act, or belongs to another execution.',
    next: 'Read the message: it says until when, or which one to erase.',
  },
  'already-resolved': {
    means: 'Another person was first, or the time was over: `details.choice`.',
    next: 'Read the execution to see what came of it.',
  },
  'unsafe-choice': {
    means: 'The choice would be wrong now: `details.choices` has those that are possible, and when.',
    next: 'Choose one of them.',
  },
  'not-collected': {
    means: 'The executions of the bulk action are not all collected yet.',
    next: '`POST /bulk/{id}/collect` until its status is `collected`, then confirm it.',
  },
  'empty-bulk': {
    means: 'The bulk action selects no execution.',
    next: 'Make one with another filter.',
  },
  'bulk-expired': {
    means: 'Its executions were selected over a day ago.',
    next: 'Make a new one: other executions may match by now.',
  },
  'no-bulk-actions': {
    means: 'The deployment has no agent for bulk actions (`bulkActions: false`).',
    next: 'Deploy with it, or act on the executions one by one.',
  },
  ended: {
    means: 'No step can take the message any more: all that receive it are done, or the execution is over.',
    next: 'Nothing: it came too late. `details.status` says what became of the execution.',
  },
  'too-large': {
    means: 'The body, the input or the output is longer than allowed.',
    next: 'Store what is large elsewhere, and send where it is.',
  },
  'too-many-values': {
    means: 'The body has more keys and elements, or more different keys, than one body may have.',
    next: 'Send several, or store what is large elsewhere and send where it is; the limits are below.',
  },
  'too-many-commands': {
    means: `The execution was given ${MAX_REMEMBERED} commands within ${REMEMBERED_DAYS} days, and would not recognise another one that is repeated.`,
    next: 'Cancel it, which is always possible, or find out who sends them.',
  },
  'mailbox-full': {
    means: 'As many messages as an execution keeps were sent to it, and no step has taken them yet.',
    next: 'Send it once some are taken, or find out why none is (`GET /executions/{id}/why`).',
  },
  busy: {
    means: 'Many send to the same execution at this moment; nothing was written.',
    next: 'Send it again with the same id; the client does.',
  },
  internal: {
    means: 'An unexpected error; the log of the API has it at this time.',
    next: 'Call again with the same key.',
  },
  'at-rest': {
    means: 'The deployment is at rest (`atRest`), for example while its table is restored.',
    next: 'Call again with the same key once it is over.',
  },
  'not-kept': {
    means: 'Of `serve`: its disk is full or takes no writes, and nothing of the call was written.',
    next: 'Make room, as the message says, and call again with the same key.',
  },
  'table-form': {
    means: 'The record was written by a newer release than the function that read it.',
    next: 'Call again in a moment; it ends with the deployment.',
  },
};
