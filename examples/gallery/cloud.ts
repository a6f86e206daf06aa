/**
 * The local cloud that examples are played on: what `examples/gallery/app.ts` makes of their folders.
 *
 * Owns: how it is asked for, and that an interrupt leaves nothing behind.
 */

import { resolve } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';

const PROJECT = resolve(import.meta.dirname, '..', '..');

/** Each is a process of its own: what a laptop bears where all examples run side by side. */
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
