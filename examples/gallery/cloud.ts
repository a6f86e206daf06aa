/**
 * The local cloud that examples are played on: what `examples/gallery/app.ts` makes of their folders.
 *
 * Owns: how it is asked for, and that an interrupt leaves nothing behind.
 */

import { resolve } from 'node:path';
import { type LocalCloud, startCloud } from 'steadfast/testing';

const PROJECT = resolve(import.meta.dirname, '..', '..');

export async function cloudOf(names: readonly string[], say: (text: string) => void): Promise<LocalCloud> {
  const cloud = await startCloud({
    project: PROJECT,
    app: 'node --import tsx examples/gallery/app.ts',
    context: { 'steadfast:only': names.join(',') },
    only: names,
    say,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.log('\nInterrupted: stopping the local cloud and the outside world.');
      void cloud.stop().finally(() => process.exit(130));
    });
  return cloud;
}
