/**
 * Checks the model's smallest configurations, and that without any one of its rules the search finds a
 * violation. Larger ones: `npm run model`; all ablations: `npm run model -- --ablate all`.
 */

import { CONFIGS, SMALL } from '../../../proof/model/config.ts';
import { ABLATIONS, DEFERRAL_RULES } from '../../../proof/model/rules.ts';
import { runConfig } from '../../../proof/model/run.ts';

const configOf = (name: string) => CONFIGS.find((config) => config.name === name)!;

describe('the model', () => {
  it.each(SMALL.map(({ name }) => name))(
    '%s: closed, nothing violated, nothing stuck (S1–S12, L1)',
    (name) => {
      const { states, closed, violations, stuck, unreached } = runConfig(configOf(name));
      expect({ closed, violations, stuck, unreached }).toEqual({
        closed: true,
        violations: 0,
        stuck: 0,
        unreached: [],
      });
      expect(states).toBeGreaterThan(10);
    },
  );

  it.each([
    ['fence', 'S10'],
    ['sinkRead', 'L1'],
    ['sendFirst', 'L1'],
    ['processDeadline', 'S10'],
    ['token', 'S5'],
    ['version', 'S4'],
    ['probe', 'S6'],
    ['hRule', 'S12'],
    ['endWake', 'L1'],
    ['order', 'S10'],
    ['pauseWatched', 'S12'],
    ['childStop', 'S10'],
    ['acceptance', 'S10'],
  ])('without the rule "%s" it finds a violation of %s', (name, invariant) => {
    const ablation = ABLATIONS[name]!;
    const { violations, stuck, first } = runConfig(configOf(ablation.run), { rules: ablation });
    expect(violations + stuck).toBeGreaterThan(0);
    expect(first?.problems[0]?.slice(0, invariant.length)).toBe(invariant);
  });

  it('without the transaction of a late success the wake time stays far away (S12)', () => {
    const config = { ...configOf('one-idempotent'), cancel: false, heartbeats: false, failures: 0 };
    expect(runConfig(config, { rules: DEFERRAL_RULES })).toMatchObject({
      closed: true,
      violations: 0,
      stuck: 0,
    });
    expect(runConfig(config, { rules: ABLATIONS['lateTx']! }).first?.problems[0]).toMatch(/^S12/);
  });

  it('says so when a goal of a run is never reached', () => {
    const config = { ...configOf('one-paused'), pauses: 0 };
    expect(runConfig(config).unreached).toEqual(['paused', 'begun', 'resumed']);
  });

  it('stops at the bound and says so', () => {
    expect(runConfig(configOf('one-live'), { maxStates: 100 }).closed).toBe(false);
  });
});
