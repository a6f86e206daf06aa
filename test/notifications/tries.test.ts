/** How often a notification is tried, and by which id a receiver knows an event. */

import { idOf } from '../../lib/notifications/signed-event.ts';
import { gapMs, GIVEN_UP_AFTER_MS, TRIES_OF_A_DAY } from '../../lib/notifications/tries.ts';

test('the tries of a day last a day, whatever their receiver asks for', () => {
  const lasts = (wishMs: number): number =>
    Array.from({ length: TRIES_OF_A_DAY - 1 }, (_, at) => gapMs(at + 1, wishMs)).reduce(
      (sum, ms) => sum + ms,
      0,
    );
  expect(lasts(0)).toBeGreaterThanOrEqual(GIVEN_UP_AFTER_MS);
  expect(lasts(0)).toBeLessThan(GIVEN_UP_AFTER_MS + 600_000);
  expect(lasts(3_600_000)).toBeLessThan(GIVEN_UP_AFTER_MS + 3_600_000);
});

test('two events of one moment have two ids, whatever they are about', () => {
  const about = { executionId: 'e-1', incident: 1, step: 's', change: 'opened', agent: 'a', workflow: 'w' };
  const of = (detail: object): string =>
    idOf({ source: 'steadfast', detailType: 'Steadfast Question', at: 1, detail: { ...detail } });
  const others = Object.keys(about).map((field) => ({ ...about, [field]: 'another' }));
  expect(new Set([about, ...others].map(of)).size).toBe(others.length + 1);
  expect(of({ ...about, deadlineAt: 9 })).toBe(of(about));
});
