/**
 * Uncaught errors in the server's process, although agents run apart: a schema forgets an `await`, or a
 * connection that a module opened while loading breaks.
 *
 * Owns: telling these errors from the server's own, and the line in the log. Does not own: the same in the
 * processes of agents (`lib/worker/isolated-calls.ts`).
 *
 * An error of the server's own code ends the process, because its state may be wrong; the next start
 * continues from the file. All others leave that state as it is, so that the server goes on.
 */

import { join, sep } from 'node:path';
import { inspect } from 'node:util';
import type { Telemetry } from '../lib/aws/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import { PACKAGE_ROOT } from '../lib/project/package-files.ts';

const OWN = ['bin', 'cli', 'console', 'dist', 'lib', 'local', 'serve'].map(
  (folder) => `${join(PACKAGE_ROOT, folder)}${sep}`,
);
const isOwn = (place: string): boolean => OWN.some((folder) => place.startsWith(folder));
const PLACE = /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/;
/** True for Node and packages: their caller is at fault. */
const isCalled = (place: string): boolean => place.startsWith('node:') || place.includes('node_modules');

/** The first place in its stack that is neither Node's nor a package's, unless that package is this one. */
export function placeOf(error: unknown): { readonly place?: string; readonly isOwn: boolean } {
  const stack: unknown = Object(error).stack;
  const lines = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const places = lines.map((line) => (PLACE.exec(line)?.[1] ?? 'node:').replace('file://', ''));
  const place = places.find((one) => isOwn(one) || !isCalled(one));
  return place === undefined ? { isOwn: false } : { place, isOwn: isOwn(place) };
}

/**
 * Keeps this process alive after errors that are not its own.
 * @returns the function that undoes this
 */
export function outliveStrays(logger: Pick<Telemetry['logger'], 'error'>): () => void {
  const met = (what: string) => (error: unknown) => {
    const found = safely(() => placeOf(error)) ?? { isOwn: false };
    logger.error('stray-error', { detail: `nothing ${what}: ${sayable(error)}`, ...found });
    if (!found.isOwn) return;
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  };
  const listeners = { uncaughtException: met('caught'), unhandledRejection: met('awaited') };
  for (const [event, listener] of Object.entries(listeners)) process.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) process.off(event, listener);
  };
}

function safely<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
