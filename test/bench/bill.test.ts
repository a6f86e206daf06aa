/** Computing a month's bill from settings, counts and prices. */

import {
  BILL_DEFAULTS,
  type BillSettings,
  billOf,
  billOfOneHost,
  METRICS,
  monthlyBills,
} from '../../bench/parts/bill.ts';
import type { CostReport } from '../../bench/cost.ts';
import { PRICES, type Units } from '../../bench/parts/prices.ts';
import { resultOf } from '../../bench/parts/results.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { createMeter, type Meter } from '../../lib/aws/metrics.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

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

test('an idle month of supervisors costs what bench:cost counts', () => {
  const [idle] = (resultOf('cost') as CostReport).situations!.list;
  expect(monthlyBills(units)[0]!.lines['supervisors']).toBeCloseTo(idle!.usd, 2);
});

test('removals are writes, and another supervisor and another function cost more', () => {
  const { lines } = withSettings({});
  expect(lines['audit, removals']).toBeCloseTo(use.steps * PRICES.usd.writeUnits, 9);
  const moved = (changed: Partial<BillSettings>, line: string) =>
    (withSettings(changed).lines[line] ?? 0) - (lines[line] ?? 0);
  expect(moved({ supervisors: 3 }, 'supervisors')).toBeGreaterThan(0.1);
  expect(moved({ agents: 5 }, 'alarms')).toBeCloseTo(PRICES.usd.alarm, 9);
  expect(moved({ agents: 5, functions: 4 }, 'alarms')).toBeCloseTo(0, 9);
});

test('one host has one alarmed function, and a metric of what it carries on', () => {
  const [own, shared] = [withSettings({}).lines, billOfOneHost(units).lines];
  const changed = Object.keys(own).filter((line) => own[line] !== shared[line]);
  expect(changed).toEqual(['metrics', 'alarms']);
  expect((own['alarms'] ?? 0) - (shared['alarms'] ?? 0)).toBeCloseTo(3 * PRICES.usd.alarm, 9);
  expect((shared['metrics'] ?? 0) - (own['metrics'] ?? 0)).toBeCloseTo(PRICES.usd.metric, 9);
});

/** The names of the metrics that are written. */
async function metricsOf(removed: number, act: (meter: Meter) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = [];
  const meter = createMeter({ deployment: 'd', fields: {}, onLine: (line) => void lines.push(line) });
  meter.swept({ made: 1, oldestOverdueMs: 0, failed: 0 });
  meter.open({ incidents: 0, entries: 0, breakers: 0 });
  meter.audited({ removed, ageMs: 1 });
  await act(meter);
  meter.flush();
  const written = lines.map(
    (line) =>
      JSON.parse(line) as {
        readonly _aws: {
          readonly CloudWatchMetrics: readonly [{ readonly Metrics: readonly { readonly Name: string }[] }];
        };
      },
  );
  return [
    ...new Set(written.flatMap(({ _aws }) => _aws.CloudWatchMetrics[0].Metrics.map(({ Name }) => Name))),
  ];
}

test('a month without faults is charged for the metrics that roles write in it', async () => {
  expect(await metricsOf(0, async () => undefined)).toHaveLength(METRICS.idle);
  const agents = ['a', 'b', 'c', 'd', 'e'].map((name) => anAgent(name));
  const chain5 = workflow('chain5', { input: anyObject, within: '1h' }, (w) => {
    let last = w.step('s0', agents[0]!, {});
    for (const [at, agent] of agents.entries())
      if (at > 0) last = w.step(`s${at}`, agent, { before: last.output });
  });
  const work = Object.fromEntries(agents.map(({ spec }) => [spec.name, { execute: async () => ({}) }]));
  const names = await metricsOf(5, async (meter) => {
    const h = harness(chain5, work, 1, (world) => ({
      ...world,
      log: { note: (note, origin) => meter.note(note, origin) },
    }));
    expect((await h.run((await h.begin()).id)).execution.status).toBe('succeeded');
    meter.note({ what: 'carried-on' });
  });
  expect(names).toHaveLength(METRICS.busy + METRICS.carriedOn);
});
