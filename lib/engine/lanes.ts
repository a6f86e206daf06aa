/**
 * The writes at a lane between two decisions: queue, read it, hand places on, leave.
 *
 * Owns: the order of these writes; each may be repeated without harm, even after a process died. Does not
 * own: when they are due, and the execution's own records at that time (`core/waiting/lane.ts`).
 *
 * An execution is created, then queued, then placed by a write of the lane's record, then continues by a
 * write of its own. N5 the lane is read before its queue, and written on the version that was read. An
 * execution that queues reads the lane afterwards; one that leaves makes room, then reads the queue again. So
 * of two that meet, one sees the other. N6 a place is handed on once the new holder's own record has it; a
 * process that finds an entry without such a record carries that execution on. N7 an execution that leaves
 * makes the first three in the queue check the lane again soon.
 */

import { type HandedOn, planFor, type Reconcile } from './children.ts';
import { commit } from './commit.ts';
import { decisionInputsOf } from './decision-inputs.ts';
import { decideWith } from './large-values.ts';
import { sideBySide } from './side-by-side.ts';
import { type Execution, isForward, isTerminal, isUndecided } from '../core/records/state.ts';
import { isAdmitted, isFree, mayBePlaced } from '../core/records/in-lane.ts';
import {
  isSameEntry,
  type Lane,
  type LaneDone,
  type LaneEntry,
  type LaneWork,
  type Queued,
} from '../core/records/lane.ts';
import type { Lanes, Ports } from '../core/ports.ts';
import { defined } from '../core/values/defined.ts';
import { lifeOf } from '../core/step/effect-key.ts';

/** How many at the head of the queue check the lane again soon: if one dies, others do it. */
const FIRST = 3;
const QUEUE_PAGE = 10;
/** How many holders an execution reads that only queues; a check reads more. */
const FEW_HOLDERS = 5;
const MAX_LAPS = 20;
const RETRY_MS = 50;
/** Executions read at the same time. */
const SIDE_BY_SIDE = 10;

/** @returns the outcome, to be decided on */
export async function atLane(ports: Ports, work: LaneWork, handedOn: HandedOn): Promise<LaneDone> {
  const { lanes } = ports;
  if (lanes === undefined) throw new Error('there are no lanes here');
  return work.how === 'leave' ? leave(ports, lanes, work, handedOn) : enter(ports, lanes, work, handedOn);
}

async function enter(ports: Ports, lanes: Lanes, work: LaneWork, handedOn: HandedOn): Promise<LaneDone> {
  const { lane, own, step, how } = work;
  const seen = (placed: boolean, first: boolean): LaneDone => ({
    type: 'lane-seen',
    step,
    epoch: own.epoch,
    placed,
    first,
  });
  if (how === 'enter') await lanes.queue(lane, own);
  let isFull = how === 'check';
  for (let lap = 0; lap < MAX_LAPS; lap += 1) {
    const known = await lanes.readLane(lane);
    const holders = known?.holders ?? [];
    if (holders.some((one) => isSameEntry(one, own))) {
      await lanes.unqueue(lane, own);
      return seen(true, false);
    }
    const most = limitOf(work, known);
    isFull ||= holders.length >= most && holders.length <= FEW_HOLDERS;
    const { kept, unwritten } = isFull ? await checked(ports, holders) : { kept: holders, unwritten: [] };
    const walked = await walk(ports, lanes, work, { holders: kept, room: most - kept.length, alive: 0 });
    const after = nextLane(ports, work, known, [...kept, ...walked.taken], most);
    if (after !== undefined && (await lanes.writeLane(after)) === 'conflict') {
      await pause(ports, lap);
      continue;
    }
    for (const dead of walked.dead) await lanes.unqueue(lane, dead);
    const others = [...unwritten, ...walked.taken].filter((one) => !isSameEntry(one, own));
    const isAnyOver = await handOn(ports, lanes, work, others, handedOn);
    if (walked.taken.some((one) => isSameEntry(one, own))) {
      await lanes.unqueue(lane, own);
      return seen(true, false);
    }
    isFull ||= isAnyOver;
    if (!isAnyOver)
      return seen(
        false,
        walked.first.some((one) => isSameEntry(one, own)),
      );
  }
  return seen(false, true);
}

/**
 * Gives up a place if the execution ended before the write that would have recorded it: no other process
 * knows of this place.
 */
export async function leaveIfOver(ports: Ports, work: LaneWork, handedOn: HandedOn): Promise<void> {
  const { own } = work;
  const execution = await ports.store.readExecution(own.id);
  if (ports.lanes === undefined || !isFree(own, execution, ports.clock.now())) return;
  await leave(ports, ports.lanes, { ...work, how: 'leave', wasIn: false }, handedOn);
}

