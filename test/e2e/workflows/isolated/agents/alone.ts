import { accepted, done, notDone } from 'steadfast';
import { alone } from '../workflow.ts';

/** Blocks the process's event loop for an hour. */
const block = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_600_000);

export const handler = alone.handler({
  execute: async (_, { way }) => {
    if (way === 'dies') process.exit(7);
    if (way === 'hangs') block();
    return way === 'accepts'
      ? accepted({ token: String(process.pid), askAfter: '5s' })
      : { pid: process.pid };
  },
  probe: async ({ accepted: work }) => (work === undefined ? notDone() : done({ pid: Number(work.token) })),
});
