/**
 * The ports in memory: a store with the conditions of the real one, a queue whose deliveries the test decides, a clock
 * that moves when told to, seeded dice.
 *
 * Records are never changed in place, by nobody: so the store keeps and hands out the very objects it was given.
 *
 * Owns: behaviour only, without faults. It passes the same contract suites as the AWS adapters. Does not own: what is
 * delivered when (the caller takes messages out of the queue).
 */

import type { Send, Note, Write } from '../core/decide.ts';
import { refuse } from '../core/errors.ts';
import { isExecutionId } from '../core/names.ts';
import type { Plan } from '../core/plan.ts';
import type {
  Clock,
  Dice,
  Due,
  ListQuery,
  OpenIncident,
  Page,
  Ports,
  Store,
  WriteResult,
} from '../core/ports.ts';
import type { Ended, Execution, Incident, Snapshot, Step } from '../core/state.ts';

interface Partition {
  execution: Execution;
  readonly steps: Map<string, Step>;
  readonly incidents: Map<number, Incident>;
}

export class MemoryStore implements Store {
  readonly shards: number;
  readonly #plans = new Map<string, Plan>();
  readonly #executions = new Map<string, Partition>();

  constructor(shards = 1) {
    this.shards = shards;
  }

  readonly writePlan = async (hash: string, plan: Plan): Promise<void> => {
    if (!this.#plans.has(hash)) this.#plans.set(hash, plan);
  };

  readonly readPlan = async (hash: string): Promise<Plan | undefined> => this.#plans.get(hash);

  readonly create = async (execution: Execution): Promise<Execution | 'written'> => {
    const existing = this.#executions.get(execution.id)?.execution;
    if (existing !== undefined && existing.writeId !== execution.writeId) return existing;
    if (existing === undefined) {
      this.#executions.set(execution.id, { execution, steps: new Map(), incidents: new Map() });
    }
    return 'written';
  };

  readonly read = async (executionId: string): Promise<Snapshot | undefined> => {
    const partition = this.#executions.get(executionId);
    if (partition === undefined) return undefined;
    const { execution, steps, incidents } = partition;
    return {
      execution,
      steps: Object.fromEntries(steps),
      ...(incidents.size === 0 ? {} : { incidents: Object.fromEntries(incidents) }),
    };
  };

  readonly readExecution = async (executionId: string): Promise<Execution | undefined> =>
    this.#executions.get(executionId)?.execution;

  readonly write = async (write: Write): Promise<WriteResult> => {
    const partition = this.#executions.get(write.executionId);
    if (partition === undefined) return 'conflict';
    const { execution, step, incident } = write;
    const stored = step && partition.steps.get(step.name);
    if (execution !== undefined && !follows(execution, partition.execution)) return 'conflict';
    if (step !== undefined && !follows(step, stored)) return 'conflict';
    if (incident !== undefined && !follows(incident, partition.incidents.get(incident.number)))
      return 'conflict';
    if (incident !== undefined) partition.incidents.set(incident.number, incident);
    if (execution !== undefined) partition.execution = execution;
    if (step !== undefined) partition.steps.set(step.name, step);
    return 'written';
  };

  readonly due = async (shard: number, untilAt: number, cursor?: string): Promise<Page<Due>> => {
    const all = [...this.#executions.values()]
      .map(({ execution }) => ({
        executionId: execution.id,
        watchAt: execution.watchAt ?? Number.POSITIVE_INFINITY,
      }))
      .filter((item) => item.watchAt <= untilAt && this.#shardOf(item.executionId) === shard);
    return pageOf(all, (item) => [item.watchAt, item.executionId], 1, DUE_PAGE, cursor);
  };

  readonly list = async (query: ListQuery): Promise<Page<Execution>> => {
    const all = [...this.#executions.values()]
      .map(({ execution }) => execution)
      .filter(({ workflow, parent }) => workflow === query.workflow && parent?.part !== true)
      .filter((execution) => query.status === undefined || execution.status === query.status);
    return pageOf(all, ({ startedAt, id }) => [startedAt, id], -1, query.limit, query.cursor);
  };

  readonly openIncidents = async (limit: number, cursor?: string): Promise<Page<OpenIncident>> => {
    const all = [...this.#executions.values()]
      .flatMap(({ execution, incidents }) =>
        [...incidents.values()].map((incident) => ({ executionId: execution.id, incident })),
      )
      .filter(({ incident }) => incident.resolvedAt === undefined)
      .sort((a, b) => b.incident.openedAt - a.incident.openedAt || (a.executionId < b.executionId ? 1 : -1));
    const from = Number(cursor ?? 0);
    const items = all.slice(from, from + limit);
    return from + limit < all.length ? { items, cursor: String(from + limit) } : { items };
  };

  #shardOf(executionId: string): number {
    let sum = 0;
    for (const char of executionId) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
    return sum % this.shards;
  }
}

/** One version ahead of what is stored, or already stored by this very write. */
const follows = (
  next: { readonly version: number; readonly writeId: string },
  stored: { readonly version: number; readonly writeId: string } | undefined,
): boolean => (stored?.version ?? 0) === next.version - 1 || stored?.writeId === next.writeId;

const DUE_PAGE = 100;

/** The place of an item in its order. A cursor says after which place to go on, so that what comes and goes moves nothing. */
type Place = readonly [at: number, id: string];

function pageOf<Item>(
  all: readonly Item[],
  placeOf: (item: Item) => Place,
  direction: 1 | -1,
  limit: number,
  cursor: string | undefined,
): Page<Item> {
  const after = cursor === undefined ? undefined : parsePlace(cursor);
  const order = (a: Place, b: Place): number =>
    direction * (a[0] - b[0] || (a[1] < b[1] ? -1 : Number(a[1] > b[1])));
  const rest = all
    .filter((item) => after === undefined || order(placeOf(item), after) > 0)
    .sort((a, b) => order(placeOf(a), placeOf(b)));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last !== undefined && rest.length > limit ? { items, cursor: placeOf(last).join('.') } : { items };
}

/** @throws SteadfastError `bad-cursor` */
function parsePlace(cursor: string): Place {
  const match = /^(\d{1,15})\.(.+)$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined || !isExecutionId(match[2])) {
    throw refuse('bad-cursor', 'the cursor is not one that a list has returned');
  }
  return [Number(match[1]), match[2]];
}

/** Epoch ms that only `advanceTo` moves; sleepers wake in the order of their time. */
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

  /** When the next sleeper wakes, or nothing when nobody sleeps. */
  nextWakeAt(): number | undefined {
    return this.#sleepers.length === 0
      ? undefined
      : Math.min(...this.#sleepers.map((sleeper) => sleeper.atMs));
  }

  /** Moves time and wakes whoever is due. */
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

/** Repeatable dice: the same seed gives the same ids and numbers. */
export function seededDice(seed: number): Dice {
  let count = 0;
  const id = (): string => {
    count += 1;
    return `id-${seed}-${count}`;
  };
  return { id, random: seededRandom(seed) };
}

/** Everything the roles touch, in memory, with what was sent, announced and noted in the open. */
export interface MemoryWorld extends Ports {
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  /** Sent and not yet taken out. */
  readonly sent: Send[];
  readonly announced: Ended[];
  readonly notes: Note[];
}

export function memoryWorld(options: { readonly seed?: number; readonly shards?: number } = {}): MemoryWorld {
  const sent: Send[] = [];
  const announced: Ended[] = [];
  const notes: Note[] = [];
  return {
    store: new MemoryStore(options.shards),
    clock: new ManualClock(),
    dice: seededDice(options.seed ?? 1),
    queue: {
      send: async (sends) => {
        sent.push(...sends);
      },
    },
    announcer: {
      announce: async (ended) => {
        announced.push(ended);
      },
    },
    log: { note: (note) => notes.push(note) },
    sent,
    announced,
    notes,
  };
}
