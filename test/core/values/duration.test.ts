import * as fc from 'fast-check';
import { formatDuration, MAX_DURATION_MS, parseDuration } from '../../../lib/core/values/duration.ts';
import { check } from '../check.ts';

describe('a duration', () => {
  it.each([
    ['1ms', 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['366d', MAX_DURATION_MS],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5s', 1_500],
    ['0.5h', 1_800_000],
    ['0s1s', 1_000],
    ['1.0004s', 1_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text, 'it')).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '30',
    's',
    '30 s',
    ' 30s',
    '30s ',
    '30S',
    '30sec',
    '-1s',
    '+1s',
    '1e3s',
    '.5s',
    '1.s',
    '1,5s',
    '0s',
    '0.0001ms',
    '0.4ms',
    '367d',
    '1h, 30m',
    '30s\n',
    'NaNs',
    'Infinityd',
    '9'.repeat(400),
    `${'9'.repeat(400)}d`,
    '١s',
    'PT30S',
  ])('%j is refused as bad-duration, saying what is wanted', (text) => {
    const refusal = { code: 'bad-duration', message: expect.stringMatching(/^lease is .*allowed: .*30s/s) };
    expect(() => parseDuration(text, 'lease')).toThrow(expect.objectContaining(refusal));
  });

  it('is read up to sixty characters, and is refused in few words', () => {
    const zeros = (count: number): string => `${'0'.repeat(count - 2)}1s`;
    expect(parseDuration(zeros(60), 'lease')).toBe(1_000);
    expect(() => parseDuration(zeros(61), 'lease')).toThrow(
      expect.objectContaining({ code: 'bad-duration' }),
    );
    const refusal = (text: unknown): string => {
      try {
        return String(parseDuration(text as never, 'lease'));
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refusal('9'.repeat(100_000)).length).toBeLessThan(200);
    expect(refusal(undefined)).toContain('lease is undefined; allowed:');
  });

  it.each([[30], [null], [{}], [['30s', '1s']], [Number.NaN]])(
    'that is not a text but %j is refused as bad-duration',
    (value) => {
      expect(() => parseDuration(value as never, 'lease')).toThrow(
        expect.objectContaining({ code: 'bad-duration' }),
      );
    },
  );

  it('with any text is a whole number of ms from 1 to the maximum, or refused', () => {
    check(
      fc.property(fc.stringMatching(/^(\d{1,6}(\.\d{1,4})?(ms|s|m|h|d)?){0,3}$/), (text) => {
        let ms: number;
        try {
          ms = parseDuration(text, 'it');
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-duration' });
          return;
        }
        expect(Number.isSafeInteger(ms) && ms >= 1 && ms <= MAX_DURATION_MS).toBe(true);
      }),
    );
  });

  it.each([
    [0, '0s'],
    [-5, '0s'],
    [0.4, '0s'],
    [999, '999ms'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
    [86_400_001, '1d1ms'],
  ])('of %d ms is written %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
