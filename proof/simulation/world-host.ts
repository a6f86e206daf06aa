/**
 * Everything that the parts of a world share, when the world begins.
 *
 * Owns: its assembly, and the routing of each message and call for a supervisor. Does not own: who judges
 * what (`world.ts`), a world's traits (`traits.ts`).
 */

import type { Note } from '../../lib/core/decisions/decision.ts';
import { memoryBreakers, memoryPresences, memoryRates } from '../../lib/memory/side-records.ts';
import { memoryLanes } from '../../lib/memory/lanes.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import { defined } from '../../lib/core/values/defined.ts';
import { seededRandom, seededSource } from '../../lib/memory/world.ts';
import { Jobs } from './acceptance.ts';
import { Carried } from './carried.ts';
import { streamsOf } from './streams.ts';
import { EventQueue } from './events.ts';
import type { FileStore } from './file-store.ts';
import { lostActsUntil } from './families.ts';
import type { Faults } from './faults.ts';
import type { KindCounts } from './kinds.ts';
import { Ledger } from './ledger.ts';
import { mayDie } from './mail.ts';
import { sendMessage } from './messages.ts';
import { OracleBreakers } from './oracle-breakers.ts';
import { OracleErasures } from './oracle-erasures.ts';
import type { OwedNews } from '../../lib/core/decisions/news.ts';
import { EffectOrder } from './oracle-order.ts';
import { OracleRates } from './oracle-rates.ts';
import { Arrivals } from './oracle-stages.ts';
import { OracleWriters } from './oracle-writers.ts';
import { drawOutages } from './outages.ts';
import { type Choice, choiceOf } from './plans.ts';
import { OracleLanes } from './oracle-lanes.ts';
import { OracleMail } from './oracle-mail.ts';
import { type Host, planOf } from './process.ts';
import { AGENT_NAMES, BUSIEST } from './service.ts';
import { wakeSupervisor } from './supervisors.ts';
import { WorldValues } from './values.ts';
import type { Traits } from './traits.ts';
import type { WorldOptions } from './world-result.ts';

/** A stream other than the world's own. */
const JOB_STREAM = 0x0b_0b_5e_11;
const RATE_STREAM = 0x4a7e_0005;

interface Drawn {
  readonly options: WorldOptions;
  readonly traits: Traits;
  readonly startAt: number;
  readonly choice: Choice;
  readonly faults: Faults;
}

/** The world's tables, and the functions that judge and count what happens. */
interface Eyes {
  readonly table: MemoryTable;
  readonly file: FileStore | undefined;
  readonly kinds: KindCounts;
  readonly violate: (about: string, problem: string) => void;
  readonly announce: (news: OwedNews) => void;
  readonly note: (note: Note) => void;
  readonly over: () => boolean;
  /** An execution is about to be erased. */
  readonly goes: (id: string) => void;
}

const lanesJudged = ({ table, kinds, violate }: Eyes, host: () => Host): OracleLanes =>
  new OracleLanes({
    lanes: memoryLanes(),
    now: () => host().events.now,
    kinds,
    violate,
    read: (id) => table.read(id),
    planOf: (id) => planOf(host(), id),
  });

const mailJudged = (eyes: Eyes, host: () => Host): OracleMail =>
  new OracleMail({
    ...eyes,
    now: () => host().events.now,
    planOf: (id) => planOf(host(), id),
    accepted: (by) => mayDie(host(), by),
  });

const erasuresJudged = (eyes: Eyes, host: () => Host): OracleErasures =>
  new OracleErasures({
    ...eyes,
    objects: () => host().external.values?.list('').items ?? [],
    now: () => host().events.now,
    actsFor: (id) => {
      const state = eyes.table.read(id);
      return state === undefined ? 0 : lostActsUntil(planOf(host(), id), state) - host().events.now;
    },
  });

const ratesJudged = (seed: number, hasRates: boolean, kinds: KindCounts): OracleRates =>
  new OracleRates(hasRates ? choiceOf(seededRandom(seed ^ RATE_STREAM)) : undefined, kinds);

const carriedJudged = ({ table, kinds, violate }: Eyes, rates: OracleRates, host: () => Host): Carried =>
  new Carried({
    table,
    kinds,
    violate,
    now: () => host().events.now,
    hasRates: rates.perSecond !== undefined,
  });

export function hostOf({ options, traits, startAt, choice, faults }: Drawn, eyes: Eyes): Host {
  const { mode, seed } = options;
  const { table, file, kinds, violate, announce, note, over } = eyes;
  const isMild = mode === 'none' || mode === 'masked';
  const longestDelayMs = mode === 'masked' ? 3_000 : 30_000;
  const breakers = new OracleBreakers({ now: () => host.events.now, kinds, violate });
  const lanes = lanesJudged(eyes, () => host);
  const rates = ratesJudged(seed, traits.hasRates && !isMild, kinds);
  const host: Host = {
    events: new EventQueue(startAt),
    choice,
    faults,
    external: {
      table,
      ...defined({ file }),
      // A world's file is asked the same as the table, which has the values.
      ...(traits.keepsApart && file === undefined
        ? { values: new WorldValues(seed, faults, kinds, violate, () => host.events.now) }
        : {}),
      breakers: breakers.behind(memoryBreakers()),
      rates: memoryRates(),
      presences: memoryPresences(),
      lanes: lanes.lanes,
      wake: (presence) => wakeSupervisor(host, presence, longestDelayMs),
      send: (sends) => sends.forEach((send) => sendMessage(host, send, longestDelayMs)),
      announce,
      random: seededSource(seed),
      note: (one) => {
        host.carried?.note(one);
        note(one);
      },
    },
    ledger: new Ledger(traits.keyMode),
    order: new EffectOrder(),
    writers: new OracleWriters(),
    breakers,
    rates,
    carried: traits.carriesOn ? carriedJudged(eyes, rates, () => host) : undefined,
    lanes,
    mail: mailJudged(eyes, () => host),
    erasures: erasuresJudged(eyes, () => host),
    plans: new Map(),
    outages: drawOutages(choice, faults, startAt, traits.pausesWhole ? BUSIEST : AGENT_NAMES),
    unread: new Map(),
    crowded: mode === 'crowded',
    batches: new Map(),
    readsInPart: traits.readsInPart,
    endsSilently: traits.endsSilently,
    emphasis: isMild ? undefined : traits.emphasis,
    arrivals: new Arrivals(),
    jobs: new Jobs(choiceOf(seededRandom(seed ^ JOB_STREAM))),
    kinds,
    ...streamsOf(seed, traits, isMild),
    warm: new Map(),
    known: [],
    derived: new Map(),
    over,
    calls: 0,
  };
  return host;
}
