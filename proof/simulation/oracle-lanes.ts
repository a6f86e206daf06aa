/**
 * Judges lanes by the acts at the services and by the records.
 *
 * Owns, independently of the rules: at most `atMost` executions of a lane act at once; queued executions get
 * places in the order of their keys, or end; none is forgotten. Does not own: effects of a single execution
 * (`oracle.ts`).
 */

import type { Lane, LaneEntry, Queued } from '../../lib/core/records/lane.ts';
import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { MemoryLanes } from '../../lib/memory/lanes.ts';
import { lostActsUntil } from './families.ts';
import type { KindCounts } from './kinds.ts';
import type { Process } from './process.ts';

interface World {
  readonly lanes: MemoryLanes;
  readonly now: () => number;
  readonly kinds: KindCounts;
  readonly violate: (about: string, problem: string) => void;
  readonly read: (id: string) => Snapshot | undefined;
  readonly planOf: (id: string) => Plan | undefined;
}

/** A read of a queue, with the lane's version. */
interface Seen {
  readonly version: number;
  /** The entries that could have got a place. */
  readonly alive: readonly Queued[];
}

/** A process's reads of queues, by lane; several, because it may evaluate several executions at once. */
interface Eyes {
  readonly process: Process;
  readonly reads: Map<string, readonly Seen[]>;
  /** The version that it has last written, by lane; and when it has given up a place, by entry. */
  readonly written: Map<string, number>;
  readonly left: Map<string, number>;
}

/** The time from its first effect at a service to its last. */
interface Span {
  readonly lane: string;
  readonly atMost: number;
  readonly from: number;
  to: number;
}

const FIRST = 3;
/** The longest time to the next check, plus the delays of a process and a sweep. */
const NEAR_MS = 300_000 + 120_000;
const CLOCKS_DIFFER_MS = 4_000;
/** How old a process's read of an execution may be when it writes the lane. */
const READ_BEFORE_MS = 20_000;
/** Within this time, a free place is noticed. */
const SEEN_MS = 900_000;

const OPEN: ReadonlySet<string> = new Set(['running', 'waiting', 'paused']);
const isSame = (one: LaneEntry, other: LaneEntry): boolean =>
  one.id === other.id && one.life === other.life && one.epoch === other.epoch;

const nameOf = (lane: string, { id, life, epoch }: LaneEntry): string => [lane, id, life, epoch].join('/');

