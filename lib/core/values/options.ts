/**
 * Compares given options with existing ones. Types refuse a misspelled one only in a literal, and an author
 * may not check types.
 *
 * Owns: the check and its words. Does not own: which options there are (tables beside their types, which the
 * compiler keeps equal to them).
 */

import { nearest } from './nearest.ts';

/** A table of all keys of a type, for `satisfies`: neither more nor fewer. */
export type KeysOf<Options> = Readonly<Record<keyof Options, true>>;
export type Keys = Readonly<Record<string, true>>;

/** Names in other systems, and what to write here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  retries: 'recovery: [retry(3)]',
  retry: 'recovery: [retry(3)]',
  maxAttempts: 'recovery: [retry(3)]',
  maxRetries: 'recovery: [retry(3)]',
  deadline: "within: '1h'",
  dependsOn: 'after: [step]',
  optional: 'mayFail: true',
  maxConcurrency: 'concurrency: 10',
  maxIterations: 'maxRounds: 100',
  startToCloseTimeout: "timeout: '1m'",
  heartbeatTimeout: "lease: '30s'",
  first: "delay: '1s'",
  initialInterval: "delay: '1s'",
  max: "maxDelay: '1m'",
  maximumInterval: "maxDelay: '1m'",
};

/**
 * @param also options that are refused elsewhere, with a reason
 * @returns "'lateEffectWitin' is not an option; did you mean 'lateEffectWithin'?"; undefined if all are known
 */
export function optionProblem(options: unknown, keys: Keys, also: Keys = {}): string | undefined {
  if (options === undefined) return undefined;
  const known = Object.keys(keys);
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return `its options are ${options === null ? 'null' : Array.isArray(options) ? 'a list' : `a ${typeof options}`}; write an object with ${known.join(', ')}`;
  const stranger = Object.keys(options).find(
    (key) =>
      !Object.hasOwn(keys, key) &&
      !Object.hasOwn(also, key) &&
      (options as Record<string, unknown>)[key] !== undefined,
  );
  return stranger === undefined ? undefined : strangerText(stranger, known);
}

function strangerText(key: string, known: readonly string[]): string {
  const instead = Object.hasOwn(ELSEWHERE, key) ? (ELSEWHERE[key] ?? '') : '';
  if (known.includes(instead.split(':')[0] ?? '')) return `'${key}' is not an option; write ${instead}`;
  const like = nearest(key, known);
  return like === undefined
    ? `'${key}' is not an option; there are ${known.join(', ') || 'none'}`
    : `'${key}' is not an option; did you mean '${like}'?`;
}
