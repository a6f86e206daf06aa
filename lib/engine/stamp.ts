/**
 * What a decision takes from the clock and the dice.
 */

import type { Ports } from '../core/ports.ts';
import type { Stamp } from '../core/records/change.ts';

export const stampOf = (ports: Ports): Stamp => ({
  writeId: ports.dice.id(),
  now: ports.clock.now(),
  random: ports.dice.random(),
});
