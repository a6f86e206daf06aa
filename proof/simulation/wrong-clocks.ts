/**
 * Clocks that are wrong: all by a little, and some by a minute to two years until the first answer that a
 * process has.
 *
 * Owns: how many, and by how much. Does not own: which worlds have them (`traits.ts`), the answer that sets a
 * process right (`process.ts`). It draws from its own random stream, but for what is wrong by a little.
 */

import type { Host, Process } from './process.ts';

const SHARE = 0.3;
const HOUR_MS = 3_600_000;
const YEARS_MS = 17_520 * HOUR_MS;
const BY_MS = [-60_000, 60_000, -2 * HOUR_MS, 2 * HOUR_MS, 48 * HOUR_MS, -YEARS_MS, YEARS_MS] as const;

export const wrongClock = ({ jumping, faults }: Host): Pick<Process, 'wrong'> =>
  jumping?.chance(SHARE) === true && faults.strikes('jumpedClock')
    ? { wrong: { ms: jumping.pick(BY_MS) } }
    : {};

/** How wrong a clock may be for long (docs/ALARMS.md). */
const MAX_SKEW_MS = 2_000;

export const skewOf = ({ choice, emphasis }: Host): number =>
  emphasis?.clocks === 'extreme'
    ? choice.pick([-MAX_SKEW_MS, MAX_SKEW_MS])
    : choice.between(-MAX_SKEW_MS, MAX_SKEW_MS);
