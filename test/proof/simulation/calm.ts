/** A process host without faults and outages; only the test acts on it. */

import { Jobs } from '../../../proof/simulation/acceptance.ts';
import { Running } from '../../../proof/simulation/containers.ts';
import type { EventQueue } from '../../../proof/simulation/events.ts';
import { swarm } from '../../../proof/simulation/faults.ts';
import { noKinds } from '../../../proof/simulation/kinds.ts';
import { Ledger } from '../../../proof/simulation/ledger.ts';
import { EffectOrder } from '../../../proof/simulation/oracle-order.ts';
import { OracleBreakers } from '../../../proof/simulation/oracle-breakers.ts';
import { MemoryTable } from '../../../lib/memory/table.ts';
import { memoryLanes } from '../../../lib/memory/lanes.ts';
import { OracleErasures } from '../../../proof/simulation/oracle-erasures.ts';
import { OracleLanes } from '../../../proof/simulation/oracle-lanes.ts';
import { OracleMail } from '../../../proof/simulation/oracle-mail.ts';
import { OracleRates } from '../../../proof/simulation/oracle-rates.ts';
import { OracleWriters } from '../../../proof/simulation/oracle-writers.ts';
import { Arrivals } from '../../../proof/simulation/oracle-stages.ts';
import { CALM } from '../../../proof/simulation/outages.ts';
import type { Choice } from '../../../proof/simulation/plans.ts';
import type { Host } from '../../../proof/simulation/process.ts';

export const calmHost = (events: EventQueue, choice: Choice, external: Host['external']): Host => ({
  events,
  choice,
  faults: swarm(choice, 'none'),
  jumping: undefined,
  rare: undefined,
  sending: undefined,
  mail: new OracleMail({
    table: external.table,
    kinds: noKinds(),
    now: () => 0,
    violate: () => undefined,
    planOf: () => undefined,
    accepted: () => undefined,
  }),
  carried: undefined,
  external,
  ledger: new Ledger(),
  order: new EffectOrder(),
  writers: new OracleWriters(),
  breakers: new OracleBreakers({ now: () => events.now, kinds: noKinds(), violate: () => undefined }),
  rates: new OracleRates(undefined, noKinds()),
  plans: new Map(),
  outages: CALM,
  unread: new Map(),
  crowded: false,
  batches: new Map(),
  readsInPart: false,
  endsSilently: false,
  emphasis: undefined,
  tolerance: undefined,
  cast: undefined,
  times: undefined,
  onFailure: undefined,
  reminders: undefined,
  answers: undefined,
  stages: undefined,
  containers: undefined,
  pausing: undefined,
  probing: undefined,
  beats: undefined,
  accepting: undefined,
  repeating: undefined,
  laning: undefined,
  erasing: undefined,
  erasures: new OracleErasures({
    table: new MemoryTable(),
    kinds: noKinds(),
    violate: () => undefined,
    objects: () => [],
    now: () => 0,
    goes: () => undefined,
    actsFor: () => 0,
  }),
  lanes: new OracleLanes({
    lanes: memoryLanes(),
    now: () => 0,
    kinds: noKinds(),
    violate: () => undefined,
    read: () => undefined,
    planOf: () => undefined,
  }),
  jobs: new Jobs(choice),
  bulks: undefined,
  waits: undefined,
  running: new Running(),
  arrivals: new Arrivals(),
  kinds: noKinds(),
  groups: undefined,
  warm: new Map(),
  known: [],
  derived: new Map(),
  over: () => false,
  calls: 0,
});
