/**
 * The errors with which calls to AWS reject in a simulated world.
 *
 * Owns: one instance of each error, because creating one is expensive. Does not own: when a call is rejected
 * (`process.ts`).
 */

class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

export const THROTTLED: Error = new CallFailed('throttled');
export const NO_ANSWER: Error = new CallFailed('no answer');
