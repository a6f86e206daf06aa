/** Lanes in memory, with the conditions and the order of the real ones. */

import type { Lanes } from '../core/ports.ts';
import type { Lane, Queued } from '../core/records/lane.ts';
import { textHash } from './text-hash.ts';

const PLACE_DIGITS = 15;
const keyOf = ({ place, id, life, epoch }: Queued): string =>
  `${String(place).padStart(PLACE_DIGITS, '0')}#${id}#${life}#${epoch}`;

export interface MemoryLanes extends Lanes {
  readonly lanes: ReadonlyMap<string, Lane>;
  /** Returns the queue of a lane, the next first. */
  readonly inQueue: (lane: string) => readonly Queued[];
}

/** A queue with its keys sorted, because only the front of a long queue is read. */
interface Queue {
  readonly keys: string[];
  readonly byKey: Map<string, Queued>;
}

/** Returns the number of keys before this one. */
function placeIn(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function memoryLanes(): MemoryLanes {
  const lanes = new Map<string, Lane>();
  const queues = new Map<string, Queue>();
  const queueOf = (lane: string): Queue => {
    const known = queues.get(lane) ?? { keys: [], byKey: new Map<string, Queued>() };
    queues.set(lane, known);
    return known;
  };
  const itemsOf = ({ keys, byKey }: Queue, from: number, to?: number): Queued[] =>
    keys.slice(from, to).flatMap((key) => byKey.get(key) ?? []);
  return {
    lanes,
    inQueue: (lane) => itemsOf(queueOf(lane), 0),
    hash: textHash,
    readLane: async (lane) => lanes.get(lane),
    writeLane: async (record) => {
      const before = lanes.get(record.lane);
      if (before?.writeId === record.writeId) return 'written';
      const follows = (before?.version ?? 0) === record.version - 1;
      if (!follows || (before !== undefined && before.life !== record.life)) return 'conflict';
      lanes.set(record.lane, record);
      return 'written';
    },
    queue: async (lane, queued) => {
      const { keys, byKey } = queueOf(lane);
      const key = keyOf(queued);
      if (!byKey.has(key)) keys.splice(placeIn(keys, key), 0, key);
      byKey.set(key, queued);
    },
    queued: async (lane, limit, cursor) => {
      const queue = queueOf(lane);
      const from = cursor === undefined ? 0 : placeIn(queue.keys, `${cursor}\0`);
      const to = from + limit;
      const last = queue.keys[to - 1];
      const items = itemsOf(queue, from, to);
      return queue.keys.length > to && last !== undefined ? { items, cursor: last } : { items };
    },
    unqueue: async (lane, queued) => {
      const { keys, byKey } = queueOf(lane);
      const key = keyOf(queued);
      if (byKey.delete(key)) keys.splice(placeIn(keys, key), 1);
    },
  };
}
