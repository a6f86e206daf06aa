/**
 * What `GET /agents/{name}/outages` answers: for each opening of the agent's breaker, what
 * failed and how it was resolved.
 *
 * Owns: what is read for it. Does not own: the records (`core/step/outage.ts`).
 *
 * Costs a read for the breaker, one for each opening, and one for each execution
 * in which an outcome was unknown.
 */

import type { Snapshot } from '../core/records/snapshot.ts';
import {
  type FailedCall,
  MAX_OPENINGS,
  type Outage,
  type KnownOutcome,
  knownOutcome,
  unknownOnce,
} from '../core/step/outage.ts';
import { sideBySide } from '../engine/side-by-side.ts';
import { refuseUnknownAgent } from './holds.ts';
import type { Scheduler } from './start.ts';

export interface ShownOutage extends Omit<Outage, 'version' | 'writeId' | 'calls'> {
  readonly calls: readonly (FailedCall & { readonly settled?: KnownOutcome })[];
}

const SIDE_BY_SIDE = 10;

/** Latest first. @throws SteadfastError `unknown-agent` */
export async function outagesOf(scheduler: Scheduler, agent: string): Promise<readonly ShownOutage[]> {
  refuseUnknownAgent(scheduler, agent);
  const { breakers, outages } = scheduler.ports;
  const openings = (await breakers?.read(agent))?.openings ?? [];
  const found = await sideBySide(openings.slice(-MAX_OPENINGS).toReversed(), SIDE_BY_SIDE, async (openedAt) =>
    outages?.read(agent, openedAt),
  );
  const states = new Map<string, Promise<Snapshot | undefined>>();
  const shown: ShownOutage[] = [];
  for (const outage of found)
    if (outage !== undefined) shown.push(await settledIn(scheduler, outage, states));
  return shown;
}

async function settledIn(
  { ports: { store } }: Scheduler,
  { version: _v, writeId: _w, ...outage }: Outage,
  states: Map<string, Promise<Snapshot | undefined>>,
): Promise<ShownOutage> {
  const calls = await sideBySide(unknownOnce(outage.calls), SIDE_BY_SIDE, async (call) => {
    if (call.unknown !== true) return call;
    const state = states.get(call.executionId) ?? store.read(call.executionId).catch(() => undefined);
    states.set(call.executionId, state);
    return { ...call, settled: knownOutcome(call, await state) };
  });
  return { ...outage, calls };
}
