/** Lanes in memory, with the conditions and the order of the real ones. */

import type { Lanes } from '../core/ports.ts';
import type { Lane, Queued } from '../core/records/lane.ts';
import { textHash } from './text-hash.ts';

const PLACE_DIGITS = 15;
const keyOf = ({ place, id, life, epoch }: Queued): string =>
  `${String(place).padStart(PLACE_DIGITS, '0')}#${id}#${life}#${epoch}`;

export interface MemoryLanes extends Lanes {
  readonly lanes: ReadonlyMap<string, Lane>;
  /** The next first. */
  readonly inQueue: (lane: string) => readonly Queued[];
}

export function memoryLanes(): MemoryLanes {
  const lanes = new Map<string, Lane>();
  const queues = new Map<string, Map<string, Queued>>();
  const queueOf = (lane: string): Map<string, Queued> => {
    const known = queues.get(lane) ?? new Map<string, Queued>();
    queues.set(lane, known);
    return known;
  };
  return {
    lanes,
    inQueue: (lane) =>
      [...queueOf(lane).entries()]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, queued]) => queued),
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
    queue: async (lane, queued) => void queueOf(lane).set(keyOf(queued), queued),
    queued: async (lane, limit, cursor = '') => {
      const rest = [...queueOf(lane).keys()].filter((key) => key > cursor).sort();
      const keys = rest.slice(0, limit);
      const items = keys.flatMap((key) => queueOf(lane).get(key) ?? []);
      const last = keys.at(-1);
      return rest.length > limit && last !== undefined ? { items, cursor: last } : { items };
    },
    unqueue: async (lane, queued) => void queueOf(lane).delete(keyOf(queued)),
  };
}
