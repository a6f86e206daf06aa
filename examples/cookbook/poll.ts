/** Poll: a service accepts long work, and is polled until the work is done. */

import { accepted, agent, cannotTell, done, running, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Film = z.object({ film: z.string() });
const Encoded = z.object({ url: z.string() });

export const encode = agent('encode', {
  input: Film,
  output: Encoded,
  effect: 'probed',
  undo: 'none',
  acceptedWithin: '2h',
});

export const encoding = workflow('encoding', { input: Film, within: '3h' }, (w) => {
  return w.step('encode', encode, { film: w.input.film }).output;
});

/** The service. */
export interface Encoder {
  readonly submit: (key: string, film: string) => Promise<{ readonly job: string }>;
  readonly read: (job: string) => Promise<{ readonly percent: number; readonly url?: string }>;
}

export const encodeWith = (service: Encoder) =>
  encode.handler({
    execute: async (ctx, { film }) => {
      const { job } = await service.submit(ctx.idempotencyKey, film);
      return accepted({ token: job, askAfter: '30s' }); // first asked after 30 s
    },
    probe: async ({ accepted: work }) => {
      if (work?.token === undefined) return cannotTell('no job is known');
      // While it answers `running`, it is asked again: later each time, or when `running({ askAfter })` says.
      const { percent, url } = await service.read(work.token);
      return url === undefined ? running({ progress: percent }) : done({ url });
    },
  });
