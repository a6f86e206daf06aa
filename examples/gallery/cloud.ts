/**
 * The local cloud on which examples run, synthesized by `examples/gallery/app.ts` from their folders.
 *
 * Owns: starting it, and stopping it completely after an interrupt.
 */

import { resolve } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';

const PROJECT = resolve(import.meta.dirname, '..', '..');

/** The most processes of a function, so that a laptop can run all examples in parallel. */
const PROCESSES_PER_FUNCTION = 4;

export function cloudOf(names: readonly string[], say: (text: string) => void): Promise<LocalCloud> {
  const interrupt = new AbortController();
  const starting = startCloud({
    project: PROJECT,
    app: 'node --import tsx examples/gallery/app.ts',
    context: { 'steadfast:only': names.join(',') },
    only: names,
    processesPerFunction: PROCESSES_PER_FUNCTION,
    say,
    signal: interrupt.signal,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.log('\nInterrupted: stopping the local cloud and the outside world.');
      interrupt.abort();
      void starting.then(
        (cloud) => cloud.stop().finally(() => process.exit(130)),
        () => process.exit(130),
      );
    });
  return starting;
}
