/** Fan-out: every item of a list, ten at a time; one in twenty may fail. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Photo = z.object({ key: z.string() });
const Album = z.object({ photos: z.array(Photo) });

export const shrink = agent('shrink', { input: Photo, output: Photo, effect: 'idempotent', undo: 'none' });

export const album = workflow('album', { input: Album, within: '2h' }, (w) => {
  const small = w.map('shrink', shrink, w.input.photos, ({ key }) => ({ key }), {
    concurrency: 10,
    mayFail: '5%',
  });
  return { failed: small.output.failed };
});
