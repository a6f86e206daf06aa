/**
 * Writes what an opening of a breaker leaves: its record, the calls that failed meanwhile, its end.
 *
 * Owns: that it holds nothing up, and two processes at once. Does not own: the record
 * (`core/step/outage.ts`), when the breaker opens (`breaker.ts`).
 *
 * One write at the opening, one at the end, and one for each failed call in between: a breaker that is open
 * lets none through but trials and what was under way.
 */

import type { Outages, Ports } from '../core/ports.ts';
import { type Addition, type Opening, outageAfter, outageBegun } from '../core/step/outage.ts';
import { changeRecord } from '../engine/change-record.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';

/** Never rejects. */
export const noteOpening = (ports: Ports, agent: string, opening: Opening): Promise<void> =>
  kept(ports, agent, async (outages) => {
    await outages.write(outageBegun(agent, opening, decisionInputsOf(ports)));
  });

/** Never rejects. */
export const addToOutage = (
  ports: Ports,
  agent: string,
  openedAt: number,
  addition: Addition,
): Promise<void> =>
  kept(ports, agent, async (outages) => {
    // If the opening is not written, these calls are not counted. Nothing is decided by them.
    await changeRecord(
      outages,
      [agent, openedAt],
      (before) => before && outageAfter(before, addition, decisionInputsOf(ports)),
    );
  });

async function kept(ports: Ports, agent: string, write: (outages: Outages) => Promise<void>): Promise<void> {
  if (ports.outages === undefined) return;
  await write(ports.outages).catch(() => ports.log.note({ what: 'outage-failed', agent }));
}
