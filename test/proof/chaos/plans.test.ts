/**
 * The plan that chaos draws from a seed is reproducible, has every kind of fault, and a plausible outside
 * world.
 */

import { AGENTS, faultPlan, FUNCTIONS, type PlannedFault } from '../../../proof/chaos/fault-plan.ts';
import { plannedOrder } from '../../../proof/chaos/order-plan.ts';
import { drawsOf } from '../../../kit/cloud/random.ts';

const MINUTE = 60_000;
const SEEDS = Array.from({ length: 20 }, (_, seed) => seed * 7_919);
const KINDS = [
  'freeze',
  'store-restart',
  'ambiguous',
  'throttle',
  'late-index',
  'refused-index',
  'no-concurrency',
] as const;
const of = (plan: readonly PlannedFault[], kind: string): readonly PlannedFault[] =>
  plan.filter(({ fault }) => fault.kind === kind);

describe('the random source', () => {
  it('give the same numbers for the same seed and stream, others for others', () => {
    const draw = (seed: number, stream: number): number[] => {
      const { random } = drawsOf(seed, stream);
      return [random(), random(), random()];
    };
    expect(draw(7, 1)).toEqual(draw(7, 1));
    expect(draw(7, 1)).not.toEqual(draw(7, 2));
    expect(draw(7, 1)).not.toEqual(draw(8, 1));
  });

  it('stay in their bounds and reach them', () => {
    const draws = drawsOf(3);
    const drawn = Array.from({ length: 2_000 }, () => draws.between(2, 5));
    expect(new Set(drawn)).toEqual(new Set([2, 3, 4, 5]));
    const shares = Array.from({ length: 2_000 }, () => draws.chance(0.25)).filter(Boolean).length;
    expect(shares).toBeGreaterThan(400);
    expect(shares).toBeLessThan(600);
  });
});

describe('the plan of faults', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(faultPlan(42, 5 * MINUTE)).toEqual(faultPlan(42, 5 * MINUTE));
    expect(faultPlan(42, 5 * MINUTE)).not.toEqual(faultPlan(43, 5 * MINUTE));
  });

  it.each([1, 5, 30])('of %d minutes has every kind of fault, in order and in time', (minutes) => {
    for (const seed of SEEDS) {
      const plan = faultPlan(seed, minutes * MINUTE);
      const times = plan.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(Math.min(...times)).toBeGreaterThan(0);
      expect(Math.max(...times)).toBeLessThan(minutes * MINUTE);
      for (const kind of KINDS) {
        expect([seed, kind, of(plan, kind).length]).not.toEqual([seed, kind, 0]);
      }
      const killed = new Set(of(plan, 'kill').map(({ fault }) => 'target' in fault && fault.target));
      expect([seed, killed]).toEqual([seed, new Set(FUNCTIONS)]);
    }
  });

  it('of 5 minutes asks for far more than 100 kills, and for several of the supervisor', () => {
    for (const seed of SEEDS) {
      const kills = of(faultPlan(seed, 5 * MINUTE), 'kill');
      expect(kills.length).toBeGreaterThan(180);
      const ofSupervisor = kills.filter(({ fault }) => 'target' in fault && fault.target === 'supervisor');
      expect(ofSupervisor).toHaveLength(3);
    }
  });

  it('restarts the store also while kills are recovered from', () => {
    const plan = faultPlan(5, 30 * MINUTE);
    const kills = of(plan, 'kill').map(({ atMs }) => atMs);
    const during = of(plan, 'store-restart').filter(({ atMs }) =>
      kills.some((kill) => atMs - kill >= 5_500 && atMs - kill <= 9_000),
    );
    expect(during.length).toBeGreaterThan(30);
  });
});

describe('an order', () => {
  const orders = Array.from({ length: 2_000 }, (_, index) => plannedOrder(9, index));

  it('is the same for the same seed and number', () => {
    expect(plannedOrder(9, 17)).toEqual(orders[17]);
    expect(plannedOrder(10, 17)).not.toEqual(orders[17]);
  });

  it('has rules of its own only, and no service takes effect later than it was declared to', () => {
    const foreign = orders.filter(({ key, rules }) => rules.some((rule) => rule.match?.about !== key));
    const late = orders.flatMap(({ rules }) =>
      rules.filter(({ mode, ms = 0 }) => mode === 'slow' && ms >= 1_000),
    );
    expect([foreign, late]).toEqual([[], []]);
  });

  it('meets every misbehaviour there is, is repeated and canceled now and then, and is mostly left alone', () => {
    const modes = new Set(orders.flatMap(({ rules }) => rules.map(({ mode }) => mode)));
    expect(modes).toEqual(new Set(['decline', 'drop-reply', 'hang', 'slow', 'slow-reply', 'unavailable']));
    const share = (test: (order: (typeof orders)[number]) => boolean): number =>
      orders.filter(test).length / orders.length;
    expect(share(({ repeatAfterMs }) => repeatAfterMs !== undefined)).toBeCloseTo(0.1, 1);
    expect(share(({ cancelAfterMs }) => cancelAfterMs !== undefined)).toBeCloseTo(0.06, 1);
    expect(share(({ rules }) => rules.length <= AGENTS.length)).toBeGreaterThan(0.4);
  });
});
