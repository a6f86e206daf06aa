/**
 * The ports in memory: a store under the real conditions, a queue whose deliveries the test decides, a clock
 * that the test moves, seeded random numbers.
 *
 * Owns: behaviour without faults. It passes the same contract suites as the AWS adapters. Does not own: the
 * records and their conditions (`table.ts`), when a message is delivered (the caller takes messages out of
 * the queue).
 */

import type {
  Clock,
  Erasure,
  Inventory,
  LargeValues,
  Mailboxes,
  Ports,
  RandomSource,
  Rates,
  Store,
} from '../core/ports.ts';
import type { Note, Send } from '../core/decisions/decision.ts';
import type { Ended } from '../core/records/ended.ts';
import { questionKey } from '../core/records/question.ts';
import type { PassingNews, QuestionNews } from '../core/decisions/news.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Found } from '../core/supervision/audit.ts';
import { type MailboxTable, memoryMailboxes } from './mailboxes.ts';
import { type MemoryLanes, memoryLanes } from './lanes.ts';
import { memoryRates } from './side-records.ts';
import { MemoryTable } from './table.ts';
import { textHash } from './text-hash.ts';

const INVENTORY_PAGE = 100;

/** Returns the place of a record in the order of the table. */
function placeOf(found: Found): string {
  if (found.kind === 'execution') return `${found.execution.id} 0`;
  if (found.kind === 'mail') return `${found.executionId} 4${found.life} ${found.message ?? ''}`;
  if (found.kind === 'question') return `${found.executionId} 1${questionKey(found.question)}`;
  return found.kind === 'step' ? `${found.executionId} 2${found.step.name}` : `${found.executionId} 3`;
}

const idIn = (found: Found): string => (found.kind === 'execution' ? found.execution.id : found.executionId);

/**
 * Returns the segment of a record. All records of an execution are in one segment, as all items of a
 * partition are in DynamoDB.
 */
function segmentOf(found: Found, of: number): number {
  let hash = 0;
  for (const char of idIn(found)) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return hash % of;
}

/** The state table behind the promises of a store. */
export class MemoryStore implements Store {
  readonly #table: MemoryTable;
  shards: number;

  constructor(shards = 1, mostOpen?: number) {
    this.shards = shards;
    this.#table = new MemoryTable(shards, undefined, mostOpen);
  }

  /** Sets another number of shards, as a deployment does. Entries of the index stay where they are. */
  reshard(shards: number): void {
    this.shards = shards;
    this.#table.reshard(shards);
  }

  /** Removes an execution's own record, as at the end of its retention; the records beside it stay. */
  expire(executionId: string): void {
    this.#table.expire(executionId);
  }

  /** @param size the number of records in a page */
  inventory(size = INVENTORY_PAGE): Inventory & Pick<Erasure, 'recordsOf'> {
    return {
      page: async ({ index, of }, cursor = '') => {
        const rest = this.#table
          .found()
          .filter((found) => segmentOf(found, of) === index && placeOf(found) > cursor);
        const items = rest.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).slice(0, size);
        const last = items.at(-1);
        return last !== undefined && rest.length > size ? { items, cursor: placeOf(last) } : { items };
      },
      recordsOf: async (executionId) => this.#table.recordsOf(executionId),
      remove: async (found) => this.#table.remove(found),
    };
  }

  /** The mailboxes, which are written together with the executions. */
  get mailboxes(): MailboxTable {
    return this.#table.mailboxes;
  }

  readonly writePlan: Store['writePlan'] = async (hash, plan) => this.#table.writePlan(hash, plan);
  readonly readPlan: Store['readPlan'] = async (hash) => this.#table.readPlan(hash);
  readonly create: Store['create'] = async (execution, _isNewId, first) =>
    this.#table.create(execution, first);
  readonly read: Store['read'] = async (executionId) => this.#table.read(executionId);
  readonly readSteps = async (executionId: string, steps: readonly string[]): Promise<Snapshot | undefined> =>
    this.#table.readSteps(executionId, steps);
  readonly readExecution: Store['readExecution'] = async (executionId) =>
    this.#table.read(executionId)?.execution;
  readonly write: Store['write'] = async (write) => this.#table.write(write);
  readonly due: Store['due'] = async (shard, untilAt, cursor, limit) =>
    this.#table.due(shard, untilAt, cursor, limit);
  readonly list: Store['list'] = async (query) => this.#table.list(query);
  readonly survey: Store['survey'] = async (endedSince, workflows, latelySince) =>
    this.#table.survey(endedSince, workflows, latelySince);
  readonly openQuestions: Store['openQuestions'] = async (below) => this.#table.openQuestions(below);
  readonly inbox: Store['inbox'] = async (limit, cursor) => this.#table.inbox(limit, cursor);
}

