/**
 * The receipt of the release: since when the deployed code has been running.
 *
 * Owns: when it is read and written. Once in each process of the supervisors' function, and again at the next
 * tick while it is not certain; no execution needs it. Does not own: which release follows which
 * (`core/records/receipts.ts`), what is in a release (`infra/code-source.ts`).
 *
 * It is not in the presence, which an idle supervisor does not write: a release would seem to begin at the
 * first work after its deployment.
 */

import type { Ports, Receipts } from '../core/ports.ts';
import { releaseAfter } from '../core/records/receipts.ts';
import { sayable } from '../core/values/errors.ts';

/** Several supervisors of a new release begin at the same time, and one of them writes. */
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
