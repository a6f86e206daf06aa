/** The identity and the mail service for `npm start`. */

import { startWorld, type World } from './world.ts';

/** Where the README's commands look for it. */
const PORT = 4535;

export default async function startDev(context: { dataDir: string; log(line: string): void }): Promise<{
  environment: Record<string, string>;
  stop(): Promise<void>;
}> {
  const world = await startSomewhere();
  context.log(`its identity and mail services are at ${world.url} (GET /ledger)`);
  return { environment: { RESET_WORLD_URL: world.url }, stop: () => world.stop() };
}

/** At its usual port, or at any free one when that is taken. */
async function startSomewhere(): Promise<World> {
  try {
    return await startWorld({ port: PORT });
  } catch {
    return startWorld({ port: 0 });
  }
}
