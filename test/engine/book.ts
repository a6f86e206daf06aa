/**
 * An agent that records what it did and undid, by effect key. Its service deduplicates: for a known key it
 * does nothing and repeats its answer, even if the act has been undone.
 */

import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';

export interface Book {
  /** Entries `<execution>.<step>`, without the part of the key that is new in every execution. */
  readonly done: string[];
  readonly undone: string[];
  readonly implementation: {
    readonly execute: (ctx: { idempotencyKey: string }, given: unknown) => Promise<unknown>;
    readonly undo: (ctx: { idempotencyKey: string }) => Promise<void>;
  };
}

export function book(fails: (input: { n?: number }) => boolean = () => false): Book {
  const done: string[] = [];
  const undone: string[] = [];
  const answers = new Map<string, unknown>();
  const implementation: Book['implementation'] = {
    execute: async ({ idempotencyKey }, given) => {
      if (fails(given as { n?: number })) throw new PermanentError('no');
      const known = answers.get(idempotencyKey);
      if (known !== undefined) return known;
      const answer = { got: given };
      answers.set(idempotencyKey, answer);
      done.push(stepOfKey(idempotencyKey));
      return answer;
    },
    undo: async ({ idempotencyKey }) => {
      undone.push(stepOfKey(idempotencyKey));
    },
  };
  return { done, undone, implementation };
}

/** The key without its last part, the life of the execution. */
export const stepOfKey = (idempotencyKey: string): string =>
  idempotencyKey.slice(0, idempotencyKey.lastIndexOf('.'));

export const statuses = ({ steps }: Snapshot): Record<string, string> =>
  Object.fromEntries(Object.values(steps).map(({ name, status }) => [name, status]));
