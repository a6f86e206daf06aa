/**
 * The answers of an author's `execute` and `probe` that are no plain output.
 *
 * Owns: their forms, and how long a service may ask not to be asked. Does not own: what follows from each
 * (`step/report.ts`, `step/probe-report.ts`).
 */

import type { Duration } from '../values/duration.ts';

/** The result of a probe: `done(…)`, `notDone()`, `running(…)` or `cannotTell(…)`. */
export type Verdict<O> =
  | { readonly verdict: 'done'; readonly output: O }
  | { readonly verdict: 'not-done' }
  | {
      readonly verdict: 'running';
      readonly progress?: string | number;
      readonly askAfter?: Duration | number;
    }
  /** `reason` is kept and shown with the step. */
  | {
      readonly verdict: 'cannot-tell';
      readonly reason?: string;
      readonly askAfter?: Duration | number;
    };

/**
 * The work is done, and this is its output: the first of a probe's four answers.
 * @example probe: async () => done({ paymentId: 'pay-1' })
 */
export const done = <O>(output: O): Verdict<O> => ({ verdict: 'done', output });
/**
 * The service knows of no such work. It is tried again once no earlier request can act.
 * @example probe: async () => notDone()
 */
export const notDone = (): Verdict<never> => ({ verdict: 'not-done' });
/**
 * The service is still working. It is asked again later.
 * @param how `progress`: a number that grows or a text that changes; it resets `progressWithin` of accepted
 * work; `askAfter`: when the service wants to be asked again, a duration or a number of seconds, 5 s to 1 h
 * @example probe: async () => running({ progress: '40 %', askAfter: '30s' })
 */
export const running = (
  how: { readonly progress?: string | number; readonly askAfter?: Duration | number } = {},
): Verdict<never> => ({ verdict: 'running', ...how });
/**
 * It is unknown whether the work was done. The service is asked again, up to 20 times.
 * @param reason the service's answer, for people: `status 501`
 * @param how `askAfter`: how long it wants not to be asked, a duration or a number of seconds, up to 1 h
 * @example probe: async () => cannotTell('status 429', { askAfter: 60 })
 */
export const cannotTell = (
  reason?: string,
  how: { readonly askAfter?: Duration | number } = {},
): Verdict<never> => ({
  verdict: 'cannot-tell',
  ...(reason === undefined ? {} : { reason }),
  ...how,
});

/** The answer of `execute` if its service has taken the work and will do it. */
export interface Accepted {
  readonly kind: 'steadfast:accepted';
  /** The service's name for the work. */
  readonly token?: string;
  /** The time until the first `probe`. */
  readonly askAfter?: Duration | number;
}

/**
 * The service has accepted the work and does it, as after a 202. It is asked until the work is done.
 * @example execute: async () => accepted({ token: 'job-1', askAfter: '30s' })
 * @param how `token`: the service's name for the work, up to 1,000 characters; `askAfter`: the time until the
 * first `probe`, a duration or a number of seconds, 5 s to 1 h
 */
export const accepted = (
  how: { readonly token?: string; readonly askAfter?: Duration | number } = {},
): Accepted => ({ kind: 'steadfast:accepted', ...how });

/** The shortest time between two probes of accepted work. */
export const MIN_ASK_AFTER_MS = 5_000;
/** The longest pause that a service may ask for before a probe or an undo. */
export const MAX_ASK_AFTER_MS = 3_600_000;
