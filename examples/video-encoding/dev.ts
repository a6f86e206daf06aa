/**
 * Sets up the media library, the catalogue and the licence for `npm start`: a folder among the local data,
 * with a film in it.
 */

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DevContext, startDevWorld } from '../world/process.ts';
import { encoder } from './encoder.ts';
import { uploadAt } from './library.ts';
import { PLACE } from './world.ts';

/** The number of attempts that one worker performs at the same time. */
const AT_ONCE = '4';
export const FILM_SECONDS = 6;

export default async function startDev(context: DevContext): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const library = join(context.dataDir, `library-of-${encoder().name.replaceAll(' ', '-')}`);
  process.env['VIDEO_LIBRARY'] = library;
  const film = uploadAt('harbour');
  if (!existsSync(film)) {
    await mkdir(dirname(film), { recursive: true });
    await encoder().film(film, FILM_SECONDS);
  }
  context.log(`its media library is ${library}; ${encoder().name} encodes`);
  const world = await startDevWorld(context, 'VIDEO_WORLD_URL', PLACE);
  const own = { VIDEO_LIBRARY: library, VIDEO_PIECE_MS: '250', STEADFAST_WORKER_CONCURRENCY: AT_ONCE };
  return { environment: { ...world.environment, ...own }, stop: () => world.stop() };
}
