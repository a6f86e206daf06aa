/** The contract of every store of lanes: conditional writes of a lane's record, and its queue in order. */

import type { Inventory, Lanes } from '../../lib/core/ports.ts';
import type { Removable } from '../../lib/core/supervision/audit.ts';
import type { Lane, Queued } from '../../lib/core/records/lane.ts';

export interface OpenLanes {
  readonly lanes: Lanes;
  /** The inventory of the same table; absent if lanes are stored elsewhere. */
  readonly inventory?: Inventory;
  readonly close: () => Promise<void>;
}

const lane = (changes: Partial<Lane> = {}): Lane => ({
  lane: 'l1',
  life: 'a',
  version: 1,
  writeId: 'w-1',
  atMost: 2,
  holders: [{ id: 'e-1.s.0', life: 'x', epoch: 2 }],
  ...changes,
});
const queued = (id: string, place: number): Queued => ({ id, life: 'x', epoch: 1, place });

export function describeLanes(where: string, open: () => Promise<OpenLanes>): void {
  describe(`lanes, ${where}`, () => {
    let opened: OpenLanes;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    it('keeps a record one version after the other, of one life', async () => {
      const { lanes } = opened;
      expect(await lanes.readLane('l1')).toBeUndefined();
      expect(await lanes.writeLane(lane())).toBe('written');
      // The answer was lost.
      expect(await lanes.writeLane(lane())).toBe('written');
      expect(await lanes.writeLane(lane({ writeId: 'w-2' }))).toBe('conflict');
      const next = lane({ version: 2, writeId: 'w-3', holders: [], emptyAt: 1_700_000_000_000 });
      expect(await lanes.writeLane({ ...next, life: 'b' })).toBe('conflict');
      expect(await lanes.writeLane(next)).toBe('written');
      expect(await lanes.readLane('l1')).toEqual(next);
      expect(await lanes.readLane('l2')).toBeUndefined();
    });

    it('has a queue in the order of its places, then of ids, page by page', async () => {
      const { lanes } = opened;
      const all = [queued('e-3', 5), queued('e-1', 1_700_000_000_000), queued('e-2', 5), queued('e-0', 90)];
      for (const one of [...all, ...all]) await lanes.queue('l1', one);
      await lanes.queue('l2', queued('e-9', 0));
      await lanes.writeLane(lane());
      const { items, cursor } = await lanes.queued('l1', 3);
      expect(items.map(({ id }) => id)).toEqual(['e-2', 'e-3', 'e-0']);
      const rest = await lanes.queued('l1', 3, cursor);
      expect(rest.items).toEqual([queued('e-1', 1_700_000_000_000)]);
      for (const one of [queued('e-3', 5), queued('e-3', 5), { ...queued('e-2', 5), epoch: 2 }])
        await lanes.unqueue('l1', one);
      expect((await lanes.queued('l1', 9)).items.map(({ id }) => id)).toEqual(['e-2', 'e-0', 'e-1']);
    });

    it('shows an audit who is in a queue, and removes one of them', async () => {
      const { lanes, inventory } = opened;
      if (inventory === undefined) return;
      await lanes.writeLane(lane());
      for (const one of [queued('e-1.s.0', 5), queued('e-2', 6)]) await lanes.queue('l1', one);
      const all = { index: 0, of: 1 };
      const { items } = await inventory.page(all);
      expect(items).toEqual([
        { kind: 'queued', executionId: 'e-1.s.0', lane: 'l1', queued: queued('e-1.s.0', 5) },
        { kind: 'queued', executionId: 'e-2', lane: 'l1', queued: queued('e-2', 6) },
      ]);
      expect(await inventory.remove(items[0] as Removable)).toBe('removed');
      expect((await lanes.queued('l1', 9)).items).toEqual([queued('e-2', 6)]);
      expect((await lanes.readLane('l1'))?.version).toBe(1);
    });

    it('hashes what no key may show', () => {
      const { hash } = opened.lanes;
      expect(hash('acme')).toMatch(/^[a-z0-9]+$/);
      expect(hash('acme')).toBe(hash('acme'));
      expect(hash('acme')).not.toBe(hash('acne'));
    });
  });
}
