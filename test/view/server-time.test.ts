/** Relative times are computed with the API's clock, as its answers show it. */

import { ServerTime } from '../../lib/view/server-time.ts';

const NOW = Date.parse('2026-11-29T12:00:00.400Z');
const HOUR = 3_600_000;

/** The current time that a call shows, for an API whose clock is ahead, after calls of these durations. */
async function afterCalls(aheadMs: number, ...tookMs: readonly number[]): Promise<number> {
  let own = NOW;
  const time = new ServerTime(() => own);
  for (const took of tookMs) {
    const answers: typeof fetch = async () => {
      own += took / 2;
      const date = new Date(own + aheadMs).toUTCString();
      own += took / 2;
      return new Response('{}', { headers: { date } });
    };
    await time.through(answers)('http://api');
  }
  return time.now() - (own + aheadMs);
}

test.each([0, 150, -150, 2 * HOUR, -2 * HOUR, 17_520 * HOUR])(
  'an API whose clock is %i ms ahead says the time, to a second',
  async (aheadMs) => {
    expect(Math.abs(await afterCalls(aheadMs, 60))).toBeLessThanOrEqual(1_060);
    expect(Math.abs(await afterCalls(aheadMs, 900, 60, 4_000, 60))).toBeLessThanOrEqual(1_060);
  },
);

test('clocks that agree as far as can be said are one', async () => {
  expect(await afterCalls(0, 60, 2_000)).toBe(0);
});

test('an answer that says no time changes none', async () => {
  const time = new ServerTime(() => NOW);
  await time.through(async () => new Response('{}'))('http://api');
  expect(time.now()).toBe(NOW);
});
