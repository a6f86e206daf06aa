/**
 * The options of calls that are not sent as they are; those of other calls the API checks.
 *
 * Owns: which there are, and the refusal. Does not own: what they mean (`client.ts`).
 */

import { type Keys, type KeysOf, optionProblem } from '../core/values/options.ts';
import { ApiError } from './api-error.ts';
import type { SendOptions, WaitOptions } from './call-options.ts';

export const GET = { wait: true, step: true } as const;
export const WAIT = { signal: true, timeoutMs: true } as const satisfies KeysOf<WaitOptions>;
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
