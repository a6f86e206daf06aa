/**
 * The outside world of a deployed order. Owns: how it misbehaves. Does not own: its services (`world.ts`),
 * where it runs (`../gallery/outside-world.ts`).
 */

import { deployedWorld, type Fault } from '../world/deployed.ts';
import { DEEDS } from './world.ts';

const FAULTS: readonly Fault[] = [
  // Every card is charged once, and the answer to it is lost: the order survives that, and no customer pays
  // twice.
  { service: 'payment', mode: 'drop-reply', times: 1 },
  // An order of this id is declined when it is to be shipped: what was done for it is taken back.
  { service: 'carrier', mode: 'decline', match: { about: 'order-to-nowhere' } },
];

export const handler = deployedWorld(DEEDS, FAULTS);
