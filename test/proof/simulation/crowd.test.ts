/**
 * P4: all agents that send heartbeats without progress are caught in time, and no advancing agent is
 * affected.
 */

import { LEASE_MARGIN_MS } from '../../../lib/core/step/lease.ts';
import { SWEEP_EVERY_MS } from '../../../lib/supervisor/sweep.ts';
import { runCrowd } from './crowd.ts';

/** `CROWD=10000 npm test -- …` runs as many as the numbers in docs/PROOF.md. */
const SLOW = Number(process.env['CROWD'] ?? 400);

const never = new Promise<never>(() => undefined);

describe('a crowd of agents', () => {
  it('200 wedged ones that go on beating: each is caught within progressWithin and one sweep', async () => {
    const { beganAt, touched, heartbeats } = await runCrowd({
      executions: 200,
      timeout: '5m',
      progressWithin: '45s',
      execute: () => never,
      forMs: 100_000,
    });
    expect(beganAt.size).toBe(200);
    // Alive: three heartbeats in each lease of 30 s, until the lease may no longer be renewed.
    expect(heartbeats).toBeGreaterThan(200 * 3);
    const late = [...beganAt].map(([executionId, at]) => {
      const caught = touched.find(({ note }) => note.executionId === executionId);
      expect(caught?.note.what).toBe('lease-ended');
      return (caught?.at ?? Number.POSITIVE_INFINITY) - at - 45_000;
    });
    expect(Math.max(...late)).toBeLessThanOrEqual(LEASE_MARGIN_MS + SWEEP_EVERY_MS + LOOKS_MS);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  });

  it('slow ones that advance, however many: none is touched, and all succeed at their first attempt', async () => {
    const { touched, heartbeats, succeeded } = await runCrowd({
      executions: SLOW,
      timeout: '5m',
      progressWithin: '30s',
      execute: async (ctx, sleep) => {
        for (let block = 0; block < 2; block += 1) {
          await sleep(29_000);
          ctx.progress(block);
        }
        return {};
      },
      forMs: 80_000,
    });
    expect([succeeded, touched.length]).toEqual([SLOW, 0]);
    expect(heartbeats).toBeGreaterThan(SLOW * 5);
  });
});

/** The time that the evaluations of one sweep take, eight at once. */
const LOOKS_MS = 1_000;
