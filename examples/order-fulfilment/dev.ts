/**
 * The outside world for `npm start`: payment, warehouse, carrier and mail, with their ledger among the local data.
 *
 * Owns: that it is there before the agents ask for it. Does not own: how it can be made to misbehave (see README.md).
 */

import { join } from 'node:path';
import { startWorld, type World } from './world/server.ts';

/** Where the README's commands look for it. */
const PORT = 4520;

export default async function startDev(context: { dataDir: string; log(line: string): void }): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const ledgerFile = join(context.dataDir, 'ledger.jsonl');
  const world = await startSomewhere(ledgerFile);
  context.log(`its outside world is at ${world.url} (GET /ledger, POST /behave)`);
  return { environment: { WORLD_URL: world.url }, stop: () => world.stop() };
}

/** At its usual port, or at any free one when that is taken. */
async function startSomewhere(ledgerFile: string): Promise<World> {
  try {
    return await startWorld({ port: PORT, ledgerFile });
  } catch {
    return startWorld({ port: 0, ledgerFile });
  }
}