export class OracleLanes {
  readonly #world: World;
  readonly #spans = new Map<string, Span>();
  readonly #eyes = new WeakMap<Process, Eyes>();
  /** When an entry was first in its queue. */
  readonly #queuedAt = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  get lanes(): MemoryLanes {
    return this.#world.lanes;
  }

  eyes(process: Process): Eyes {
    const eyes = { process, reads: new Map(), written: new Map(), left: new Map() };
    this.#eyes.set(process, eyes);
    return eyes;
  }

  /** Checks that an execution queues as of its start, or of the retry since which it needs another place. */
  queues(lane: string, queued: Queued): void {
    const { execution } = this.#world.read(queued.id) ?? {};
    const key = nameOf(lane, queued);
    this.#queuedAt.set(key, this.#queuedAt.get(key) ?? this.#world.now());
    if (execution?.life !== queued.life || execution.epoch !== queued.epoch) return;
    const since = execution.retries?.at(-1)?.at ?? execution.startedAt;
    if (execution.lane?.priority === undefined && queued.place !== since)
      this.#world.violate(queued.id, `N3 it queues ${since - queued.place} ms before its turn`);
  }

  #isAlive({ id, life, epoch }: LaneEntry): boolean {
    const { execution } = this.#world.read(id) ?? {};
    return (
      execution?.life === life &&
      execution.epoch === epoch &&
      (execution.status === 'running' || execution.status === 'waiting') &&
      execution.lane?.admitted !== epoch
    );
  }

  #isPausedAndLooks({ id, life, epoch }: LaneEntry): boolean {
    const { execution } = this.#world.read(id) ?? {};
    const isPaused = execution?.status === 'paused';
    const isIt = execution?.life === life && execution.epoch === epoch;
    return isPaused && isIt && execution.lane?.checkAt !== undefined;
  }

  looks(lane: string, seen: Eyes): void {
    const { lanes } = this.#world;
    const version = lanes.lanes.get(lane)?.version ?? 0;
    const alive = lanes.inQueue(lane).filter((one) => this.#isAlive(one));
    const before = (seen.reads.get(lane) ?? []).filter((one) => one.version === version);
    seen.reads.set(lane, [...before, { version, alive }]);
  }

  /**
   * The entries in all reads on which this write may be based. If the process has read several times, it is
   * not known which read counts.
   */
  #seenBy({ lane, version }: Lane, seen: Eyes): readonly Queued[] {
    const reads = seen.reads.get(lane) ?? [];
    const [first, ...others] = reads.filter((one) => one.version === version - 1);
    const inAll = (one: Queued): boolean =>
      others.every(({ alive }) => alive.some((other) => isSame(one, other)));
    return first?.alive.filter(inAll) ?? reads.at(-1)?.alive ?? [];
  }

  /** Checks that an execution that gets a place was first in the queue. */
  judgeWrite(record: Lane, seen: Eyes): void {
    const { lane, holders, version, atMost } = record;
    const before = this.#world.lanes.lanes.get(lane);
    if ((before?.version ?? 0) !== version - 1) return;
    const known = before?.holders ?? [];
    const queue = this.#world.lanes.inQueue(lane);
    const fresh = holders.filter((one) => !known.some((other) => isSame(one, other)));
    if (fresh.length > 0 && holders.length > atMost)
      this.#world.violate(lane, `N1 ${holders.length} hold places of ${atMost}`);
    seen.written.set(lane, version);
    for (const one of known.filter((other) => !holders.some((holder) => isSame(holder, other)))) {
      seen.left.set(nameOf(lane, one), this.#world.now());
      this.#judgeFree(one);
    }
    for (const one of fresh) {
      if (seen.process.frozenUntil === 0) this.#judgePaused(one);
      const place = queue.find((other) => isSame(one, other))?.place;
      const passed = this.#seenBy(record, seen).find(
        (other) =>
          other.place < (place ?? 0) &&
          this.#isAlive(other) &&
          !this.#wasJustResumed(other) &&
          !holders.some((holder) => isSame(holder, other)),
      );
      if (passed !== undefined) this.#world.violate(one.id, `N3 it is placed before ${passed.id}`);
    }
  }

  /** True if the process may have read it while it was paused: the lane skips it then (seed 40617). */
  #wasJustResumed({ id }: LaneEntry): boolean {
    const { pauses } = this.#world.read(id)?.execution ?? {};
    return this.#world.now() - (pauses?.at(-1)?.endedAt ?? 0) < READ_BEFORE_MS;
  }

  /** Checks that an execution whose place is handed on can no longer act, even by a lost process. */
  #judgeFree({ id, life, epoch }: LaneEntry): void {
    const state = this.#world.read(id);
    if (state?.execution.life !== life || state.execution.epoch !== epoch) return;
    // Without a place of its own its on-failure steps act outside the lane (seed 53986).
    if (state.execution.lane?.admitted !== epoch) return;
    const leftMs = lostActsUntil(this.#world.planOf(id), state) - this.#world.now();
    if (leftMs > CLOCKS_DIFFER_MS)
      this.#world.violate(id, `N1 its place is handed on, and it may act for ${leftMs} ms`);
  }

  /** Checks that an execution that gets a place is not in a pause of which the process must know. */
  #judgePaused({ id, life, epoch }: LaneEntry): void {
    const { execution } = this.#world.read(id) ?? {};
    if (execution?.status !== 'paused' || execution.life !== life || execution.epoch !== epoch) return;
    const ms = this.#world.now() - (execution.pauses?.at(-1)?.at ?? 0);
    if (ms > READ_BEFORE_MS) this.#world.violate(id, `N3 it is placed ${ms} ms after it was paused`);
  }

  /**
   * N5 Checks that a process which has given up a place has seen all that were in the queue by then. If
   * another process has written the lane since, that one may have to.
   */
  #judgeRoom(problems: string[], lane: string, own: LaneEntry, leaver: Process | undefined): void {
    const record = this.#world.lanes.lanes.get(lane);
    const eyes = leaver && this.#eyes.get(leaver);
    const at = eyes?.left.get(nameOf(lane, own));
    if (at === undefined || record === undefined || record.version !== eyes?.written.get(lane)) return;
    if (record.holders.length >= record.atMost) return;
    const missed = this.#world.lanes
      .inQueue(lane)
      .filter((one) => this.#isAlive(one) && !record.holders.some((holder) => isSame(holder, one)))
      .filter((one) => (this.#queuedAt.get(nameOf(lane, one)) ?? at) < at);
    for (const { id } of missed)
      if ((this.#world.read(id)?.execution.pauses?.at(-1)?.endedAt ?? 0) < at - CLOCKS_DIFFER_MS)
        problems.push(`N5 it leaves room, and ${id} has queued before and gets no place`);
  }

  /** The execution or ancestor with the place. */
  #inLane(executionId: string): Execution | undefined {
    for (let id: string | undefined = executionId; id !== undefined; ) {
      const execution: Execution | undefined = this.#world.read(id)?.execution;
      if (execution?.lane !== undefined) return execution;
      id = execution?.parent?.executionId;
    }
    return undefined;
  }

  /** Notes that a service performs or undoes an effect. */
  acts(executionId: string, step: string): void {
    const execution = this.#inLane(executionId);
    const { lane } = execution ?? {};
    if (execution === undefined || lane === undefined) return;
    const plan = this.#world.planOf(execution.id);
    const isLate =
      plan?.onFailure?.some(({ name }) => name === step) === true && execution.id === executionId;
    if (lane.admitted === undefined || (isLate && lane.admitted !== execution.epoch)) {
      if (!isLate) this.#world.violate(executionId, `N1 '${step}' acts without a place`);
      return;
    }
    const key = `${execution.id} ${execution.life} ${lane.admitted}`;
    const now = this.#world.now();
    const atMost = this.#world.lanes.lanes.get(lane.key)?.atMost ?? 1;
    const span = this.#spans.get(key) ?? { lane: lane.key, atMost, from: now, to: now };
    span.to = now;
    this.#spans.set(key, span);
  }

  judge(before: Snapshot, { execution, step }: Write, writer: Process | undefined): string[] {
    const { kinds } = this.#world;
    const lane = execution?.lane;
    if (execution === undefined || lane === undefined) return [];
    const problems: string[] = [];
    if (lane.admitted === execution.epoch && before.execution.lane?.admitted !== execution.epoch) {
      kinds.placed += 1;
      if (execution.epoch > 1) kinds.placedAgain += 1;
      if (before.steps['lane']?.status === 'waiting') kinds.placedLater += 1;
      if (!OPEN.has(execution.status)) problems.push(`N1 it is placed while ${execution.status}`);
      const { withinMs = 0 } = this.#world.planOf(execution.id) ?? {};
      // Allows for pauses and different clocks.
      const lateMs = (execution.pauses?.at(-1)?.at ?? this.#world.now()) + withinMs - execution.deadlineAt;
      if (lateMs > CLOCKS_DIFFER_MS) problems.push(`N1 its time began ${lateMs} ms before its place`);
    }
    if (lane.announced === true && before.execution.lane?.announced !== true) kinds.leftLate += 1;
    if (step?.failure?.code === 'concurrency-timeout' && step.status === 'failed') {
      kinds.noPlace += 1;
      this.#judgeNoPlace(problems, execution);
    }
    const isOver = before.execution.wakeAt !== undefined && execution.wakeAt === undefined;
    if (!isOver) return problems;
    this.#judgeForgotten(problems, lane.key);
    const { id, life } = execution;
    const own = { id, life, epoch: lane.admitted ?? 0 };
    this.#judgeRoom(problems, lane.key, own, writer);
    const { holders = [] } = this.#world.lanes.lanes.get(lane.key) ?? {};
    if (holders.some((one) => isSame(one, own))) problems.push('N4 it is over, and keeps its place for ever');
    return problems;
  }

  /** Checks that after an end, a queued execution checks the lane soon. */
  #judgeForgotten(problems: string[], lane: string): void {
    const queue = this.#world.lanes.inQueue(lane);
    const alive = queue.filter((one) => this.#isAlive(one));
    const paused = alive.length === 0 ? [] : queue.filter((one) => this.#isPausedAndLooks(one));
    const wakes = [...alive.slice(0, FIRST), ...paused].map(
      ({ id }) => this.#world.read(id)?.execution.wakeAt ?? Number.POSITIVE_INFINITY,
    );
    const next = Math.min(...wakes) - this.#world.now();
    if (wakes.length > 0 && next > NEAR_MS)
      problems.push(`N7 nobody of the queue looks again for ${next} ms`);
  }

  /** Checks that an execution without a place in time was not first in the queue of a lane with room. */
  #judgeNoPlace(problems: string[], { id, life, epoch, lane, pauses }: Execution): void {
    const record = this.#world.lanes.lanes.get(lane?.key ?? '');
    const [first] = this.#world.lanes
      .inQueue(lane?.key ?? '')
      .filter((one) => this.#isAlive(one) || isSame(one, { id, life, epoch }));
    if (record === undefined || first === undefined || !isSame(first, { id, life, epoch })) return;
    const over = record.holders.flatMap((one) => {
      const { execution } = this.#world.read(one.id) ?? {};
      if (execution?.life !== one.life) return [0];
      const isOver = execution.epoch > one.epoch || !OPEN.has(execution.status);
      const { endedAt, wakeAt } = execution;
      return isOver && endedAt !== undefined && wakeAt === undefined
        ? [Math.max(endedAt, execution.lane?.freeAt ?? 0)]
        : [];
    });
    const room = record.atMost - record.holders.length + over.length;
    // Others may overtake a paused one.
    const since = Math.max(pauses?.at(-1)?.endedAt ?? 0, ...over);
    const now = this.#world.now();
    if (room > 0 && over.length > 0 && now - since > SEEN_MS)
      problems.push(`L1 it got no place although one was free for ${now - since} ms`);
  }

  /** Checks that at most `atMost` executions acted at once. */
  judgeEnd(): string[] {
    const byLane = new Map<string, Span[]>();
    for (const span of this.#spans.values()) byLane.set(span.lane, [...(byLane.get(span.lane) ?? []), span]);
    return [...byLane].flatMap(([lane, spans]) => {
      const most = Math.max(...spans.map(({ atMost }) => atMost));
      const worst = spans.find(
        ({ from }) => spans.filter((other) => other.from <= from && other.to > from).length > most,
      );
      return worst === undefined ? [] : [`${lane}: N1 more than ${most} act at ${worst.from}`];
    });
  }
}
