/**
 * The outside world of a deployed order. Owns: how it misbehaves. Does not own: its services (`world.ts`),
 * where it runs (`../gallery/outside-world.ts`).
 */

import { deployedWorld, type Fault } from '../world/deployed.ts';
import { DEEDS } from './world.ts';

const FAULTS: readonly Fault[] = [
  // Charges every card once and loses the answer: the order survives that, and no customer pays twice.
  { service: 'payment', mode: 'drop-reply', times: 1 },
  // Declines an order with this id when it is to be shipped: its earlier steps are undone.
  { service: 'carrier', mode: 'decline', match: { about: 'order-to-nowhere' } },
];

export const handler = deployedWorld(DEEDS, FAULTS);
