/** The clock of a process runs evenly, and is set only by the store's answers. */

import { ClockSkew } from '../../lib/aws/clock-skew.ts';
import { type MachineTime, ProcessClock } from '../../lib/aws/clock.ts';

const NOW = Date.parse('2026-11-22T14:00:00Z');
const HOUR_MS = 3_600_000;
const YEARS_MS = 2 * 365 * 24 * HOUR_MS;

/**
 * A machine whose time and clock the test controls.
 * @param wrongMs the error of its clock when the process begins
 */
function machine(wrongMs = 0) {
  let [wall, elapsed] = [NOW + wrongMs, 5_000];
  const time: MachineTime = { wall: () => wall, elapsed: () => elapsed };
  return {
    clock: new ProcessClock(time),
    pass: (ms: number) => {
      wall += ms;
      elapsed += ms;
    },
    set: (byMs: number) => {
      wall += byMs;
    },
  };
}

describe('the clock of a process', () => {
  it.each([-YEARS_MS, -HOUR_MS, HOUR_MS, YEARS_MS])('does not follow one that is set by %i ms', (byMs) => {
    const { clock, pass, set } = machine();
    pass(1_000);
    set(byMs);
    expect(clock.now()).toBe(NOW + 1_000);
  });

  it('has the time that passed while its process was frozen, at the next invocation', () => {
    const { clock, pass, set } = machine();
    set(HOUR_MS);
    clock.resume();
    pass(1_000);
    expect(clock.now()).toBe(NOW + HOUR_MS + 1_000);
  });

  it('does not gain by invocations, though the time of day is in whole ms and read with a delay', () => {
    let passed = 0;
    // Every hundredth time the process stands still between two readings.
    let readings = 0;
    const elapsed = (): number => (passed += (readings += 1) % 100 === 0 ? 20.3 : 0.003);
    const clock = new ProcessClock({ wall: () => Math.floor(NOW + elapsed()), elapsed });
    for (let invocations = 0; invocations < 20_000; invocations += 1) {
      passed += 3.7;
      clock.resume();
    }
    expect(Math.abs(clock.now() - NOW - passed)).toBeLessThanOrEqual(25);
  });

  it('does not go back at an invocation', () => {
    const { clock, set } = machine();
    set(-HOUR_MS);
    clock.resume();
    expect(clock.now()).toBe(NOW);
  });
});

describe('a clock that is wrong', () => {
  it.each([-YEARS_MS, -60_000, 60_000, YEARS_MS])(
    'by %i ms has the store’s time after an answer, and is told of once',
    (wrongMs) => {
      const { clock, pass, set } = machine();
      const notes: unknown[] = [];
      const skew = new ClockSkew({ note: (note) => notes.push(note) }, clock.correct);
      const answered = (trueNow: number): void => {
        if (skew.isDue(clock.now())) skew.measure(clock.now(), clock.now(), new Date(trueNow).toUTCString());
      };
      clock.correct(wrongMs);
      for (let passed = 0; passed < 10 * 60_000; passed += 10_000) {
        answered(NOW + passed);
        expect(Math.abs(clock.now() - NOW - passed)).toBeLessThanOrEqual(500);
        pass(10_000);
      }
      expect(notes).toMatchObject([{ what: 'clock-skewed', detail: wrongMs > 0 ? 'ahead' : 'behind' }]);
      // The process is frozen, and its machine's clock is corrected meanwhile.
      set(YEARS_MS);
      clock.resume();
      answered(NOW + 10 * 60_000);
      expect(Math.abs(clock.now() - NOW - 10 * 60_000)).toBeLessThanOrEqual(500);
    },
  );

  it('is right at once when the machine is set right after the store has corrected this clock', () => {
    const { clock, pass, set } = machine(-30_000);
    const skew = new ClockSkew({ note: () => undefined }, clock.correct, clock.steps);
    const answered = (trueNow: number): void => {
      if (skew.isDue(clock.now())) skew.measure(clock.now(), clock.now(), new Date(trueNow).toUTCString());
    };
    answered(NOW);
    expect(Math.abs(clock.now() - NOW)).toBeLessThanOrEqual(500);
    pass(5_000);
    set(30_000);
    clock.resume();
    answered(NOW + 5_000);
    expect(Math.abs(clock.now() - NOW - 5_000)).toBeLessThanOrEqual(500);
  });

  it('does not gain by a machine whose clock goes to and fro', () => {
    const { clock, pass, set } = machine();
    for (let at = 0; at < 10_000; at += 1) {
      pass(100);
      set(at % 2 === 0 ? 5 : -5);
      clock.resume();
    }
    expect(clock.now() - NOW - 1_000_000).toBeLessThanOrEqual(10);
  });

  it('by no more than is allowed is left as it is', () => {
    const { clock } = machine();
    const skew = new ClockSkew({ note: () => undefined }, clock.correct);
    clock.correct(1_900);
    expect(skew.measure(clock.now(), clock.now(), new Date(NOW).toUTCString())).toBe(false);
    expect(clock.now()).toBe(NOW + 1_900);
  });
});
