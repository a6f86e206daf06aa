/**
 * The codes of the API's errors, each with its status. Their meaning: `scripts/contract/errors.ts`.
 *
 * Owns: the list; an error with another code is answered as `internal`. Does not own: when one is thrown.
 */

export const STATUS = {
  'bad-input': 400,
  'bad-concurrency': 400,
  'bad-priority': 400,
  'no-callback-urls': 400,
  'bad-json': 400,
  'bad-request': 400,
  'bad-cursor': 400,
  'bad-output': 400,
  'bad-message': 400,
  'unknown-message': 400,
  'unsafe-number': 400,
  'bad-duration': 400,
  'unknown-workflow': 404,
  'unknown-agent': 404,
  'unknown-execution': 404,
  'unknown-route': 404,
  'unknown-step': 404,
  'unknown-incident': 404,
  'unknown-callback': 404,
  'unknown-bulk': 404,
  // Refused because of who the caller is, or because that is unknown.
  'not-another': 403,
  'unknown-caller': 403,
  'bad-caller': 403,
  'key-reused': 409,
  'already-closed': 409,
  'not-open': 409,
  'too-many-people': 409,
  'not-cancelable': 409,
  'not-pausable': 409,
  'not-resumable': 409,
  'not-retryable': 409,
  'not-erasable': 409,
  'already-resolved': 409,
  'unsafe-choice': 409,
  'not-collected': 409,
  'empty-bulk': 409,
  'bulk-expired': 409,
  'no-bulk-actions': 409,
  ended: 409,
  'too-large': 413,
  'too-many-values': 413,
  'too-many-commands': 429,
  'mailbox-full': 429,
  busy: 429,
  internal: 500,
  // During a restore: `atRest` of the construct.
  'at-rest': 503,
  // Only `serve` answers it, when its disk is full or accepts no writes.
  'not-kept': 503,
  // Between two releases, when another function may answer with the newer one.
  'table-form': 503,
} as const;

export type ErrorCode = keyof typeof STATUS;
