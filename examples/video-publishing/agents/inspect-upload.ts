/** Inspects an upload: how long it is, and which sizes it is worth encoding in. */

import { PermanentError } from 'steadfast';
import * as z from 'zod/mini';
import { look } from '../library.ts';
import { inspectUpload } from '../workflow.ts';

const SIZES = [2160, 1080, 720, 480, 240];
const Film = z.object({ seconds: z.number(), height: z.int() });

export const handler = inspectUpload.handler({
  execute: async (_ctx, { upload }) => {
    const film = z.safeParse(Film, await look('uploads', upload));
    if (!film.success) throw new PermanentError(`there is no film '${upload}' among the uploads`);
    const { seconds, height } = film.data;
    return { seconds, heights: SIZES.filter((size) => size <= height) };
  },
});
