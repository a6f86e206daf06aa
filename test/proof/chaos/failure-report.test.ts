/**
 * The verdict on a run of the failure workflows, the features that the run covers, and the draws from its
 * seed.
 */

import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { type Features, featuresOf } from '../../../proof/chaos/failure/features.ts';
import { plannedFailure, TOLERATED_SHARE } from '../../../proof/chaos/failure/plan.ts';
import { failuresOf, reportFailure, STRUCK } from '../../../proof/chaos/failure/report.ts';
import { holiday, launch, order, rollout } from '../../../proof/chaos/failure/workflow.ts';
import {
  ended,
  FULFILLED,
  FULFILLED_LEDGER,
  ledger,
  plans,
  record,
  snapshot,
  TAKEN_BACK,
  TAKEN_BACK_LEDGER,
} from './failure-evidence.ts';
import { TALLY } from './tally.ts';

describe('the report', () => {
  const run = (snapshots: readonly Snapshot[], lines: readonly string[], minutes = 1) =>
    reportFailure({
      minutes,
      seed: 1,
      seconds: 70,
      healSeconds: 3,
      table: { snapshots, plans },
      entries: ledger(...lines),
      keys: [{ key: 'order-1', executionIds: ['o'] }],
      clientProblems: [],
      tally: TALLY,
      strikes: [],
      claims: [],
      withoutSupervisor: [],
      deadLetters: [],
      events: snapshots.map(({ execution: { id, status } }) => ended(id, status)),
      machine: { processors: 2, load: 1, lateMs: 12 },
      planned: new Map([['order-1', { scene: 'order', ends: ['succeeded'] }]]),
      answered: {},
    });

  it('counts, and fails by any of it', () => {
    expect(run([FULFILLED], FULFILLED_LEDGER)).toMatchObject({
      failures: [],
      lines: [],
      summary: {
        executions: { order: { succeeded: 1 } },
        doubled: 0,
        lost: 0,
        left: 0,
        stuck: 0,
        silent: 0,
        findings: 0,
      },
    });
    expect(run([FULFILLED], [...FULFILLED_LEDGER, 'charge o pay']).failures).toEqual(['1 doubled']);
    expect(run([FULFILLED], FULFILLED_LEDGER.slice(1)).failures).toEqual(['1 lost']);
    expect(run([TAKEN_BACK], TAKEN_BACK_LEDGER).failures).toEqual(['1 findings']);
    const open = snapshot('o', order, 'running', { pay: 'done' }, { wakeAt: 5 });
    expect(run([open], ['charge o pay']).failures).toEqual(['1 stuck']);
    expect(run([snapshot('o', order, 'compensated', { pay: 'compensated' })], []).lines).toEqual([
      expect.stringMatching(/^untold +o: compensated, and nobody was told$/),
      expect.stringMatching(/^wrong end o: compensated \(order: succeeded\)$/),
    ]);
  });

  it('fails by what never came about, and by a workflow that no fault met', () => {
    const { summary } = run([FULFILLED], FULFILLED_LEDGER, 5);
    const none = Object.keys(summary.cameAbout).map(
      (name) => `${name}: it never came about, so it was not tested`,
    );
    const unmet = STRUCK.map((name) => `no attempt of ${name} was struck, so it was not tested`);
    expect(failuresOf(summary)).toEqual([...none, ...unmet]);
    const cameAbout = Object.fromEntries(
      Object.keys(summary.cameAbout).map((name) => [name, 1]),
    ) as never as Features;
    const struck = Object.fromEntries(STRUCK.map((name) => [name, 1]));
    expect(failuresOf({ ...summary, cameAbout, struck })).toEqual([]);
    expect(failuresOf({ ...summary, cameAbout, struck, totalKills: 99 })).toEqual([
      '99 kills, 100 are asked for',
    ]);
  });
});

describe('what came about', () => {
  it('is counted from records and ledger', () => {
    const siteOf = (launched: string, region: string) =>
      snapshot(
        `${launched}.up.0`,
        { name: 'site' },
        'succeeded',
        {},
        {
          input: { region },
          parent: { executionId: launched, step: 'up', index: 0 },
        },
      );
    const snapshots = [
      {
        ...snapshot('o', order, 'succeeded', {}),
        steps: { mail: record('mail', 'tolerated', { mayHaveActed: true }) },
      },
      snapshot('h', holiday, 'succeeded', { car: 'tolerated', taxi: 'done' }),
      snapshot('l', launch, 'succeeded', {}),
      siteOf('l', 'south'),
      snapshot('n', launch, 'succeeded', {}),
      siteOf('n', 'north'),
      {
        ...snapshot('m', launch, 'failed', {}),
        steps: { tell: record('tell', 'tolerated', { mayHaveActed: true }) },
      },
      siteOf('m', 'south'),
      snapshot('r', rollout, 'succeeded', {}, { output: { failed: 3 } }),
      snapshot('s', rollout, 'compensated', { tell: 'done' }),
      snapshot('r.hosts.0.i0.0', { name: 'deploy-host' }, 'succeeded', {}),
    ];
    const releases = (['h/car', 'l/north'] as const).map((orderId, at) => ({
      ...ledger('release h car')[0]!,
      seq: at,
      orderId,
    }));
    const ones: Features = {
      declinedMails: 1,
      mailsThatMayStand: 1,
      fallbacks: 1,
      fallbacksAfterUndo: 1,
      moved: 1,
      movedAfterUndo: 1,
      movedInVain: 1,
      hostsTolerated: 3,
      hostsDeployed: 1,
      rolloutsUndone: 1,
      told: 1,
      tellingFailed: 1,
      newsThatMayStand: 1,
    };
    expect(featuresOf({ snapshots, plans }, releases)).toEqual(ones);
    const none = Object.fromEntries(Object.keys(ones).map((name) => [name, 0]));
    expect(featuresOf({ snapshots: [], plans }, [])).toEqual(none);
  });
});

describe('the plan', () => {
  it('is the same for the same seed, another for another, and has every scene in any 14 starts', () => {
    expect(plannedFailure(4, 17)).toEqual(plannedFailure(4, 17));
    for (const seed of [1, 2, 3]) {
      const starts = Array.from({ length: 48 }, (_, index) => plannedFailure(seed, index));
      const scenes = new Set(starts.map(({ scene }) => scene.replace(', canceled', '')));
      expect([seed, scenes.size]).toEqual([seed, 13 + 2]);
      expect(new Set(starts.map(({ key }) => key)).size).toBe(48);
    }
  });

  it('lets 5 % of 200 hosts fail, and one more than that of the others', () => {
    const badOf = (index: number): number =>
      plannedFailure(5, index).rules.filter(({ mode }) => mode === 'decline').length;
    expect(badOf(0)).toBeGreaterThan(0);
    expect(badOf(0)).toBeLessThanOrEqual(200 * TOLERATED_SHARE);
    expect(plannedFailure(5, 0).ends).toEqual(['succeeded']);
    expect(badOf(12)).toBeGreaterThan(40 * TOLERATED_SHARE);
    expect(plannedFailure(5, 12).ends).not.toContain('succeeded');
  });

  it('keeps the outside world to what was declared of it', () => {
    const starts = Array.from({ length: 200 }, (_, index) => plannedFailure(6, index));
    const late = starts.flatMap(({ rules }) =>
      rules.filter(({ mode, ms = 0 }) => mode === 'slow' && ms >= 1_000),
    );
    expect(late).toEqual([]);
  });
});
