/** The bill of a month follows from settings, counts and prices. */

import { BILL_DEFAULTS, type BillSettings, billOf, monthlyBills } from '../../bench/parts/bill.ts';
import type { Units } from '../../bench/parts/prices.ts';

const units: Units = {
  writeUnits: 16,
  readUnits: 5,
  sqsRequests: 15,
  lambdaRequests: 6,
  lambdaGbSeconds: 0.07,
  events: 1,
  apiRequests: 1,
  logBytes: 2_500,
};
const use = { executions: 2_000_000, steps: 10_000_000, units };
const withSettings = (changed: Partial<BillSettings>) => billOf({ ...BILL_DEFAULTS, ...changed }, use);

test.each<[string, Partial<BillSettings>, string]>([
  ['the audit', { auditEveryHours: 12 }, 'audit, reads'],
  ['the sweeps', { sweepEveryMs: 1_000 }, 'supervisors'],
])('half the interval of %s moves the sum by its line', (_, changed, line) => {
  const [before, after] = [withSettings({}), withSettings(changed)];
  const moved = (after.lines[line] ?? 0) - (before.lines[line] ?? 0);
  expect(moved).toBeGreaterThan(0.1);
  expect(after.total - before.total).toBeCloseTo(moved, 6);
});

test('the audit that reads each day costs a 24th of one that reads each hour', () => {
  const [day, hour] = [withSettings({}), withSettings({ auditEveryHours: 1, auditMegabytes: 100_000 })];
  expect((hour.lines['audit, reads'] ?? 0) / (day.lines['audit, reads'] ?? 1)).toBeCloseTo(24, 6);
});

test('a month has no line below nothing, and an idle one no steps', () => {
  const bills = monthlyBills(units);
  for (const { lines, total } of bills) {
    expect(Math.min(...Object.values(lines))).toBeGreaterThanOrEqual(0);
    expect(total).toBeCloseTo(
      Object.values(lines).reduce((sum, one) => sum + one, 0),
      9,
    );
  }
  expect(bills[0]?.lines).toMatchObject({ steps: 0, API: 0, logs: 0, 'audit, reads': 0 });
});
