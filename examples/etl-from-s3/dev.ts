/** Starts the warehouse for `npm start`, with its rows among the local data. */

import { join } from 'node:path';
import { startWorld, type World } from './world.ts';

/** The address that the README's commands use. */
const PORT = 4533;

export default async function startDev(context: { dataDir: string; log(line: string): void }): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const world = await startSomewhere(join(context.dataDir, 'sales.sqlite'));
  context.log(`its warehouse is at ${world.url} (GET /warehouse/loads, GET /warehouse/rows)`);
  return { environment: { WAREHOUSE_URL: world.url }, stop: () => world.stop() };
}

/** Starts on the usual port, or on any free one if that is taken. */
async function startSomewhere(file: string): Promise<World> {
  try {
    return await startWorld({ port: PORT, file });
  } catch {
    return startWorld({ port: 0, file });
  }
}
