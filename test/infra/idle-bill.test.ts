/** A bound of the monthly cost of an idle deployment, with few and with many agents. */

import type { CostReport } from '../../bench/cost.ts';
import { BILL_DEFAULTS, monthlyBills } from '../../bench/parts/bill.ts';
import { PRICES } from '../../bench/parts/prices.ts';
import { resultOf } from '../../bench/parts/results.ts';
import { FOUND } from './fixture.ts';
import { makeStack, Reader } from './template.ts';

const counted = (resultOf('cost') as CostReport).cases[0]!.units;

/** Counts the resources that AWS charges for in an idle deployment with this many agents. */
function idleCounts(
  agents: number,
  hosting: 'own' | 'shared',
): { queues: number; alarmed: number; dashboards: number } {
  const [agent] = FOUND.agents;
  const names = Array.from({ length: agents }, (_, n) => `agent-${n}`);
  const workflows = {
    ...FOUND,
    workflows: [{ ...FOUND.workflows[0]!, agents: names }],
    agents: names.map((name) => ({ ...agent!, name, peers: names })),
  };
  const reader = new Reader(makeStack({ workflows, hosting, accountConcurrency: 10_000 }));
  const alarmed = reader.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => {
    const { Metrics: metrics } = Properties as { Metrics?: readonly { MetricStat?: unknown }[] };
    return metrics?.filter(({ MetricStat: stat }) => stat !== undefined).length ?? 1;
  });
  return {
    queues: reader.ofType('AWS::Lambda::EventSourceMapping').length,
    alarmed: alarmed.reduce((sum, one) => sum + one, 0),
    dashboards: reader.ofType('AWS::CloudWatch::Dashboard').length,
  };
}

test.each([
  [4, 'own', 4, 9.6],
  [60, 'own', 60, 30],
  [60, 'shared', 1, 24.1],
] as const)(
  'an idle month of %d agents, hosting %s, is what queues, alarms and dashboard cost',
  (agents, hosting, functions, mostUsd) => {
    const { lines, total } = monthlyBills(counted, { ...BILL_DEFAULTS, agents, functions })[0]!;
    const { queues, alarmed, dashboards } = idleCounts(agents, hosting);
    const { polledQueue, alarm, dashboard } = PRICES.usd;
    expect(lines['polling']).toBeCloseTo(queues * polledQueue, 9);
    expect(lines['alarms']).toBeCloseTo(alarmed * alarm, 9);
    expect(lines['dashboard']).toBeCloseTo(dashboards * dashboard, 9);
    expect(total).toBeLessThanOrEqual(mostUsd);
  },
);
