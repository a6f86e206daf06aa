/** The media library for `npm start`: a folder among the local data, with two uploads in it. */

import { join } from 'node:path';
import { put } from './library.ts';

export default async function startDev(context: { dataDir: string; log(line: string): void }): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const library = join(context.dataDir, 'library');
  process.env['VIDEO_LIBRARY'] = library;
  await put('uploads', 'harbour', { seconds: 95, height: 1080 });
  await put('uploads', 'lighthouse', { seconds: 610, height: 2160 });
  context.log(`its media library is ${library}`);
  return { environment: { VIDEO_LIBRARY: library }, stop: async () => {} };
}