async function leave(ports: Ports, lanes: Lanes, work: LaneWork, handedOn: HandedOn): Promise<LaneDone> {
  const { lane, own, step, isOver } = work;
  const isOwn = (one: LaneEntry): boolean =>
    isOver ? one.id === own.id && one.life === own.life && one.epoch <= own.epoch : isSameEntry(one, own);
  if (!work.wasIn) await lanes.unqueue(lane, own);
  let isFull = false;
  for (let lap = 0; lap < MAX_LAPS; lap += 1) {
    const known = await lanes.readLane(lane);
    const holders = known?.holders ?? [];
    const rest = holders.filter((one) => !isOwn(one));
    // This process may have left the lane before, and died before the executions that it placed had recorded
    // their places.
    isFull ||= work.wasIn && lap === 0 && rest.length === holders.length;
    const { kept, unwritten } = isFull ? await checked(ports, rest) : { kept: rest, unwritten: [] };
    const most = limitOf(work, known);
    const room = most - kept.length;
    const walked = await walk(ports, lanes, work, { holders: kept, room, alive: FIRST });
    const after = nextLane(ports, work, known, [...kept, ...walked.taken], most);
    if (after !== undefined && (await lanes.writeLane(after)) === 'conflict') {
      await pause(ports, lap);
      continue;
    }
    for (const dead of walked.dead) await lanes.unqueue(lane, dead);
    const isAnyOver = await handOn(ports, lanes, work, [...unwritten, ...walked.taken], handedOn);
    isFull ||= isAnyOver;
    // Now sees an execution that queued before it could see the room.
    if (isAnyOver || (after !== undefined && walked.taken.length < room)) continue;
    await sideBySide(walked.first, FIRST, (one) => haveCheck(ports, one));
    return { type: 'lane-left', step };
  }
  throw new Error('the lane changed at every try to leave it');
}

const pause = ({ clock, random }: Ports, lap: number): Promise<void> =>
  clock.sleep(Math.floor(random.number() * RETRY_MS * (lap + 1)));

/**
 * Returns the limit to write. A start writes its own plan's limit, unless a later plan's is stored; all other
 * work keeps the stored one.
 */
const limitOf = ({ limitAt = -1, atMost }: LaneWork, known: Lane | undefined): number =>
  known === undefined || limitAt >= (known.limitAt ?? 0) ? atMost : known.atMost;

/** @returns undefined if the lane stays as it is */
function nextLane(
  { random, clock }: Ports,
  { lane, limitAt = 0 }: LaneWork,
  known: Lane | undefined,
  holders: readonly LaneEntry[],
  atMost: number,
): Lane | undefined {
  const before = known?.holders ?? [];
  const isSame =
    before.length === holders.length &&
    holders.every((one, at) => isSameEntry(one, before[at] as LaneEntry)) &&
    (known === undefined || known.atMost === atMost);
  if (isSame) return undefined;
  return {
    lane,
    life: known?.life ?? lifeOf(random.id()),
    version: (known?.version ?? 0) + 1,
    writeId: random.id(),
    atMost,
    limitAt: Math.max(limitAt, known?.limitAt ?? 0),
    holders: holders.map(({ id, life, epoch }) => ({ id, life, epoch })),
    ...defined({ emptyAt: holders.length === 0 ? clock.now() : undefined }),
  };
}

/**
 * N1 Returns the entries that still have a place, and those among them that their own records do not show.
 */
async function checked(
  { store, clock }: Ports,
  holders: readonly LaneEntry[],
): Promise<{ readonly kept: readonly LaneEntry[]; readonly unwritten: readonly LaneEntry[] }> {
  const found = await sideBySide(holders, SIDE_BY_SIDE, async (entry) => ({
    entry,
    execution: await store.readExecution(entry.id),
  }));
  const held = found.filter(({ entry, execution }) => !isFree(entry, execution, clock.now()));
  const open = held.filter(
    ({ entry, execution }) =>
      execution !== undefined &&
      isOpen(execution) &&
      execution.epoch === entry.epoch &&
      !isAdmitted(execution),
  );
  return { kept: held.map(({ entry }) => entry), unwritten: open.map(({ entry }) => entry) };
}

const isOpen = ({ status }: Execution): boolean => isUndecided(status);

interface Walked {
  readonly taken: readonly Queued[];
  /** Entries that will never be placed. */
  readonly dead: readonly Queued[];
  /** The first entries that stay queued; up to `alive` of them are known to be alive. */
  readonly first: readonly Queued[];
}

