/**
 * Takes a stage down: all parts in reverse order, only once even if called repeatedly.
 *
 * Owns: the order, and the folder. Does not own: the things to take down (`stage.ts`, `remote-stage.ts`).
 */

import { rmSync } from 'node:fs';

export type Strike = (keep: boolean) => Promise<void>;

/** @param folder removed at the end, unless it is kept. @param undo filled while the stage is set */
export function strikeOf(folder: string, undo: (() => Promise<void>)[]): Strike {
  let struck: Promise<void> | undefined;
  return (keep) => {
    struck ??= (async () => {
      for (const each of undo.splice(0).toReversed()) await each();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    })();
    return struck;
  };
}
