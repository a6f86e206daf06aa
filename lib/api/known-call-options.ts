/**
 * The options of calls that the client itself interprets; the API checks those of other calls.
 *
 * Owns: the names, and the refusal of others. Does not own: their meaning (`client.ts`).
 */

import { type Keys, type KeysOf, optionProblem } from '../core/values/options.ts';
import { ApiError } from './api-error.ts';
import type { SendOptions, WaitForEndOptions } from './call-options.ts';

export const GET = { wait: true, step: true } as const;
export const WAIT = { signal: true, timeoutMs: true } as const satisfies KeysOf<WaitForEndOptions>;
export const APPROVE = { comment: true } as const;
export const REJECT = { reason: true } as const;
export const SEND = { id: true } as const satisfies KeysOf<SendOptions>;

/** @throws ApiError `bad-option` */
export function known<Options extends object>(
  call: string,
  options: Options | undefined,
  keys: Keys,
): Partial<Options> {
  const stranger = optionProblem(options, keys);
  if (stranger !== undefined) throw new ApiError('bad-option', `${call}: ${stranger}`);
  return options ?? {};
}
