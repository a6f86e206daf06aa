import { accepted, done, notDone } from 'steadfast';
import { alone } from '../workflow.ts';

/** Computes without a pause for an hour, so that no other code of the process gets a turn. */
function compute(): void {
  const untilAt = Date.now() + 3_600_000;
  while (Date.now() < untilAt) continue;
}

export const handler = alone.handler({
  execute: async (_, { way }) => {
    if (way === 'dies') process.exit(7);
    if (way === 'hangs') compute();
    return way === 'accepts'
      ? accepted({ token: String(process.pid), askAfter: '5s' })
      : { pid: process.pid };
  },
  probe: async ({ accepted: work }) => (work === undefined ? notDone() : done({ pid: Number(work.token) })),
});
