/**
 * Turns a value of a test into JSON, as a client would have sent it.
 *
 * It makes a test pass where a client passes, and be refused where a client is. Does not own: what JSON
 * leaves out (`core/values/json.ts`), the check against a schema (`scheduler/`).
 */

import { refuse } from '../lib/core/values/errors.ts';
import { asJson, type Json } from '../lib/core/values/json.ts';

/** @throws SteadfastError `bad-input` if a client would send something else, or nothing */
export function asSent(value: unknown, what: 'input' | 'output' | 'answer' | 'body'): Json {
  const sent = asJson(value);
  if ('json' in sent) return sent.json;
  throw refuse('bad-input', `the ${what} that the test gives: ${sent.problem}`);
}
