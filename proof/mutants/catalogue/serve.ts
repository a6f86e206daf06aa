/** What `serve` makes of its clock, its start and its file. */

import { jest, type Mutant } from '../mutant.ts';

export const SERVE: readonly Mutant[] = [
  {
    id: 'clock-runs-through-a-block',
    bug: 'The clock of a supervisor goes on as soon as a step gives the event loop back: leases seem to be over.',
    file: 'serve/loop-clock.ts',
    find: 'Math.min(this.#turns[0] ?? 0, this.#clock.now())',
    replace: 'Math.min(this.#turns.at(-1) ?? 0, this.#clock.now())',
    killer: jest('serve/loop-clock', 'stands still while the loop is blocked'),
  },
  {
    id: 'deaths-not-recorded',
    bug: 'A server takes the leases of the process before it for those of its own, and waits for them.',
    file: 'serve/resume.ts',
    find: 'one === undefined || isOurs(one) ? []',
    replace: 'one === undefined || one.length > 0 ? []',
    killer: jest('serve/server', 'goes on with what an ended process has left'),
  },
  {
    id: 'copied-without-its-log',
    bug: 'A file that was copied while it was served is opened without its latest writes.',
    file: 'serve/sqlite/file.ts',
    find: '  if (isMarked(version) && !isWithLog) throw',
    replace: '  if (isMarked(version) && !isWithLog && isNew) throw',
    killer: jest('serve/file', 'when it was copied while it was served'),
  },
];
