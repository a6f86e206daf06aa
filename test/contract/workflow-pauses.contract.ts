/** What every place for pauses of workflows must do: one record per workflow, one version after the other. */

import type { WorkflowPause } from '../../lib/core/holds/workflow-pause.ts';
import type { WorkflowPauses } from '../../lib/core/ports.ts';

export interface WorkflowPausesUnderTest {
  /** Empty. */
  readonly pauses: WorkflowPauses;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;
const by = { kind: 'local', name: 'ann' } as const;
/** Every optional field is there. */
const paused = (changes: Partial<WorkflowPause> = {}): WorkflowPause => ({
  workflow: 'order',
  version: 1,
  writeId: 'w-1',
  pause: { at: T, by, reason: 'çlosed', withinMs: 60_000 },
  lastPause: {
    at: T - 9,
    by,
    reason: 'before',
    withinMs: 5,
    endedAt: T - 1,
    endedBy: by,
  },
  ...changes,
});

export function describeWorkflowPauses(title: string, start: () => Promise<WorkflowPausesUnderTest>): void {
  describe(`pauses of workflows contract: ${title}`, () => {
    let pauses: WorkflowPauses;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ pauses, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('are none at first, and are read back as they were written, each under its workflow', async () => {
      expect(await pauses.read('order')).toBeUndefined();
      const other: WorkflowPause = {
        workflow: 'refund',
        version: 1,
        writeId: 'w-2',
      };
      for (const pause of [paused(), other]) expect(await pauses.write(pause)).toBe('written');
      expect(await pauses.read('order')).toStrictEqual(paused());
      expect(await pauses.read('refund')).toStrictEqual(other);
    });

    it('follow each other: of two with one version one is a conflict (S3), and an own write is known (S15)', async () => {
      expect(await pauses.write(paused({ version: 2 }))).toBe('conflict');
      expect(await pauses.write(paused())).toBe('written');
      expect(await pauses.write(paused())).toBe('written');
      expect(await pauses.write(paused({ writeId: 'w-2' }))).toBe('conflict');
      expect(await pauses.write(paused({ version: 2, writeId: 'w-3' }))).toBe('written');
      expect((await pauses.read('order'))?.writeId).toBe('w-3');
    });
  });
}
