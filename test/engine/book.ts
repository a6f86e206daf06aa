/**
 * An agent that books what it does, by effect key, so that a test sees what took place and what was undone.
 * Its service deduplicates: under a key that it knows it does nothing, and answers what it answered then,
 * also if that was undone since.
 */

import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';

export interface Book {
  /** `<execution>.<step>` each; the rest of the keys is fresh in every execution. */
  readonly done: string[];
  readonly undone: string[];
  readonly implementation: {
    readonly execute: (ctx: { effectKey: string }, given: unknown) => Promise<unknown>;
    readonly undo: (ctx: { effectKey: string }) => Promise<void>;
  };
}

export function book(fails: (input: { n?: number }) => boolean = () => false): Book {
  const done: string[] = [];
  const undone: string[] = [];
  const answers = new Map<string, unknown>();
  const implementation: Book['implementation'] = {
    execute: async ({ effectKey }, given) => {
      if (fails(given as { n?: number })) throw new PermanentError('no');
      const known = answers.get(effectKey);
      if (known !== undefined) return known;
      const answer = { got: given };
      answers.set(effectKey, answer);
      done.push(stepOfKey(effectKey));
      return answer;
    },
    undo: async ({ effectKey }) => {
      undone.push(stepOfKey(effectKey));
    },
  };
  return { done, undone, implementation };
}

/** Without the life of its execution, which is the last part. */
export const stepOfKey = (effectKey: string): string => effectKey.slice(0, effectKey.lastIndexOf('.'));

export const statuses = ({ steps }: Snapshot): Record<string, string> =>
  Object.fromEntries(Object.values(steps).map(({ name, status }) => [name, status]));
