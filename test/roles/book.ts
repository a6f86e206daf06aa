/**
 * An agent that books what it does, by effect key, so that a test sees what took place and what was undone.
 */

import { PermanentError } from '../../lib/core/errors.ts';
import type { Snapshot } from '../../lib/core/state.ts';

export interface Book {
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
  const implementation: Book['implementation'] = {
    execute: async ({ effectKey }, given) => {
      if (fails(given as { n?: number })) throw new PermanentError('no');
      done.push(effectKey);
      return { got: given };
    },
    undo: async ({ effectKey }) => {
      undone.push(effectKey);
    },
  };
  return { done, undone, implementation };
}

export const statuses = ({ steps }: Snapshot): Record<string, string> =>
  Object.fromEntries(Object.values(steps).map(({ name, status }) => [name, status]));
