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
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { serviceLogger } from '../lib/aws/telemetry.ts';
import { isSteadfastError, sayable } from '../lib/core/values/errors.ts';
import { PACKAGE_ROOT } from '../lib/project/package-files.ts';

const OWN = ['bin', 'cli', 'console', 'dist', 'lib', 'local', 'serve'].map(
  (folder) => `${join(PACKAGE_ROOT, folder)}${sep}`,
);
const isOwn = (place: string): boolean => OWN.some((folder) => place.startsWith(folder));
const PLACE = /(?:\(|at (?:async )?)([^()]+:\d+:\d+)\)?$/;
/** True for Node and packages: their caller is at fault. */
const isCalled = (place: string): boolean => place.startsWith('node:') || place.includes('node_modules');

/** The code of an author that called a client of this package gets these: no state here is wrong. */
const isAnswer = (error: unknown): boolean => isSteadfastError(error) || Object(error).name === 'ApiError';

/**
 * The first place in its stack that is an author's; without one, the first of this package. Node and other
 * packages are only called. It is the server's own if no author's code is in the stack.
 */
export function placeOf(error: unknown): { readonly place?: string; readonly isOwn: boolean } {
  const stack: unknown = Object(error).stack;
  const lines = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const places = lines.map((line) => pathOf(PLACE.exec(line)?.[1] ?? 'node:'));
  const authors = places.find((one) => !isOwn(one) && !isCalled(one));
  const place = authors ?? places.find(isOwn);
  return place === undefined ? { isOwn: false } : { place, isOwn: authors === undefined && !isAnswer(error) };
}

const pathOf = (place: string): string => (place.startsWith('file:') ? fileURLToPath(place) : place);

/** Keeps this process alive after errors that are not its own, also while it loads modules. */
export function outliveStrays(): void {
  const logger = serviceLogger({ role: 'server' });
  const met = (what: string) => (error: unknown) => {
    const found = safely(() => placeOf(error)) ?? { isOwn: false };
    logger.error('stray-error', { detail: `nothing ${what}: ${sayable(error)}`, ...found });
    if (!found.isOwn) return;
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', met('caught'));
  process.on('unhandledRejection', met('awaited'));
}

function safely<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