/** Reads the queue from its front, page by page, skipping dead and paused executions. */
async function walk(
  { store }: Ports,
  lanes: Lanes,
  { lane, own, how, isPaused }: LaneWork,
  { holders, room, alive }: { readonly holders: readonly LaneEntry[]; room: number; readonly alive: number },
): Promise<Walked> {
  const [taken, dead, first]: [Queued[], Queued[], Queued[]] = [[], [], []];
  const stateOf = async (one: Queued): Promise<'alive' | 'paused' | 'dead'> => {
    if (how !== 'leave' && isSameEntry(one, own)) return isPaused ? 'paused' : 'alive';
    const execution = await store.readExecution(one.id);
    if (!mayBePlaced(one, execution)) return 'dead';
    return isForward(execution.status) ? 'alive' : 'paused';
  };
  let cursor: string | undefined;
  do {
    const page = await lanes.queued(lane, room > 0 || alive > 0 ? QUEUE_PAGE : FIRST, cursor);
    for (const one of page.items) {
      const isDone = taken.length >= room && first.length >= Math.max(alive, FIRST);
      if (isDone) return { taken, dead, first };
      const isIn = holders.some((holder) => isSameEntry(holder, one));
      const isRead = !isIn && (taken.length < room || alive > 0);
      const state = isIn ? 'dead' : isRead ? await stateOf(one) : 'alive';
      if (state === 'dead') dead.push(one);
      else if (state === 'alive') (taken.length < room ? taken : first).push(one);
    }
    ({ cursor } = page);
  } while (cursor !== undefined && (taken.length < room || first.length < Math.max(alive, FIRST)));
  return { taken, dead, first };
}

/** @returns true if one of them had ended, so that its place is free again */
async function handOn(
  ports: Ports,
  lanes: Lanes,
  { lane, step }: LaneWork,
  placed: readonly (LaneEntry | Queued)[],
  handedOn: HandedOn,
): Promise<boolean> {
  let isAnyOver = false;
  for (const entry of placed) {
    const told = await tell(ports, entry, { step, placed: true, first: false });
    if (told === 'over') isAnyOver = true;
    else if (typeof told === 'object') handedOn.push(told);
    if ('place' in entry) await lanes.unqueue(lane, entry);
  }
  return isAnyOver;
}

/** N7 Sets a time at which the execution checks the lane, unless it has one. */
async function haveCheck(ports: Ports, one: Queued): Promise<void> {
  const execution = await ports.store.readExecution(one.id);
  if (execution?.life !== one.life || execution.epoch !== one.epoch) return;
  if (execution.lane?.checkAt !== undefined || !isForward(execution.status)) return;
  await tell(ports, one, { step: 'lane', placed: false, first: true });
}

type Told = 'over' | 'nothing' | { readonly id: string; readonly planId: string };

/** Writes another execution's own records. @returns 'over' if it has ended */
async function tell(
  ports: Ports,
  { id, life, epoch }: LaneEntry,
  seen: Pick<LaneDone & { readonly type: 'lane-seen' }, 'step' | 'placed' | 'first'>,
): Promise<Told> {
  for (;;) {
    const state = await ports.store.read(id);
    if (state?.execution.life !== life || state.execution.epoch !== epoch) return 'over';
    const { execution } = state;
    if (isTerminal(execution.status)) return 'over';
    const plan = await planFor(ports, execution.plan);
    const event = { type: 'lane-seen', epoch, ...seen, ...decisionInputsOf(ports) } as const;
    const deciding = decideWith(ports, plan, state, event);
    const { decision } = deciding instanceof Promise ? await deciding : deciding;
    if (decision.write === undefined) return 'nothing';
    if ((await commit(ports, decision, execution)) === 'conflict') continue;
    return seen.placed ? { id, planId: execution.plan } : 'nothing';
  }
}

/**
 * The maximum number that are carried on at a time if each ends at once; the others have their wake times.
 */
const MAX_CARRIED = 20;

/**
 * Carries on executions that got a place; if this process cannot, their wake times lead a supervisor to them.
 */
export async function carryOnHanded(ports: Ports, handedOn: HandedOn, reconcile: Reconcile): Promise<void> {
  for (let at = 0; at < Math.min(handedOn.length, MAX_CARRIED); at += 1) {
    const { id, planId } = handedOn[at] as HandedOn[number];
    const start = { by: 'agent', affected: 'all', handedOn } as const;
    await planFor(ports, planId)
      .then((plan) => reconcile(ports, plan, id, start))
      .catch(() => ports.log.note({ what: 'follow-up-failed', executionId: id }));
  }
}

/** The position in the queue, from 1, exact up to 100; undefined if the execution is not in the queue. */
export async function placeOf(lanes: Lanes, lane: string, own: LaneEntry): Promise<number | undefined> {
  const { items } = await lanes.queued(lane, MAX_EXACT + 1);
  const at = items.findIndex((one) => isSameEntry(one, own));
  return at < 0 ? undefined : at + 1;
}
export const MAX_EXACT = 100;
