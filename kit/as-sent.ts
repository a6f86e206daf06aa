/**
 * Converts a test's value to the JSON that a client would send.
 *
 * So the test is accepted or refused exactly as a client would be. Does not own: what JSON leaves out
 * (`core/values/json.ts`), the check against a schema (`scheduler/`).
 */

import { refuse } from '../lib/core/values/errors.ts';
import { asJson, type Json } from '../lib/core/values/json.ts';

/** @throws SteadfastError `bad-input` if the value cannot be sent unchanged */
export function asSent(value: unknown, what: 'input' | 'output' | 'answer' | 'body'): Json {
  const sent = asJson(value);
  if ('json' in sent) return sent.json;
  throw refuse('bad-input', `the ${what} that the test gives: ${sent.problem}`);
}
