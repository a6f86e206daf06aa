/**
 * The contract of every store of records outside executions: one record for each key, and only the next
 * version is accepted.
 */

import type { WorkflowPause } from '../../lib/core/holds/workflow-pause.ts';
import type { SideRecord, SideRecords } from '../../lib/core/ports.ts';
import type { OpenWaits } from '../../lib/core/records/open-waits.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { AgentRate } from '../../lib/core/records/slots.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';

const T = 1_700_000_000_000;
const by = { kind: 'local', name: 'ann' } as const;

type Samples<Kept, Key> = readonly (readonly [key: Key, record: Kept])[];

export const RATES: Samples<AgentRate, [string]> = [
  [['charge-card'], { agent: 'charge-card', version: 1, writeId: 'w-1', givenUntil: T + 20, lastTurnOf: {} }],
  [
    ['ship'],
    {
      agent: 'ship',
      version: 1,
      writeId: 'w-1',
      perSecond: 1 / 3,
      givenUntil: T + 1_000 / 3,
      lastTurnOf: { '-': T + 2_000, a1b2: T + 40 },
    },
  ],
];

/** First versions under different keys. The second has every optional field. */
export const BREAKERS: Samples<Breaker, [string]> = [
  [
    ['charge-card'],
    { agent: 'charge-card', version: 1, writeId: 'w-1', score: 3, failedAt: T, cooldowns: 0 },
  ],
  [
    ['ship'],
    {
      agent: 'ship',
      version: 1,
      writeId: 'w-1',
      score: 3,
      failedAt: T,
      failure: { code: 'TransientError', message: 'ünavailable' },
      failingSince: T - 3,
      unanswered: { since: T - 60_000, calls: 3 },
      bugs: { since: T - 2, at: T, attempts: 4, failure: { code: 'bug', message: 'a bug in agent ship' } },
      openedAt: T,
      openUntil: T + 10_000,
      cooldowns: 2,
      trial: 'w-0',
      trialUntil: T + 60_000,
      closedAt: T - 5,
      calls: [{ executionId: 'e-1', step: 'a', attempt: 1, mode: 'execute', at: T }],
      pause: { at: T, by, reason: 'asked to' },
      lastPause: { at: T - 9, reason: 'before', endedAt: T - 7, endedBy: { kind: 'local', name: 'bob' } },
    },
  ],
];

export const WORKFLOW_PAUSES: Samples<WorkflowPause, [string]> = [
  [['refund'], { workflow: 'refund', version: 1, writeId: 'w-1' }],
  [
    ['order'],
    {
      workflow: 'order',
      version: 1,
      writeId: 'w-1',
      pause: { at: T, by, reason: 'çlosed', withinMs: 60_000 },
      lastPause: { at: T - 9, by, reason: 'before', withinMs: 5, endedAt: T - 1, endedBy: by },
    },
  ],
];

export const PRESENCES: Samples<Presence, []> = [[[], { version: 1, writeId: 'w-1', untilAt: T }]];
export const WAITS: Samples<OpenWaits, []> = [
  [[], { version: 1, writeId: 'w-1', waits: [{ id: 'w', untilAt: T }] }],
];

export interface SideRecordsUnderTest<Kept extends SideRecord, Key extends readonly unknown[]> {
  /** Empty at the start. */
  readonly records: SideRecords<Kept, Key>;
  readonly close: () => Promise<void>;
}

export function describeSideRecords<Kept extends SideRecord, Key extends readonly unknown[]>(
  title: string,
  samples: Samples<Kept, Key>,
  start: () => Promise<SideRecordsUnderTest<Kept, Key>>,
): void {
  describe(`contract of records beside executions: ${title}`, () => {
    let records: SideRecords<Kept, Key>;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ records, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('are absent at first, and are read back unchanged, each under its key', async () => {
      for (const [key, record] of samples) {
        expect(await records.read(...key)).toBeUndefined();
        expect(await records.write(record)).toBe('written');
      }
      for (const [key, record] of samples) expect(await records.read(...key)).toStrictEqual(record);
    });

    it.each(samples)(
      'follow each other: of two with one version one is a conflict (S3), and an own write is known (S15): %j',
      async (key, first) => {
        const second = { ...first, version: 2, writeId: 'w-3' };
        expect(await records.write(second)).toBe('conflict');
        expect(await records.write(first)).toBe('written');
        expect(await records.write(first)).toBe('written');
        expect(await records.write({ ...first, writeId: 'w-2' })).toBe('conflict');
        expect(await records.write(second)).toBe('written');
        expect(await records.write(second)).toBe('written');
        expect(await records.write({ ...second, writeId: 'w-4' })).toBe('conflict');
        expect(await records.read(...key)).toStrictEqual(second);
      },
    );
  });
}
