/**
 * An outside world as a process of its own, and beside `npm start`.
 *
 * Owns: the process's options and its end, and the port. Does not own: the services (`server.ts`).
 *
 * Started with an IPC channel, it ends when the channel closes; with
 * `--with-stdin`, when its standard input does.
 */

import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Deed } from './deeds.ts';
import { startWorld, type World } from './server.ts';

/** An example's services, and the addresses that its README's commands use. */
export interface WorldPlace {
  readonly deeds: readonly Deed[];
  readonly port: number;
}

/**
 * Serves the world if this module is the process's main one: `npx tsx examples/<name>/world.ts [--port 4520]
 * [--ledger FILE]`.
 * @param url of the module that declares the world: `import.meta.url`
 */
export async function serveIfMain(url: string, place: WorldPlace): Promise<void> {
  const [, main] = process.argv;
  if (main === undefined || resolve(main) !== fileURLToPath(url)) return;
  try {
    await serve(place);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The outside world cannot start: ${why}\n`);
    process.exitCode = 1;
  }
}

async function serve({ deeds, port }: WorldPlace): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: String(port) },
      ledger: { type: 'string', default: '.steadfast/world.jsonl' },
      'with-stdin': { type: 'boolean', default: false },
    },
  });
  const world = await startWorld({ deeds, port: Number(values.port), ledgerFile: resolve(values.ledger) });
  const end = (): void => {
    void world.stop().then(() => process.exit(0));
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  // A parent that was killed cannot stop its children; they must notice it.
  if (process.connected) process.once('disconnect', end);
  if (values['with-stdin']) process.stdin.once('end', end).resume();
  process.send?.({ url: world.url });
  process.stdout.write(`The outside world is at ${world.url}; its ledger is ${values.ledger}\n`);
}

/** What `npm start` passes to an example's `dev.ts`. */
export interface DevContext {
  readonly dataDir: string;
  log(line: string): void;
}

/**
 * The world beside `npm start`, with its ledger among the local data.
 * @param variable the environment variable through which the agents get its address
 */
export async function startDevWorld(
  context: DevContext,
  variable: string,
  { deeds, port }: WorldPlace,
): Promise<{ environment: Record<string, string>; stop(): Promise<void> }> {
  const ledgerFile = join(context.dataDir, 'ledger.jsonl');
  // Starts on the usual port, or on any free one if that is taken.
  const world: World = await startWorld({ deeds, port, ledgerFile }).catch(() =>
    startWorld({ deeds, port: 0, ledgerFile }),
  );
  context.log(`its outside world is at ${world.url} (GET /ledger, POST /behave)`);
  return { environment: { [variable]: world.url }, stop: () => world.stop() };
}
