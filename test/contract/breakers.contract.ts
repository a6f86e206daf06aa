/**
 * What every place for breakers, and for what their openings leave, must do: one
 * record, one version after the other.
 */

import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { Outage } from '../../lib/core/step/outage.ts';
import type { Breakers, Outages } from '../../lib/core/ports.ts';

export interface BreakersUnderTest {
  /** Empty. */
  readonly breakers: Breakers;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;
const closed = (changes: Partial<Breaker> = {}): Breaker => ({
  agent: 'charge-card',
  version: 1,
  writeId: 'w-1',
  score: 3,
  failedAt: T,
  cooldowns: 0,
  ...changes,
});
/** Every optional field is there. */
const open = closed({
  agent: 'ship',
  failure: { code: 'TransientError', message: 'ünavailable' },
  openedAt: T,
  openUntil: T + 10_000,
  cooldowns: 2,
  trial: 'w-0',
  trialUntil: T + 60_000,
  closedAt: T - 5,
  calls: [{ executionId: 'e-1', step: 'a', attempt: 1, mode: 'execute', at: T, unknown: true }],
  openings: [T - 9, T],
  pause: { at: T, by: { kind: 'local', name: 'ann' }, reason: 'asked to' },
  lastPause: { at: T - 9, reason: 'before', endedAt: T - 7, endedBy: { kind: 'local', name: 'bob' } },
});

export function describeBreakers(title: string, start: () => Promise<BreakersUnderTest>): void {
  describe(`breakers contract: ${title}`, () => {
    let breakers: Breakers;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ breakers, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('are none where no call has failed', async () => {
      expect(await breakers.read('charge-card')).toBeUndefined();
    });

    it('are read back as they were written, each under its agent', async () => {
      for (const breaker of [closed(), open]) expect(await breakers.write(breaker)).toBe('written');
      expect(await breakers.read('charge-card')).toStrictEqual(closed());
      expect(await breakers.read('ship')).toStrictEqual(open);
    });

    it('follow each other: of two with one version one is a conflict (S3)', async () => {
      expect(await breakers.write(closed({ version: 2 }))).toBe('conflict');
      expect(await breakers.write(closed())).toBe('written');
      expect(await breakers.write(closed({ writeId: 'w-2' }))).toBe('conflict');
      expect(await breakers.write(closed({ version: 2, writeId: 'w-3' }))).toBe('written');
      expect(await breakers.write(closed({ version: 2, writeId: 'w-4' }))).toBe('conflict');
      expect((await breakers.read('charge-card'))?.writeId).toBe('w-3');
    });

    it('know their own write behind an answer that was lost (S15)', async () => {
      await breakers.write(closed());
      expect(await breakers.write(closed())).toBe('written');
    });
  });
}

export interface OutagesUnderTest {
  /** Empty. */
  readonly outages: Outages;
  readonly close: () => Promise<void>;
}

export function describeOutages(title: string, start: () => Promise<OutagesUnderTest>): void {
  describe(`outages contract: ${title}`, () => {
    const outage: Outage = {
      agent: 'ship',
      version: 1,
      writeId: 'w-1',
      beganAt: T - 9,
      openedAt: T,
      closedAt: T + 9,
      failure: { code: 'Error', message: 'ünavailable' },
      calls: open.calls ?? [],
      failed: 1,
    };

    it('are one record for each opening of each agent, one version after the other (S3, S15)', async () => {
      const { outages, close } = await start();
      expect(await outages.read('ship', T)).toBeUndefined();
      const later = { ...outage, openedAt: T + 1 };
      for (const one of [outage, later, outage]) expect(await outages.write(one)).toBe('written');
      expect(await outages.write({ ...outage, writeId: 'w-2' })).toBe('conflict');
      expect(await outages.write({ ...outage, version: 2, writeId: 'w-3' })).toBe('written');
      expect(await outages.read('ship', T)).toStrictEqual({ ...outage, version: 2, writeId: 'w-3' });
      expect(await outages.read('ship', T + 1)).toStrictEqual(later);
      expect(await outages.read('charge-card', T)).toBeUndefined();
      await close();
    });
  });
}
