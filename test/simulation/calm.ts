/** A host of processes to which nothing happens but what the test does: no faults, no outages, nobody at work yet. */

import type { EventQueue } from '../../lib/testing/simulation/events.ts';
import { swarm } from '../../lib/testing/simulation/faults.ts';
import { Ledger } from '../../lib/testing/simulation/ledger.ts';
import { EffectOrder } from '../../lib/testing/simulation/oracle-order.ts';
import { CALM } from '../../lib/testing/simulation/outages.ts';
import type { Choice } from '../../lib/testing/simulation/plans.ts';
import type { Host } from '../../lib/testing/simulation/process.ts';

export const calmHost = (events: EventQueue, choice: Choice, outside: Host['outside']): Host => ({
  events,
  choice,
  faults: swarm(choice, 'none'),
  outside,
  ledger: new Ledger(),
  order: new EffectOrder(),
  plans: new Map(),
  outages: CALM,
  crowded: false,
  batches: new Map(),
  readsInPart: false,
  warm: new Map(),
  known: [],
  derived: new Map(),
  over: () => false,
  calls: 0,
});
