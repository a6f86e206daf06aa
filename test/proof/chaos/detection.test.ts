/** Finds which strike interrupted which attempt, and how long it took to be recorded. */

import {
  bereaved,
  type Claim,
  type Detection,
  detectionsOf,
  type Interruption,
  percentile,
  type Strike,
  totalMs,
  unseen,
} from '../../../proof/chaos/detection.ts';

const LEASE = 5_000;
const strike = (at: number, more: Partial<Strike> = {}): Strike => ({
  kind: 'kill',
  target: 'charge-card',
  pid: 1,
  at,
  ...more,
});
const claim = (at: number, more: Partial<Claim> = {}): Claim => ({
  executionId: 'x',
  step: 'charge',
  pid: 1,
  at,
  ...more,
});
const interruption = (more: Partial<Interruption> = {}): Interruption => ({
  executionId: 'x',
  step: 'charge',
  target: 'charge-card',
  claimedAt: 10_000,
  recordedAt: 18_000,
  ...more,
});
const times = (strikes: Strike[], claims: Claim[], interruptions = [interruption()]): number[] =>
  detectionsOf(interruptions, strikes, claims, LEASE).detections.map(({ ms }) => ms);

describe('a detection', () => {
  it('runs from the kill of the process that held the attempt to its record', () => {
    expect(times([strike(11_500)], [claim(10_020)])).toEqual([6_500]);
  });

  it('is not of another process, another function or another time', () => {
    const others = [
      strike(11_000, { pid: 2 }),
      strike(11_000, { target: 'reserve-stock' }),
      strike(9_000),
      strike(18_001),
    ];
    const { detections, unexplained } = detectionsOf([interruption()], others, [claim(10_020)], LEASE);
    expect(detections).toEqual([]);
    expect(unexplained).toEqual([interruption()]);
  });

  it('is of the first strike on the function when the process died before it could log its claim', () => {
    const strikes = [strike(12_000, { pid: 3 }), strike(10_050, { pid: 2 })];
    expect(times(strikes, [])).toEqual([7_950]);
    expect(times(strikes, [claim(10_020, { step: 'ship', pid: 3 })])).toEqual([7_950]);
  });

  it('is of a freeze that outlasted the lease, or never ended', () => {
    expect(times([strike(11_000, { kind: 'freeze', thawedAt: 17_000 })], [claim(10_020)])).toEqual([7_000]);
    expect(times([strike(11_000, { kind: 'freeze' }), strike(15_000)], [claim(10_020)])).toEqual([7_000]);
  });

  it('is of the kill when a short freeze came before it, else of the freeze', () => {
    const brief = strike(10_500, { kind: 'freeze', thawedAt: 12_000 });
    expect(times([brief, strike(13_000)], [claim(10_020)])).toEqual([5_000]);
    expect(times([brief], [claim(10_020)])).toEqual([7_500]);
  });

  it('is of each attempt on its own, although a step was claimed twice by the same process', () => {
    const second = interruption({ claimedAt: 20_000, recordedAt: 27_000 });
    const strikes = [strike(11_000), strike(21_000, { pid: 2 })];
    expect(times(strikes, [claim(10_010), claim(20_010, { pid: 2 })], [interruption(), second])).toEqual([
      7_000, 6_000,
    ]);
  });
});

describe('a percentile', () => {
  it.each([
    [[], 0.99, 0],
    [[7], 0.99, 7],
    [[3, 1, 2], 0.5, 2],
    [[4, 3, 2, 1], 0.5, 2],
    [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
    [Array.from({ length: 101 }, (_, at) => at + 1), 0.99, 100],
    [Array.from({ length: 20 }, (_, at) => at + 1), 0.99, 20],
  ])('of %j at %d is %d', (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected);
  });
});

describe('the time without a supervisor', () => {
  const rest = { from: 57_000, to: 60_000 };
  const after = { from: 100_100, to: 120_000 };

  it('counts when it follows from a strike, not when it is the rest before a tick', () => {
    const strikes = [strike(100_000, { target: 'supervisor' }), strike(58_000)];
    expect(bereaved([rest, after], strikes)).toEqual([after]);
    expect(totalMs([rest, after])).toBe(22_900);
  });

  it('touches the detections that it overlaps', () => {
    const detection = (at: number, recordedAt: number): Detection => ({
      ...interruption({ recordedAt }),
      strike: strike(at),
      ms: recordedAt - at,
    });
    expect(unseen(detection(99_000, 106_000), [after])).toBe(true);
    expect(unseen(detection(110_000, 121_000), [after])).toBe(true);
    expect(unseen(detection(90_000, 100_000), [after])).toBe(false);
    expect(unseen(detection(121_000, 128_000), [after])).toBe(false);
  });
});