/** A clock in epoch ms that only `advanceTo` moves; sleepers wake in the order of their time. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: { atMs: number; wake: () => void }[] = [];

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  readonly sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.wake !== wake);
        resolve();
      };
      this.#sleepers.push({ atMs: this.#now + Math.max(0, ms), wake });
      signal?.addEventListener('abort', wake);
    });

  /** Returns the time at which the next sleeper wakes; undefined if there is none. */
  nextWakeAt(): number | undefined {
    return this.#sleepers.length === 0
      ? undefined
      : Math.min(...this.#sleepers.map((sleeper) => sleeper.atMs));
  }

  /** Moves time and wakes the sleepers that are due. */
  advanceTo(atMs: number): void {
    this.#now = Math.max(this.#now, atMs);
    const due = this.#sleepers.filter((sleeper) => sleeper.atMs <= this.#now).sort((a, b) => a.atMs - b.atMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.atMs > this.#now);
    for (const sleeper of due) sleeper.wake();
  }
}

/** Numbers in [0, 1) that the seed determines (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A repeatable random source: the same seed gives the same ids and numbers. */
export function seededSource(seed: number): RandomSource {
  let count = 0;
  const id = (): string => {
    count += 1;
    return `id-${seed}-${count}`;
  };
  return { id, number: seededRandom(seed) };
}

/** All ports of the roles in memory, with the messages sent, the ends announced and the notes logged. */
export interface MemoryWorld extends Ports {
  readonly rates: Rates;
  readonly lanes: MemoryLanes;
  readonly mailboxes: Mailboxes;
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  /** Messages that were sent and not yet taken. */
  readonly sent: Send[];
  readonly announced: Ended[];
  readonly questionNews: QuestionNews[];
  /** News of breakers, agents and risks. */
  readonly news: PassingNews[];
  readonly notes: Note[];
}

export function memoryWorld(options: { readonly seed?: number; readonly shards?: number } = {}): MemoryWorld {
  const sent: Send[] = [];
  const announced: Ended[] = [];
  const questionNews: QuestionNews[] = [];
  const news: PassingNews[] = [];
  const notes: Note[] = [];
  const store = new MemoryStore(options.shards);
  return {
    store,
    mailboxes: memoryMailboxes(store.mailboxes),
    rates: memoryRates(),
    lanes: memoryLanes(),
    clock: new ManualClock(),
    random: seededSource(options.seed ?? 1),
    queue: {
      send: async (sends) => {
        sent.push(...sends);
      },
    },
    announcer: {
      announce: async (one) => {
        if (one.about === 'end') announced.push(one);
        else if (one.about === 'question') questionNews.push(one);
        else news.push(one);
      },
    },
    log: { note: (note) => notes.push(note) },
    sent,
    announced,
    questionNews,
    news,
    notes,
  };
}

export interface MemoryValues extends LargeValues {
  /** The stored objects by key. */
  readonly objects: Map<string, string>;
}

/**
 * Values stored outside the table, in memory.
 * @param above the size in bytes from which a value is stored there
 */
export function memoryValues(above?: number): MemoryValues {
  const objects = new Map<string, string>();
  return {
    objects,
    hash: textHash,
    ...(above === undefined ? {} : { above }),
    put: async (key, json) => void objects.set(key, json),
    get: async (key) => objects.get(key),
  };
}
