/**
 * Checks whether the files that a process has open are still those that the next process will find.
 *
 * Owns: which files are compared, and how often. Does not own: what follows if one is missing or replaced
 * (`group.ts`).
 *
 * A file that was removed, moved or replaced still accepts writes, but they are lost with the process. If the
 * lock file was removed, another process can open the file. It takes SQLite's own lock before it reads, so a
 * commit that this process began before it noticed has ended by then.
 */

import { statSync } from 'node:fs';
import { removedFile } from './trouble.ts';

const EVERY_MS = 1_000;
const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

export class InPlace {
  readonly #file: string;
  readonly #lock: string;
  /** Inodes by file, the lock first. */
  readonly #inodes: ReadonlyMap<string, number | undefined>;
  #timer: NodeJS.Timeout | undefined;

  /** To be called once all of these files exist. */
  constructor(file: string) {
    this.#file = file;
    this.#lock = `${file}-lock`;
    const files = [this.#lock, file, `${file}-wal`];
    this.#inodes = new Map(files.map((one) => [one, inodeOf(one)]));
  }

  /**
   * Runs before each commit, so it compares only the lock, in 3 µs.
   * @throws FileRefused
   */
  readonly checkLock = (): void => this.#check(this.#lock);

  /** @param onRemoved called once, if a file was removed or replaced; `isLogAlone`: only the log was */
  every(onRemoved: (error: Error, isLogAlone: boolean) => void): void {
    this.#timer = setInterval(() => {
      for (const file of this.#inodes.keys())
        try {
          this.#check(file);
        } catch (error) {
          this.end();
          return onRemoved(error as Error, file === `${this.#file}-wal`);
        }
    }, EVERY_MS);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #check(file: string): void {
    if (inodeOf(file) !== this.#inodes.get(file)) throw removedFile(this.#file, file);
  }
}
