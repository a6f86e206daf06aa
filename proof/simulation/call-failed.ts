/**
 * What a call to AWS rejects with in a simulated world.
 *
 * Owns: the errors; one of each, because they never change and an error is dear to make. Does not own: when a
 * call is rejected (`process.ts`).
 */

class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

export const THROTTLED: Error = new CallFailed('throttled');
export const NO_ANSWER: Error = new CallFailed('no answer');
