/** The inputs that a decision takes from the clock and the random source. */

import type { Ports } from '../core/ports.ts';
import type { DecisionInputs } from '../core/decisions/change.ts';

export const decisionInputsOf = (ports: Ports): DecisionInputs => ({
  writeId: ports.random.id(),
  now: ports.clock.now(),
  random: ports.random.number(),
});
