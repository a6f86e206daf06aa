/**
 * The process of one engine: starts it, runs the requested work, ends with the measuring process.
 *
 * Owns: messages and the end. Does not own: the engines, the figures. Arguments: the engine's file, a
 * folder for its data, and a variant or nothing.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Asked, type Engine, Missing, runMany, type Start, type Told } from './contract.ts';

/** Work that an engine does after its answer counts as part of the work. */
const SETTLE_MS = 100;

const [file = '', folder = '', variant] = process.argv.slice(2);
/** Sends nothing if the measuring process is gone; this process then ends ('disconnect', below). */
const tell = (told: Told): void => {
  if (process.connected) process.send?.(told, undefined, undefined, () => undefined);
};
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The start of the engine. It is set first, so that a request to end during the start waits, then ends the
 * engine.
 */
let starting: Promise<Engine> | undefined;
let stopping = false;

async function end(): Promise<void> {
  if (stopping) return;
  stopping = true;
  try {
    await (await starting)?.stop();
  } catch (error) {
    process.stderr.write(`${file}: ${reasonOf(error)}\n`);
  }
  process.exit();
}

async function answer(engine: Engine, asked: Asked): Promise<void> {
  const ran = await runMany(engine, asked.count, asked.inFlight);
  await engine.quiet?.();
  await pause(SETTLE_MS);
  tell({ told: 'ran', ...ran });
}

async function main(): Promise<void> {
  const { start } = (await import(pathToFileURL(file).href)) as { readonly start: Start };
  starting = start(folder, variant);
  const engine = await starting;
  process.on('message', (asked: Asked) => {
    answer(engine, asked).catch((error: unknown) => tell({ told: 'failed', reason: reasonOf(error) }));
  });
  const { server, durableBy } = engine;
  tell({ told: 'started', ...(server === undefined ? {} : { server }), durableBy });
}

// The measuring process is gone, or asks for an end.
process.on('disconnect', () => void end());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());

main().catch((error: unknown) => {
  if (error instanceof Missing) tell({ told: 'missing', reason: error.message, install: error.install });
  else tell({ told: 'failed', reason: reasonOf(error) });
  starting = undefined;
  void end();
});
