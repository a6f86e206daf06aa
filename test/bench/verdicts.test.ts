/** A limit without a measurement is not met. */

import type { CostReport } from '../../bench/cost.ts';
import { percentile } from '../../bench/parts/load.ts';
import { atLeastOne } from '../../bench/parts/options.ts';
import { resultOf } from '../../bench/parts/results.ts';
import {
  costVerdicts,
  recoverVerdicts,
  scaleVerdicts,
  speedVerdicts,
  unmeasured,
} from '../../bench/parts/verdicts.ts';
import type { RecoverReport } from '../../bench/recover.ts';
import type { ScaleReport } from '../../bench/scale.ts';
import type { SpeedReport } from '../../bench/speed.ts';

it.each(['0', '-1', '1.5', 'abc', '', '1e3'])('%j of something is refused', (text) => {
  expect(() => atLeastOne(text)).toThrow('a whole number is wanted, 1 or more');
});

it('so many of something are allowed', () => expect(atLeastOne('208')).toBe(208));

it('an empty list has no percentile', () => {
  expect(() => percentile([], 0.99)).toThrow('nothing was measured');
  expect(percentile([3, 1, 2], 0.5)).toBe(2);
});

it('the results that are kept have a figure for every limit, and nothing else has', () => {
  const { scale } = resultOf('scale') as { readonly scale: ScaleReport };
  const verdicts = [
    ...costVerdicts(resultOf('cost') as CostReport),
    ...speedVerdicts((resultOf('speed') as { readonly speed: SpeedReport }).speed),
    ...scaleVerdicts(scale),
    ...recoverVerdicts((resultOf('recover') as { readonly recover: RecoverReport }).recover),
  ];
  expect(unmeasured(verdicts)).toEqual([]);
  expect(unmeasured([])).toHaveLength(verdicts.length);
  // Smaller sizes are a different measurement.
  const smaller = scale.series.map((one) => ({ ...one, points: one.points.slice(0, -1) }));
  expect(unmeasured(scaleVerdicts({ series: smaller }))).toContain(
    'a tick with so many open executions, none due, from 1,000 to 1,000,000',
  );
});
