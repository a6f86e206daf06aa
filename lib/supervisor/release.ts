/**
 * The receipt of the release: since when the deployed code has been running.
 *
 * Owns: when it is read and written: once in each process of the supervisors' function, and again at the next
 * tick while it is not certain; no execution needs it. Does not own: which release follows which
 * (`core/records/receipts.ts`), the content of a release (`infra/code-source.ts`).
 *
 * It is not part of the presence, because an idle supervisor does not write that: a release would seem to
 * begin at the first work after its deployment.
 */

import type { Ports, Receipts } from '../core/ports.ts';
import { releaseAfter } from '../core/records/receipts.ts';
import { sayable } from '../core/values/errors.ts';

/**
 * The maximum number of tries, because several supervisors of a new release begin to write at the same time.
 */
const LAPS = 3;

/** @returns a function to call in each tick; it never rejects */
export function releaseNote(
  receipts: Receipts,
  { clock, random, log }: Pick<Ports, 'clock' | 'random' | 'log'>,
  release: string,
): () => Promise<void> {
  const at = clock.now();
  let isKept = false;
  const note = async (): Promise<boolean> => {
    for (let lap = 0; lap < LAPS; lap += 1) {
      const next = releaseAfter((await receipts.read()).release, release, at, clock.now());
      if (typeof next === 'string') return next === 'kept';
      if ((await receipts.write({ ...next, writeId: random.id() })) === 'written') return true;
    }
    return false;
  };
  return async () => {
    if (isKept) return;
    try {
      isKept = await note();
    } catch (error) {
      log.note({ what: 'receipt-failed', detail: sayable(error) });
    }
  };
}
