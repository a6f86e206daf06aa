/** What every place for breakers must do: one record per agent, one version after the other. */

import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { Breakers } from '../../lib/core/ports.ts';

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
